"""A line that says how far the sweep is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

EVERY_S = 5.0
"""Seconds between lines where there is no terminal."""


class Progress:
    """Counts finished points and shows rate, ETA, failures and best means; for a ``with`` block.

    On a terminal one line is redrawn; elsewhere a line is printed every few seconds.
    """

    def __init__(self, total: int, console: Console) -> None:
        self._total = total
        self._console = console
        self._done = 0
        self._failed = 0
        self._best: dict[str, float] = {}
        self._began = self._shown = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> Progress:
        if self._console.is_terminal and self._total:
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
            name, mean = row["scheduler"], row["mean_cct_s"]
            self._best[name] = min(mean, self._best.get(name, mean))
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
        speed = f"{rate:.3g} points/s" if rate >= 1 or not rate else f"{1 / rate:.3g} s a point"
        parts = [f"{self._done}/{self._total} points", speed]
        parts.append(f"ETA {eta}" if self._done < self._total else _duration(elapsed_s))
        if self._failed:
            parts.append(f"{self._failed} failed")
        best = [f"{name} {mean:,.1f} s" for name, mean in sorted(self._best.items())]
        if best:
            parts.append("best mean CCT " + ", ".join(best))
        return "  ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
