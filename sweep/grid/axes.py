"""Axes of a grid, and what becomes of them: intervals, axes in step, a filter, a sample."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Interval:
    """All numbers from `low` to `high`, for samples; equally likely by value or by logarithm.

    Whole numbers only where `whole`.
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def at(self, share: float) -> float:
        """Return the number below which this share of the interval lies."""
        low, high = self.low, self.high
        if self.whole:  # every number has a part of equal width around it
            low, high = low - 0.5, high + 0.5
        if self.log:
            value = low * (high / low) ** share if low > 0 else math.nan
        else:
            value = low + share * (high - low)
        value = min(max(value, self.low), self.high)
        return round(value) if self.whole else value

    def __str__(self) -> str:
        return f"{self.low:g}…{self.high:g}{' (log)' if self.log else ''}"


Axes = Mapping[str, Sequence[Any] | Interval]
"""Values by key."""


def several(values: Sequence[Any] | Interval) -> bool:
    """Whether an axis has more than one value."""
    return isinstance(values, Interval) or len(values) > 1


@dataclass(frozen=True)
class Shape:
    """How axes are combined.

    Attributes
    ----------
    zipped : tuple of tuple of str
        Keys whose values are taken in step.
    filter : str, optional
        Combinations for which it does not hold are left out, sampled ones too.
    sample : int, optional
        Number of draws of the other axes than scheduler, engine and workload, before the filter;
        each draw is a combination for every scheduler, engine and workload.
    method : {"random", "latin", "sobol"}
    """

    zipped: tuple[tuple[str, ...], ...] = ()
    filter: str | None = None
    sample: int | None = None
    method: str = "random"
