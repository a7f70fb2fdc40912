"""What a grid row asks for, as points: checks, relevance, replicates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from core import registry
from core.keys import KIND, SEEDS
from core.parameters import Parameter, Value
from core.workloads import workloads
from sweep.grid.grid import Grid
from sweep.grid.options import REPLICATES, SEED
from sweep.grid.point import Point, complete, point_of

K = TypeVar("K")
V = TypeVar("V")

Names = tuple[str, str, str]
"""Scheduler, engine, workload."""


@dataclass(frozen=True)
class ResolvedRow:
    """What a grid row comes to: one point, or one a replicate where something is random."""

    names: Names
    values: Mapping[str, Value]
    seed: Value
    content: str
    replicates: int | None
    """None where nothing is random."""

    def __len__(self) -> int:
        return 1 if self.replicates is None else self.replicates

    def point(self, k: int) -> Point:
        """Return a point, counted from 0."""
        replicate = None if self.replicates is None else k
        return point_of(self.names, replicate, self.seed, self.values, self.content)

    def __iter__(self) -> Iterator[Point]:
        return (self.point(k) for k in range(len(self)))


@dataclass(frozen=True)
class ReadSet:
    """Which parameters are read, as far as rows agree on it.

    Attributes
    ----------
    values : mapping
        Of all that are read, by key; those of `free` are still to be set.
    free : tuple of Parameter
        Axes.
    seeded : tuple of str
        Keys of seeds that are read.
    keys : frozenset of str
        Everything that is read but the sweep's seed.
    content : str or None
        What stands for the workload's file, where no axis decides on it.
    """

    values: Mapping[str, Value]
    free: tuple[Parameter, ...]
    seeded: tuple[str, ...]
    keys: frozenset[str]
    content: str | None


class Resolver:
    """Turns what a grid row asks for into points.

    Attributes
    ----------
    readings : set of (scheduler, keys, seed)
        Which keys points of a scheduler read, and whether also the sweep's seed.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.readings: set[tuple[str, frozenset[str], bool]] = set()
        self._reads: dict[Names, tuple[tuple[Parameter, ...], tuple[str, ...]]] = {}
        self._layouts: dict[tuple[Any, ...], ReadSet] = {}
        self._checked: dict[tuple[int, type, Any], Value] = {}
        self._content: dict[tuple[Any, ...], str] = {}
        self._replicates = int(REPLICATES.check(grid.replicates) or 1)
        self._seed = SEED.check(grid.seed)

    def reading(self, asked: Mapping[str, Any]) -> ResolvedRow:
        """Return what a row comes to.

        Raises
        ------
        InputError
            A value that is not allowed, alone or beside the others; a file that cannot be used.
        """
        names = (asked["scheduler"], asked["engine"], asked["workload"])
        layout = self._layout(names, asked)
        values = dict(layout.values)
        for parameter in layout.free:
            values[parameter.key] = self._check(parameter, asked[parameter.key])
        registry.check(names[1], names[0], values)
        seed: Value = None
        for key in layout.seeded:
            if values[key] is None:
                seed = values[key] = asked.get("seed", self._seed)
        self.readings.add((names[0], layout.keys, seed is not None))
        content = layout.content
        if content is None:
            content = self._content_of(names[2], values)
        return ResolvedRow(
            names, values, seed, content, self._replicates if layout.seeded else None
        )

    def read(self) -> set[str]:
        """Return the keys that some row has read."""
        found = {key for _, keys, _ in self.readings for key in keys}
        if "replicate" in found:
            found.add("replicates")
        if self.grid.shape.sample is not None or any(seed for *_, seed in self.readings):
            found.add("seed")
        return found | {*KIND}

    def _layout(self, names: Names, asked: Mapping[str, Any]) -> ReadSet:
        if names not in self._reads:
            parameters = registry.reads(*names)
            about = {key for p in parameters for key, _ in p.when}
            self._reads[names] = parameters, tuple(key for key in asked if key in about)
        parameters, deciding = self._reads[names]
        key = (names, *((type(asked[k]), asked[k]) for k in deciding))
        if key not in self._layouts:
            self._layouts[key] = self._laid_out(names, parameters, deciding, asked)
        return self._layouts[key]

    def _laid_out(
        self,
        names: Names,
        parameters: tuple[Parameter, ...],
        deciding: tuple[str, ...],
        asked: Mapping[str, Any],
    ) -> ReadSet:
        base = self.grid.bases[names[1], names[2]]
        values: dict[str, Value] = {}
        for parameter in parameters:
            if parameter.is_read(values):
                key = parameter.key
                values[key] = self._check(parameter, asked[key] if key in asked else base.get(key))
        seeded = tuple(key for key in SEEDS if key in values)
        free = tuple(p for p in parameters if p.key in values.keys() & asked.keys())
        free = tuple(p for p in free if p.key not in deciding and p.is_read(values))
        keys = frozenset({*values, "replicate"} if seeded else values)
        own = any(p.key in _own_keys(names[2]) for p in free)
        content = None if own else self._content_of(names[2], values)
        return ReadSet(values, free, seeded, keys, content)

    def _check(self, parameter: Parameter, value: Any) -> Value:
        if value is None:
            value = parameter.default
        key = (id(parameter), type(value), value)
        try:
            return self._checked[key]
        except KeyError:
            return _kept(self._checked, key, parameter.check(value))
        except TypeError:  # a list or a mapping: not hashable, and never allowed
            return parameter.check(value)

    def _content_of(self, workload: str, values: Mapping[str, Value]) -> str:
        declared = _own_keys(workload)
        own = [(k, v) for k, v in values.items() if k in declared]
        key = (workload, *own)
        if key not in self._content:
            given = complete(workload, own)
            return _kept(self._content, key, workloads()[workload].content(given))
        return self._content[key]


@cache
def _own_keys(workload: str) -> frozenset[str]:
    """Return the keys that the content of a workload's file may depend on: no seed."""
    return frozenset(p.key for p in workloads()[workload].parameters) - {*SEEDS}


MOST_KEPT = 10_000
"""Of what is remembered: axes may have more values than there is room for."""


def _kept(memory: dict[K, V], key: K, value: V) -> V:
    if len(memory) >= MOST_KEPT:
        memory.clear()
    memory[key] = value
    return value
