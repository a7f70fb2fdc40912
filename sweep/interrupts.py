"""Ctrl-C and SIGTERM, noted rather than raised."""

from __future__ import annotations

import signal
import threading
from typing import Any

from rich.console import Console


class Interrupts:
    """Ctrl-C and SIGTERM: the first asks to stop between two results, a second stops at once.

    A signal is only noted: raised anywhere, it could be swallowed by the code that it hits.
    """

    def __init__(self, console: Console) -> None:
        self.asked = False
        self._console = console
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        self._console.print("stopping; once more to stop at once")
