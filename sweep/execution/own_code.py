"""Schedulers, workloads and partitioners of the user's own: which have changed since they last ran.

Their source is part of the ids of their points, so an edited file makes new points. The manifest
keeps each file's fingerprint, so that a sweep can say why points run again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.plugins import Records
from core.schedulers import schedulers
from core.shuffle.axes import PARTITIONER
from core.shuffle.partitioners import partitioners
from core.workloads import workloads
from sweep.grid.table import PointList

KEY = "own_code"
"""Key of the manifest; missing where everything is shipped."""


def fingerprints() -> dict[str, str]:
    """Return the fingerprint of everything of the user's own, by ``key=name``."""
    groups: tuple[tuple[str, Records[Any]], ...] = (
        ("scheduler", schedulers()),
        ("workload", workloads()),
        (PARTITIONER, partitioners()),
    )
    return {
        f"{key}={name}": str(records.code(name))
        for key, records in groups
        for name in records
        if records.is_own(name)
    }


def with_fingerprints(manifest: Mapping[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest with the fingerprints of this sweep and of earlier ones, if any."""
    started = manifest["started"]
    by_name = dict(earlier.get(KEY) or {})
    by_name |= {name: {"code": code, "started": started} for name, code in fingerprints().items()}
    return {**manifest, KEY: by_name} if by_name else dict(manifest)


def changes(earlier: Mapping[str, Any], todo: PointList) -> Iterator[str]:
    """Yield a line for everything that has changed since it last ran here and runs again now."""
    current = fingerprints()
    for name, before in (earlier.get(KEY) or {}).items():
        if current.get(name, before["code"]) == before["code"]:
            continue
        if number := _count(name, todo):
            points = "its point runs" if number == 1 else f"its {number} points run"
            yield f"{name} has changed since the sweep of {before['started']}: {points} again"


def _count(name: str, todo: PointList) -> int:
    key, _, value = name.partition("=")
    if key == PARTITIONER:
        return sum(point.values.get(PARTITIONER) == value for point in todo)
    return sum(n for kind, n in todo.kinds().items() if getattr(kind, key) == value)
