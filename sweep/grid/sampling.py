"""Choices of values from groups of axes: all of them, or a sample."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from core.keys import KIND
from sweep.grid.axes import Interval, Shape
from sweep.grid.lazy import Lazy

Group = tuple[tuple[str, ...], Sequence[Any]]
"""Keys, and the tuples of values that they take together; an interval stands for itself."""

Choice = Sequence[tuple[Any, ...]]
"""The chosen tuple of each group."""


class AllChoices(Lazy[Choice]):
    """Every choice; the first group varies slowest."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self._values = [values for _, values in groups]
        self._sizes = [len(values) for values in self._values]
        self.number = math.prod(self._sizes)
        """Like the length, which Python limits to 2^63 − 1."""

    def __len__(self) -> int:
        return self.number

    def __iter__(self) -> Iterator[Choice]:
        return product(*self._values)  # faster than one after the other

    def make(self, k: int) -> Choice:
        """Return a choice."""
        digits = _digits(k, self._sizes)
        return [values[i] for values, i in zip(self._values, digits, strict=True)]


class Sample(Lazy[Choice]):
    """A sample of the axes; each draw is taken under every scheduler, engine and workload."""

    def __init__(self, groups: Sequence[Group], shape: Shape, seed: int) -> None:
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x5A3917,)))
        self._paired = [i for i, (keys, _) in enumerate(groups) if {*keys} <= {*KIND}]
        self._rest = [i for i in range(len(groups)) if i not in self._paired]
        self._kinds = AllChoices([groups[i] for i in self._paired])
        self._count, self._draw = _draws([groups[i] for i in self._rest], shape, rng)

    def __len__(self) -> int:
        return self._count * len(self._kinds)

    def make(self, k: int) -> Choice:
        """Return a choice."""
        draw, kind = divmod(k, len(self._kinds))
        by_group = dict(zip(self._paired, self._kinds.make(kind), strict=True))
        by_group |= zip(self._rest, self._draw(draw), strict=True)
        return [by_group[i] for i in range(len(by_group))]


def _draws(
    groups: Sequence[Group], shape: Shape, rng: np.random.Generator
) -> tuple[int, Callable[[int], Choice]]:
    """Return the number of draws, and a function that makes one."""
    every = AllChoices(groups)
    drawn = [i for i, (_, v) in enumerate(groups) if len(v) > 1 or isinstance(v[0][0], Interval)]
    listed = not any(isinstance(v[0][0], Interval) for _, v in groups)
    if shape.method == "random" and listed and every.number < 2**62:  # no combination twice
        number = min(shape.sample or 0, every.number)
        index = np.sort(rng.choice(every.number, number, replace=False, shuffle=False))
        return number, lambda k: every.make(int(index[k]))
    shares = _shares(shape, len(drawn), rng)

    def make(k: int) -> Choice:
        by_group = dict(zip(drawn, shares[k].tolist(), strict=True))
        return [_at(values, by_group.get(i, 0.0)) for i, (_, values) in enumerate(groups)]

    return len(shares), make


def _digits(index: int, sizes: Sequence[int]) -> list[int]:
    digits = []
    for size in reversed(sizes):
        index, digit = divmod(index, size)
        digits.append(digit)
    return digits[::-1]


def _at(values: Sequence[tuple[Any, ...]], share: float) -> tuple[Any, ...]:
    if isinstance(values[0][0], Interval):
        return (values[0][0].at(share),)
    return values[min(int(share * len(values)), len(values) - 1)]


def _shares(shape: Shape, dimensions: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return a sample of the unit cube, shape (sample, dimensions)."""
    count = shape.sample or 0
    if shape.method == "random" or dimensions == 0:
        return rng.random((count, dimensions))
    from scipy.stats import qmc  # slow to import, and few sweeps need it

    sampler = {"latin": qmc.LatinHypercube, "sobol": qmc.Sobol}[shape.method]
    with warnings.catch_warnings():  # Sobol's sequence is best, not only good, at powers of 2
        warnings.simplefilter("ignore", UserWarning)
        return np.asarray(sampler(dimensions, rng=rng).random(count))
