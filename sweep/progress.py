"""A line that says how far the sweep is."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

EVERY_S = 5.0
"""Seconds between lines where there is no terminal."""


class Progress:
    """Counts finished points and shows rate, ETA, failures and means; use in a ``with`` block.

    On a terminal one line is redrawn; elsewhere a line is printed every few seconds.
    """

    def __init__(self, total: int, console: Console) -> None:
        self._total = total
        self._console = console
        self._done = 0
        self._failed = 0
        self._means: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
        self._began = self._shown = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            self._live = Live(
                console=self._console, get_renderable=self._text, refresh_per_second=4
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a result."""
        self._done += 1
        if row["status"] == "ok":
            mean = self._means[row["scheduler"]]
            mean[0] += 1
            mean[1] += row["mean_cct_s"]
        else:
            self._failed += 1

    def poll(self) -> None:
        """Print a line if it is time and there is no terminal."""
        now = time.monotonic()
        if self._live is None and now - self._shown >= EVERY_S:
            self._shown = now
            self._console.print(self._text(), soft_wrap=True)

    def _text(self) -> Text:
        return Text(self.line(time.monotonic() - self._began))

    def line(self, elapsed_s: float) -> str:
        """Return the line after some seconds."""
        rate = self._done / elapsed_s if elapsed_s > 0 else 0.0
        eta = _duration((self._total - self._done) / rate) if self._done else "–"
        parts = [f"{self._done}/{self._total} points", f"{rate:.3g} points/s", f"ETA {eta}"]
        if self._failed:
            parts.append(f"{self._failed} failed")
        means = [f"{n} {s / c:,.1f} s" for n, (c, s) in sorted(self._means.items())]
        if means:
            parts.append("mean CCT " + ", ".join(means))
        return "  ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
