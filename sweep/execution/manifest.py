"""``manifest.json``: what ran, when, where, with which versions."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from core.parameters import Value
from sweep.grid.axes import Interval
from sweep.grid.plan import Plan


def manifest_of(plan: Plan, options: Mapping[str, Value], command: Sequence[str]) -> dict[str, Any]:
    """Return the manifest of a sweep that begins: what runs how, where, with which versions."""
    packages = ("coflow-sweep", "ray", "numba", "numpy", "pyarrow", "hydra-core")
    return {
        "command": shlex.join(command),
        "settings": dict(options),
        "axes": {k: str(v) if isinstance(v, Interval) else v for k, v in plan.axes.items()},
        "grid_rows": len(plan.rows),
        "points": len(plan.points),
        "versions": {"python": platform.python_version(), **_versions(packages)},
        "git_commit": _git_commit(),
        "machine": {
            "host": platform.node(),
            "platform": platform.platform(),
            "cpus": os.cpu_count(),
        },
        "started": now(),
        "state": "running",
    }


def _versions(packages: Sequence[str]) -> dict[str, str | None]:
    versions: dict[str, str | None] = {}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = None
    return versions


def _git_commit() -> str | None:
    """Return the commit of the code that runs; None outside a checkout."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    try:
        process = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout.strip()


def now() -> str:
    """Return the time as manifests have it: ISO 8601, UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
