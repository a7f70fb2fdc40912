"""Ctrl-C and SIGTERM are noted, not raised."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Ctrl-C and SIGTERM: the first stops the sweep between two results, the second stops it now.

    A signal is only noted: the code that it hits could swallow an exception.

    Parameters
    ----------
    leave : bool
        The second signal ends the process on the spot: for a sweep that has nothing to shut down.
    """

    def __init__(self, leave: bool) -> None:
        self.requested = False
        self._leave = leave
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        self.install()
        return self

    def install(self) -> None:
        """Take the signals; call it again after code that takes them for itself, as Ray does."""
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                before = signal.signal(number, self._note)
                self._before.setdefault(number, before)

    def requested_now(self) -> bool:
        """Take the signals again, and return whether one has come: for a loop that waits for Ray.

        Ray's library takes SIGTERM at some instant of its start, and would end the process.
        """
        self.install()
        return self.requested

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, *_: object) -> None:
        if not self.requested:
            self.requested = True
            os.write(2, b"stopping after the current result; press Ctrl-C again to stop now\n")
            return
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)
        if self._leave:
            os._exit(130)
        raise KeyboardInterrupt
