"""From axes to combinations: one value of each axis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import GridError, nearest
from core.keys import KIND
from sweep.grid.axes import Axes, Interval, Shape, several
from sweep.grid.filter import Filter
from sweep.grid.lazy import Lazy
from sweep.grid.sampling import AllChoices, Choice, Group, Sample

MOST_ROWS = 10_000_000

Combination = dict[str, Any]
"""One value of each axis, by key."""


def count_combinations(axes: Axes, shape: Shape) -> int:
    """Return the number of combinations, of which a sample or a filter may leave some out.

    Axes that are intervals count as one value.
    """
    return math.prod(len(values) for _, values in _grouped(axes, shape))


class Combinations(Lazy[Combination]):
    """The combinations of a grid, made when read; the first axis varies slowest.

    A combination of a large grid takes no memory, or that of its number where a filter or a
    sample chooses some.

    Raises
    ------
    GridError
        Axes that cannot be zipped, intervals without a sample, a sample of nothing, too many
        combinations, a filter that cannot be read.
    """

    def __init__(self, axes: Axes, shape: Shape, seed: int) -> None:
        groups = _grouped(axes, shape)
        keep = Filter(shape.filter, axes) if shape.filter is not None else None
        if shape.sample is None:
            _check_listed(axes)
        _check_number(axes, shape)
        self._axes = tuple(axes)
        self._keys = tuple(key for keys, _ in groups for key in keys)
        self._choices = AllChoices(groups) if shape.sample is None else Sample(groups, shape, seed)
        self._kept: npt.NDArray[np.int64] | None = None
        if keep is not None:
            kept = (k for k, choice in enumerate(self._choices) if keep(self._combination(choice)))
            self._kept = np.fromiter(kept, np.int64)

    def __iter__(self) -> Iterator[Combination]:
        if self._kept is None:
            yield from map(self._combination, self._choices)
        else:
            yield from map(self.make, range(len(self)))

    def __len__(self) -> int:
        return len(self._choices) if self._kept is None else len(self._kept)

    def make(self, k: int) -> Combination:
        """Return a combination."""
        return self._combination(self._choices[k if self._kept is None else int(self._kept[k])])

    def _combination(self, choice: Choice) -> Combination:
        values = dict(zip(self._keys, chain.from_iterable(choice), strict=True))
        return values if self._keys == self._axes else {key: values[key] for key in self._axes}


def _check_listed(axes: Axes) -> None:
    for key, values in axes.items():
        if isinstance(values, Interval):
            raise GridError(
                f"{key}={values}: an interval lists no values; draw some with sweep.sample=N, "
                f"or write {key}=range(…) or {key}=a,b"
            )


def _check_number(axes: Axes, shape: Shape) -> None:
    number = count_combinations(axes, shape)
    if shape.sample is not None:
        _check_drawn(axes, shape.sample)
        kinds = (axes[key] for key in KIND if key in axes)
        number = shape.sample * math.prod(1 if isinstance(v, Interval) else len(v) for v in kinds)
    if number > MOST_ROWS:
        raise GridError(
            f"{number} grid rows: more than {MOST_ROWS}; leave out values or axes, or draw "
            f"combinations with sweep.sample=N, N up to {MOST_ROWS}"
        )


def _check_drawn(axes: Axes, sample: int) -> None:
    if not any(several(values) for key, values in axes.items() if key not in KIND):
        raise GridError(
            f"sweep.sample={sample}: nothing to draw: no axis but scheduler, engine and "
            "workload has several values; add one, as in 'queue.base=interval(2,10)' or "
            "queue.base=2,4,8"
        )


def _grouped(axes: Axes, shape: Shape) -> list[Group]:
    together = {key: keys for keys in shape.zipped for key in keys}
    for keys in shape.zipped:
        _check_zip(axes, keys)
    if len(together) < sum(map(len, shape.zipped)):
        raise GridError("sweep.zip: a key appears twice; name each key only once")
    groups: list[Group] = []
    for key, values in axes.items():
        keys = together.get(key, (key,))
        if isinstance(values, Interval):
            groups.append((keys, [(values,)]))
        elif next(k for k in axes if k in keys) == key:  # the group is where its first key is
            columns = [axes[k] for k in keys]
            groups.append((keys, list(zip(*columns, strict=True))))
    return groups


def _check_zip(axes: Axes, keys: Sequence[str]) -> None:
    lengths = {}
    for key in keys:
        if key not in axes:
            raise GridError(
                f"sweep.zip: {key} is not an axis of this grid{nearest(key, axes)}; give it "
                f"values, as in {key}=a,b"
            )
        values = axes[key]
        if isinstance(values, Interval):
            raise GridError(
                f"sweep.zip: {key} is an interval; write its values as a list, as in {key}=a,b"
            )
        lengths[key] = len(values)
    if len(keys) < 2 or len(set(lengths.values())) > 1:
        counts = ", ".join(f"{key} has {n}" for key, n in lengths.items())
        raise GridError(
            f"sweep.zip: two or more keys with equally many values are needed; {counts}"
        )
