"""From axes to grid rows: all combinations, axes in step, a sample, a condition."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from core.errors import GridError, nearest
from core.keys import KIND
from sweep.grid.filter import Filter

MOST_ROWS = 10_000_000

T = TypeVar("T")
Axes = Mapping[str, "Sequence[Any] | Interval"]
Row = dict[str, Any]


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


def several(values: Sequence[Any] | Interval) -> bool:
    """Whether an axis has more than one value."""
    return isinstance(values, Interval) or len(values) > 1


@dataclass(frozen=True)
class Shape:
    """What becomes of the axes.

    Attributes
    ----------
    zipped : tuple of tuple of str
        Keys whose values are taken in step.
    condition : str, optional
        Rows for which it does not hold are left out, sampled ones too.
    sample : int, optional
        How often the other axes than names are drawn, before the condition; each draw is a row
        for every scheduler, engine and workload.
    method : {"random", "latin", "sobol"}
    """

    zipped: tuple[tuple[str, ...], ...] = ()
    condition: str | None = None
    sample: int | None = None
    method: str = "random"


def combinations(axes: Axes, shape: Shape) -> int:
    """Return the number of combinations, of which a sample or a condition may leave some out.

    Axes that are intervals count as one value.
    """
    return math.prod(len(group[1]) for group in _grouped(axes, shape))


class Lazy(Sequence[T]):
    """Items that are made when asked for: a class says how many there are, and makes one."""

    def make(self, k: int) -> T:
        """Return an item by its place, from 0."""
        raise NotImplementedError

    @overload
    def __getitem__(self, k: int) -> T: ...
    @overload
    def __getitem__(self, k: slice) -> list[T]: ...
    def __getitem__(self, k: int | slice) -> T | list[T]:
        """Return an item, or several."""
        places = range(len(self))[k]
        return self.make(places) if isinstance(places, int) else [self.make(i) for i in places]


class GridRows(Lazy[Row]):
    """What each row of the grid asks for, by key, made when asked for; the first axis is slowest.

    A row of a large grid takes no memory, or that of its number where a condition or a sample
    chooses rows.

    Raises
    ------
    GridError
        Axes that cannot be zipped, intervals without a sample, too many rows, a condition that
        is none.
    """

    def __init__(self, axes: Axes, shape: Shape, seed: int) -> None:
        groups = _grouped(axes, shape)
        keep = Filter(shape.condition, axes) if shape.condition is not None else None
        if shape.sample is None:
            _check_values(axes)
        _check_number(axes, shape)
        self._axes = tuple(axes)
        self._keys = tuple(key for keys, _ in groups for key in keys)
        self._draws = _all(groups) if shape.sample is None else _sampled(groups, shape, seed)
        self._kept: npt.NDArray[np.int64] | None = None
        if keep is not None:
            kept = (k for k, draw in enumerate(self._draws) if keep(self._row(draw)))
            self._kept = np.fromiter(kept, np.int64)

    def __iter__(self) -> Iterator[Row]:
        if self._kept is None:
            yield from map(self._row, self._draws)
        else:
            yield from map(self.make, range(len(self)))

    def __len__(self) -> int:
        return len(self._draws) if self._kept is None else len(self._kept)

    def make(self, k: int) -> Row:
        """Return a row."""
        return self._row(self._draws[k if self._kept is None else int(self._kept[k])])

    def _row(self, draw: Draw) -> Row:
        row = dict(zip(self._keys, chain.from_iterable(draw), strict=True))
        return row if self._keys == self._axes else {key: row[key] for key in self._axes}


def _check_values(axes: Axes) -> None:
    for key, values in axes.items():
        if isinstance(values, Interval):
            raise GridError(
                f"{key}={values}: an interval names no values; draw some with sweep.sample=N, "
                f"or write {key}=range(…) or {key}=a,b"
            )


def _check_number(axes: Axes, shape: Shape) -> None:
    wanted = combinations(axes, shape)
    if shape.sample is not None:
        names = (axes[key] for key in KIND if key in axes)
        wanted = shape.sample * math.prod(1 if isinstance(v, Interval) else len(v) for v in names)
    if wanted > MOST_ROWS:
        raise GridError(f"{wanted} grid rows: more than {MOST_ROWS}")


Group = tuple[tuple[str, ...], Sequence[Any]]
"""Keys, and the tuples of values that they take together; an interval stands for itself."""


def _grouped(axes: Axes, shape: Shape) -> list[Group]:
    together = {key: keys for keys in shape.zipped for key in keys}
    for keys in shape.zipped:
        _check_zip(axes, keys)
    if len(together) < sum(map(len, shape.zipped)):
        raise GridError("sweep.zip: a key may stand there only once")
    groups: list[Group] = []
    for key, values in axes.items():
        keys = together.get(key, (key,))
        if isinstance(values, Interval):
            groups.append((keys, [(values,)]))
        elif next(k for k in axes if k in keys) == key:  # where the first of them stands
            columns = [axes[k] for k in keys]
            groups.append((keys, list(zip(*columns, strict=True))))
    return groups


def _check_zip(axes: Axes, keys: Sequence[str]) -> None:
    lengths = {}
    for key in keys:
        if key not in axes:
            raise GridError(
                f"sweep.zip: {key} is no key of this grid{nearest(key, axes)}; give it values, as "
                f"{key}=a,b"
            )
        values = axes[key]
        if isinstance(values, Interval):
            raise GridError(f"sweep.zip: {key} is an interval; only lists of values go in step")
        lengths[key] = len(values)
    if len(keys) < 2 or len(set(lengths.values())) > 1:
        said = ", ".join(f"{key} has {n}" for key, n in lengths.items())
        raise GridError(f"sweep.zip: two or more keys with equally many values are needed; {said}")


Draw = Sequence[tuple[Any, ...]]
"""The chosen tuple of each group."""


@dataclass(frozen=True)
class _Draws:
    """Draws made when asked for, a number of them."""

    count: int
    make: Callable[[int], Draw]
    every: Callable[[], Iterator[Draw]] | None = None
    """Makes all of them, faster."""

    def __iter__(self) -> Iterator[Draw]:
        return self.every() if self.every is not None else map(self.make, range(self.count))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, k: int) -> Draw:
        return self.make(k)


def _all(groups: Sequence[Group]) -> _Draws:
    sizes = [len(values) for _, values in groups]
    return _Draws(
        math.prod(sizes),
        lambda k: [v[i] for (_, v), i in zip(groups, _digits(k, sizes), strict=True)],
        lambda: product(*(values for _, values in groups)),
    )


def _sampled(groups: Sequence[Group], shape: Shape, seed: int) -> _Draws:
    """Return draws of the axes; each is taken under every scheduler, engine and workload."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0x5A3917,)))
    paired = [i for i, (keys, _) in enumerate(groups) if set(keys) <= {*KIND}]
    rest = [i for i in range(len(groups)) if i not in paired]
    names = _all([groups[i] for i in paired])
    draws = _draws([groups[i] for i in rest], shape, rng)

    def make(k: int) -> Draw:
        drawn, name = divmod(k, len(names))
        by_group = dict(zip(paired, names[name], strict=True))
        by_group |= zip(rest, draws[drawn], strict=True)
        return [by_group[i] for i in range(len(groups))]

    return _Draws(len(draws) * len(names), make)


def _draws(groups: Sequence[Group], shape: Shape, rng: np.random.Generator) -> _Draws:
    every = _all(groups)
    drawn = [i for i, (_, v) in enumerate(groups) if len(v) > 1 or isinstance(v[0][0], Interval)]
    listed = not any(isinstance(v[0][0], Interval) for _, v in groups)
    if shape.method == "random" and listed and every.count < 2**62:  # no row twice
        number = min(shape.sample or 0, every.count)
        index = np.sort(rng.choice(every.count, number, replace=False, shuffle=False))
        return _Draws(number, lambda k: every[int(index[k])])
    shares = _shares(shape, len(drawn), rng)

    def make(k: int) -> Draw:
        by_group = dict(zip(drawn, shares[k].tolist(), strict=True))
        return [_at(values, by_group.get(i, 0.0)) for i, (_, values) in enumerate(groups)]

    return _Draws(len(shares), make)


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
    from scipy.stats import qmc  # slow to import, and few need it

    kind = {"latin": qmc.LatinHypercube, "sobol": qmc.Sobol}[shape.method]
    with warnings.catch_warnings():  # Sobol's sequence is best, not only good, at powers of 2
        warnings.simplefilter("ignore", UserWarning)
        return np.asarray(kind(dimensions, rng=rng).random(count))
