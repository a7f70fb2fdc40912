"""Ctrl-C and SIGTERM, noted rather than raised."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

from rich.console import Console


class Interrupts:
    """Ctrl-C and SIGTERM: the first asks to stop between two results, a second stops at once.

    A signal is only noted: raised anywhere, it could be swallowed by the code that it hits.

    Parameters
    ----------
    console : Console
    leave : bool
        A second signal ends the process on the spot: right where there is nothing to shut down.
    """

    def __init__(self, console: Console, leave: bool) -> None:
        self.asked = False
        self._console = console
        self._leave = leave
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        self.install()
        return self

    def install(self) -> None:
        """Take the signals; again after code that takes them for itself, as Ray does."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                before = signal.signal(number, self._note)
                self._before.setdefault(number, before)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, *_: object) -> None:
        if not self.asked:
            self.asked = True
            os.write(2, b"stopping; once more to stop at once\n")
            return
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)
        if self._leave:
            os._exit(130)
        raise KeyboardInterrupt
