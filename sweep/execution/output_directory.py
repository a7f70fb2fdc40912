"""Where a dataset goes: a directory of its own, and ``outputs/latest``."""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from core.errors import StoreError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

OUTPUTS = Path("outputs")
LATEST = OUTPUTS / "latest"

_NUMBERED = re.compile(r"(.*?)(?:-(\d+))?")


def fresh_directory() -> str:
    """Create and return an empty directory, named after the time.

    Creating it is one step of the operating system's: two sweeps that begin in one second never
    share one.
    """
    stem = f"{datetime.datetime.now():%Y-%m-%d_%H-%M-%S}"
    try:
        OUTPUTS.mkdir(exist_ok=True)
        for number in count(1):
            path = OUTPUTS / (stem if number == 1 else f"{stem}-{number}")
            with suppress(FileExistsError):
                path.mkdir()
                return path.as_posix()
    except OSError as error:
        raise StoreError(
            f"cannot create a directory in {OUTPUTS.resolve()}: {error.strerror}; "
            "set output.dir to a directory that you can write to"
        ) from error
    raise AssertionError


def point_latest_at(directory: str, started: str) -> None:
    """Let ``outputs/latest`` point to a dataset in ``outputs``, unless a later sweep has the link.

    Parameters
    ----------
    directory : str
        A dataset elsewhere leaves the link as it is.
    started : str
        When the sweep began, as its manifest says.
    """
    path = Path(directory)
    if "://" in directory or path.resolve().parent != OUTPUTS.resolve():
        return
    name = path.resolve().name
    aside = OUTPUTS / f".latest-{os.getpid()}"
    try:
        with _alone():
            if _order(_started(LATEST), LATEST.resolve().name) > _order(started, name):
                return
            aside.symlink_to(name)
            aside.replace(LATEST)
    except OSError:
        aside.unlink(missing_ok=True)


def _order(started: str, name: str) -> tuple[str, str, int]:
    """Return what sorts sweeps by their beginning: in one second, by the number of the name."""
    day, _, clock = name.partition("_")
    stem, number = _NUMBERED.fullmatch(clock[8:]).groups()  # type: ignore[union-attr]
    return started, f"{day}_{clock[:8]}{stem}", int(number or 1)


def _started(dataset: Path) -> str:
    """Return when the sweep of a dataset began; empty if it cannot be read."""
    try:
        return str(json.loads((dataset / "manifest.json").read_bytes()).get("started", ""))
    except (OSError, ValueError, AttributeError):
        return ""


@contextmanager
def _alone() -> Iterator[None]:
    """Let one process at a time compare and replace the link, where the system has locks."""
    descriptor = os.open(OUTPUTS, os.O_RDONLY)
    try:
        if fcntl is not None:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
