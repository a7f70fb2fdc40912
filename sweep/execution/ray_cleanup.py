"""Nothing that a local Ray has started outlives the sweep, however that ends.

Ray's processes notice by themselves that the driver or their parent is gone, but some take their
time, on a busy machine much of it. All that the driver starts inherits a mark in its environment.
Some of Ray's processes give themselves a title, which can overwrite what shows of that; but they
write their logs below the directory of Ray's session.

- At an orderly end the driver itself ends what is still marked after Ray's own shutdown.
- A small process, this file, waits for the driver's end and looks then until nothing is marked.
  It waits at a pipe, whose other end a child of the driver has too until it is a program of its
  own: from then on it can be found by its mark.
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
"""Looks in a row that find nothing: a program that just begins shows no environment."""

LONGEST_S = 60.0
"""Seconds after which the guard gives up."""

CALMED = b"."
"""The driver's last word where nothing is left."""


class Guard:
    """Marks what this process starts until `unmark`, and sees to its end."""

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
        os.environ.pop(MARK, None)
        if session and self._process.stdin is not None:
            self._sessions.add(f"{session}/")
            with contextlib.suppress(OSError):
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
        As it stands in an environment.
    sessions : set of str
        Parts of the paths of their logs.
    """
    found = 0
    for name in os.listdir("/proc"):  # noqa: PTH208
        if not name.isdigit() or int(name) == os.getpid():
            continue
        place = Path("/proc", name)
        with contextlib.suppress(OSError):
            marked = mark.encode() in (place / "environ").read_bytes()
            if marked or _writes_below(place, sessions):
                found += 1
                os.kill(int(name), signal.SIGKILL)
    return found


def _writes_below(place: Path, sessions: set[str]) -> bool:
    """Whether a process has a file of a session open for writing; to read one is everybody's."""
    for link in (place / "fd").iterdir() if sessions else ():
        with contextlib.suppress(OSError):
            file = os.readlink(link)  # noqa: PTH115
            below = "/session_" in file and any(session in file for session in sessions)
            if below and link.lstat().st_mode & stat.S_IWUSR:
                return True
    return False


def watch(mark: str, sessions: set[str], calm: int, look_s: float, longest_s: float) -> bool:
    """End what is there until some looks in a row find nothing; return whether they did."""
    quiet, deadline = 0, time.monotonic() + longest_s
    while quiet < calm and time.monotonic() < deadline:
        quiet = 0 if end_marked(mark, sessions) else quiet + 1
        time.sleep(look_s)
    return quiet >= calm


def main() -> None:
    """Wait for the driver's end, and see to that of what it has started."""
    said = sys.stdin.buffer.read()
    if not said.endswith(CALMED):
        sessions = {line for line in said.decode("utf-8", "replace").splitlines() if line}
        # Ray names a session after the time and the driver, which may not come to say it.
        watch(sys.argv[1], {*sessions, f"_{sys.argv[2]}/logs/"}, CALM, LOOK_S, LONGEST_S)


if __name__ == "__main__":
    main()
