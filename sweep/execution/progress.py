"""The line that shows how far the sweep is."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from sweep.console.phrases import between, duration
from sweep.execution.remaining_time import RemainingTime
from sweep.execution.worker import PointProgress
from sweep.grid.point import Kind

EVERY_S = 5.0
"""Seconds between lines where there is no terminal."""

FORGET_S = 5.0
"""Seconds after which a running point of which nothing more is heard is no longer shown."""

MOST_RUNNING = 3
"""Running points that are shown."""


class Progress:
    """Counts finished points, shows rate, remaining time, failures and best means; use in `with`.

    On a terminal one line is redrawn; elsewhere a line is printed every few seconds.

    Parameters
    ----------
    kinds : mapping of Kind to int
        Points to run, by scheduler, engine and workload.
    console : Console
    """

    def __init__(self, kinds: Mapping[Kind, int], console: Console) -> None:
        self._total = sum(kinds.values())
        self._console = console
        self._done = 0
        self._failed = 0
        self._best: dict[str, float] = {}
        self._remaining = RemainingTime(kinds)
        self._running: dict[str, tuple[PointProgress, float]] = {}
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

    def add(self, row: Mapping[str, Any], elapsed_s: float | None = None) -> None:
        """Count a result, of this moment or of some seconds after the beginning."""
        elapsed = time.monotonic() - self._began if elapsed_s is None else elapsed_s
        kind = Kind(row["scheduler"], row["engine"], row["workload"])
        self._remaining.add(kind, row.get("wall_s") or 0.0, elapsed)
        self._running.pop(row["point_id"], None)
        self._done += 1
        if row["status"] == "ok":
            name, mean = row["scheduler"], row["mean_cct_s"]
            self._best[name] = min(mean, self._best.get(name, mean))
        else:
            self._failed += 1

    def show(self, progress: PointProgress, elapsed_s: float | None = None) -> None:
        """Note how far a running point is."""
        elapsed = time.monotonic() - self._began if elapsed_s is None else elapsed_s
        self._running[progress.point_id] = progress, elapsed

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
        speed = f"{rate:.3g} points/s" if rate >= 1 or not rate else f"{1 / rate:.3g} s a point"
        parts = [f"{self._done}/{self._total} points", speed]
        left = self._done < self._total
        parts.append(self._eta(elapsed_s) if left else duration(elapsed_s))
        if self._failed:
            parts.append(f"{self._failed} failed")
        best = [f"{name} {mean:,.1f} s" for name, mean in sorted(self._best.items())]
        if best:
            parts.append("best mean CCT " + ", ".join(best))
        if running := self._shown_running(elapsed_s):
            parts.append(running)
        return "  ".join(parts)

    def _eta(self, elapsed_s: float) -> str:
        interval = self._remaining.interval(elapsed_s)
        if interval is None:
            return "ETA –"
        low, high = interval
        if high == math.inf:
            return f"ETA more than {duration(low)}"
        return f"ETA {between(low, high)}"

    def _shown_running(self, elapsed_s: float) -> str:
        """Return how many coflows of each running point are done."""
        running = [p for p, heard in self._running.values() if elapsed_s - heard < FORGET_S]
        texts = [f"{p.scheduler} {p.done}/{p.coflows} coflows" for p in running[:MOST_RUNNING]]
        if hidden := len(running) - len(texts):
            texts.append(f"{hidden} more")
        return f"running: {', '.join(texts)}" if texts else ""
