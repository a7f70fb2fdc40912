"""Real ``ray start`` processes in a directory of their own, ended with all that they start."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from sweep.execution.ray_cleanup import Guard, watch
from tests.paths import ROOT

CACHE_HOME = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
"""Where the compiled kernels are, for a process with a home of its own."""


def free_port() -> int:
    """Return a port on which nothing listens."""
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def listens(port: int) -> bool:
    """Whether something listens on a port of this machine."""
    with closing(socket.socket()) as caller:
        return not caller.connect_ex(("127.0.0.1", port))


@contextmanager
def ray_environment() -> Iterator[dict[str, str]]:
    """Yield an environment without a token, in which Ray has its own directory and home."""
    if not Guard.possible():
        pytest.skip("no /proc")
    mark = uuid.uuid4().hex
    short = Path("/tmp") / f"ray-{mark[:8]}"  # a socket's path is short
    (short / "home").mkdir(parents=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    yield environment | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(short / "home"),
        "XDG_CACHE_HOME": CACHE_HOME,
        "RAY_TMPDIR": str(short),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_RECIPE": mark,
    }
    assert watch(f"RAY_RECIPE={mark}", set(), calm=3, look_s=0.1, longest_s=20)
    subprocess.run(["rm", "-rf", str(short)], check=True)


def run(environment: dict[str, str], *words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess:
    """Run a command in an environment of Ray's own."""
    return subprocess.run(
        words,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
