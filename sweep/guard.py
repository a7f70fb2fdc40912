"""Nothing that a local Ray has started outlives the sweep, however that ends.

Ray's processes notice by themselves that the driver or their parent is gone, but some take their
time, on a busy machine much of it. All that the driver starts inherits a mark in its environment:

- At an orderly end the driver itself ends what is still marked after Ray's own shutdown.
- A small process, this file, waits for the driver's end and looks then until nothing is marked.
  It waits at a pipe, whose other end a child of the driver has too until it is a program of its
  own: from then on it can be found by its mark.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

MARK = "COFLOW_SWEEP_GUARD"

LOOK_S = 0.1
"""Seconds between looks."""

CALM = 10
"""Looks in a row that find nothing: a program that just begins shows no environment."""

LONGEST_S = 60.0
"""Seconds after which the guard gives up."""


class Guard:
    """Marks what this process starts until `unmark`, and sees to its end."""

    def __init__(self) -> None:
        import subprocess
        import uuid

        value = uuid.uuid4().hex
        self._mark = f"{MARK}={value}"
        environment = dict(os.environ)
        environment.pop(MARK, None)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, self._mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        os.environ[MARK] = value

    @staticmethod
    def possible() -> bool:
        """Whether this machine lets one read the environment of a process."""
        return Path("/proc/self/environ").exists()

    def unmark(self) -> None:
        """Do not mark what starts from now on."""
        os.environ.pop(MARK, None)

    def end_marked(self) -> None:
        """End what is marked at this moment."""
        end_marked(self._mark)

    def close(self) -> None:
        """End what is marked, and the guard."""
        calm = watch(self._mark, calm=2, look_s=LOOK_S / 5, longest_s=LONGEST_S / 10)
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError):
            pipe.write(b"." if calm else b"")
        with contextlib.suppress(OSError):
            pipe.close()
        with contextlib.suppress(Exception):  # it takes longer where something is left
            self._process.wait(timeout=1)
        self._process.returncode = 0


def end_marked(mark: str) -> int:
    """End the processes with a mark in their environment; return how many there were."""
    found, wanted = 0, mark.encode()
    for name in os.listdir("/proc"):  # noqa: PTH208
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if wanted in Path("/proc", name, "environ").read_bytes():
                found += 1
                os.kill(int(name), signal.SIGKILL)
    return found


def watch(mark: str, calm: int, look_s: float, longest_s: float) -> bool:
    """End what is marked until some looks in a row find nothing; return whether they did."""
    quiet, deadline = 0, time.monotonic() + longest_s
    while quiet < calm and time.monotonic() < deadline:
        quiet = 0 if end_marked(mark) else quiet + 1
        time.sleep(look_s)
    return quiet >= calm


if __name__ == "__main__" and not sys.stdin.buffer.read():  # a word: there is nothing to do
    watch(sys.argv[1], CALM, LOOK_S, LONGEST_S)
