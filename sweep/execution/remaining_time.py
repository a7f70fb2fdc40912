"""How long a sweep will still take, by the points that are finished.

Points of one kind (scheduler, engine, workload) take about the same time; those of another kind
may take a thousand times as much. So the work that is left is counted kind by kind, and no time is
promised for a kind of which no point has finished.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from sweep.grid.point import Kind

ENOUGH = 3
"""Results without which nothing is said."""


@dataclass
class _Times:
    """Running sums of the times of a kind's finished points [s]."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    @property
    def mean(self) -> float:
        """Mean time of a point [s]."""
        return self.total / self.n

    def variance(self) -> float:
        """Return the variance of the time of a point [s²]; of a single one, its square."""
        if self.n < 2:
            return self.mean**2
        return max(0.0, (self.squares - self.n * self.mean**2) / (self.n - 1))


@dataclass
class RemainingTime:
    """Estimates the time to the end of a sweep.

    Parameters
    ----------
    left : mapping of Kind to int
        Points of each kind that are to run.
    """

    left: Mapping[Kind, int]
    _times: defaultdict[Kind, _Times] = field(default_factory=lambda: defaultdict(_Times))
    _first: tuple[float, float] | None = None
    _last_s: float = 0.0
    _worked_s: float = 0.0

    def __post_init__(self) -> None:
        self.left = dict(self.left)

    def add(self, kind: Kind, wall_s: float, elapsed_s: float) -> None:
        """Count a result.

        Parameters
        ----------
        kind : Kind
        wall_s : float
            Time that the point took [s]; 0 if it failed.
        elapsed_s : float
            Time since the sweep began [s].
        """
        self.left = {**self.left, kind: max(0, self.left.get(kind, 0) - 1)}
        times = self._times[kind]
        times.n += 1
        times.total += wall_s
        times.squares += wall_s**2
        self._worked_s += wall_s
        self._last_s = elapsed_s
        if self._first is None:
            self._first = elapsed_s, wall_s

    def interval(self, elapsed_s: float) -> tuple[float, float] | None:
        """Return the shortest and the longest time that is likely [s]; None without evidence.

        The upper end is infinite while no point of some kind has finished.
        """
        n = sum(times.n for times in self._times.values())
        if n < ENOUGH or not self._worked_s or self._first is None:
            return None
        work = variance = 0.0
        unknown = False
        for kind, number in self.left.items():
            if not number:
                continue
            if (times := self._times.get(kind)) is None:
                unknown = True
                continue
            work += number * times.mean
            # Of the sum of the points to come, and of the mean that it is reckoned from.
            variance += times.variance() * (number + number**2 / times.n)
        spread = 2 * math.sqrt(variance)
        # From the beginning on, which counts what had to start, and from the first result on.
        slow = self._worked_s / elapsed_s
        first_s, first_work = self._first
        since_first = (self._worked_s - first_work) / max(self._last_s - first_s, 1e-9)
        fast = max(slow, min(since_first, slow * n))
        low = max(0.0, work - spread) / fast
        return low, math.inf if unknown else (work + spread) / slow
