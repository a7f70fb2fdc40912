"""Ends the processes that a local Ray leaves behind, however the sweep ends.

Ray's processes notice by themselves that the driver or their parent is gone, but some take long
for it on a busy machine. Everything that the driver starts inherits a mark in its environment.
Some of Ray's processes set a title that can overwrite the mark; they are recognised by the logs
that they write below the directory of Ray's session.

- At an orderly end the driver ends what is still marked after Ray's own shutdown.
- A small process, which runs this file, waits for the driver's end, then ends marked processes
  until it finds none. It waits on a pipe. A child of the driver holds the other end of the pipe too
  until the child runs its own program; from then on its mark shows.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
import time
from pathlib import Path

MARK = "COFLOW_SWEEP_GUARD"

LOOK_S = 0.1
"""Seconds between looks."""

CALM = 10
"""Looks in a row without a marked process: a program that just begins shows no environment."""

LONGEST_S = 60.0
"""Seconds after which the guard gives up."""

CALMED = b"."
"""What the driver sends last if nothing is left."""


class Guard:
    """Marks what this process starts until `unmark`; ends it when this process ends."""

    def __init__(self) -> None:
        import subprocess
        import uuid

        value = uuid.uuid4().hex
        self._mark = f"{MARK}={value}"
        self._sessions: set[str] = set()
        environment = dict(os.environ)
        environment.pop(MARK, None)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, self._mark, str(os.getpid())],
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

    def unmark(self, session: str | None = None) -> None:
        """Do not mark what starts from now on.

        Parameters
        ----------
        session : str, optional
            Directory of the Ray that was started.
        """
        if os.environ.get(MARK) == self._mark.partition("=")[2]:
            del os.environ[MARK]
        if session and self._process.stdin is not None:
            self._sessions.add(f"{session}/")
            with contextlib.suppress(OSError, ValueError):  # the guard has gone, or is closed
                self._process.stdin.write(f"{session}/\n".encode())
                self._process.stdin.flush()

    def end_marked(self) -> None:
        """End what is marked at this moment."""
        end_marked(self._mark, self._sessions)

    def close(self) -> None:
        """End what is marked, and the guard."""
        calm = watch(
            self._mark, self._sessions, calm=2, look_s=LOOK_S / 5, longest_s=LONGEST_S / 10
        )
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError):
            pipe.write(CALMED if calm else b"")
        with contextlib.suppress(OSError):
            pipe.close()
        with contextlib.suppress(Exception):  # it takes longer where something is left
            self._process.wait(timeout=1)
        self._process.returncode = 0


def end_marked(mark: str, sessions: set[str]) -> int:
    """End the processes of a mark or of Ray's sessions; return how many there were.

    Parameters
    ----------
    mark : str
        The mark's entry in an environment, ``name=value``.
    sessions : set of str
        Parts of the paths of their logs.
    """
    count = 0
    for name in os.listdir("/proc"):  # noqa: PTH208
        if not name.isdigit() or int(name) == os.getpid():
            continue
        process = Path("/proc", name)
        with contextlib.suppress(OSError):
            marked = mark.encode() in (process / "environ").read_bytes()
            if marked or _writes_below(process, sessions):
                count += 1
                os.kill(int(name), signal.SIGKILL)
    return count


def _writes_below(process: Path, sessions: set[str]) -> bool:
    """Whether a process has a file of a session open for writing; any process may read one."""
    for link in (process / "fd").iterdir() if sessions else ():
        with contextlib.suppress(OSError):
            file = os.readlink(link)  # noqa: PTH115
            below = "/session_" in file and any(session in file for session in sessions)
            if below and link.lstat().st_mode & stat.S_IWUSR:
                return True
    return False


def watch(mark: str, sessions: set[str], calm: int, look_s: float, longest_s: float) -> bool:
    """End marked processes until `calm` looks in a row find none; return whether that came."""
    quiet, deadline = 0, time.monotonic() + longest_s
    while quiet < calm and time.monotonic() < deadline:
        quiet = 0 if end_marked(mark, sessions) else quiet + 1
        time.sleep(look_s)
    return quiet >= calm


def main() -> None:
    """Wait for the driver's end, then end what it has started."""
    received = sys.stdin.buffer.read()
    if not received.endswith(CALMED):
        sessions = {line for line in received.decode("utf-8", "replace").splitlines() if line}
        # Ray names a session after the time and the driver, which may end before it can send it.
        watch(sys.argv[1], {*sessions, f"_{sys.argv[2]}/logs/"}, CALM, LOOK_S, LONGEST_S)


if __name__ == "__main__":
    main()
