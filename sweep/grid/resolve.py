"""A combination becomes points: checks, what is read, replicates."""

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
from sweep.grid.point import Kind, Point, complete, point_of

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class ResolvedRow:
    """The points of a combination: one, or one a replicate where something is random."""

    kind: Kind
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
        return point_of(self.kind, replicate, self.seed, self.values, self.content)

    def __iter__(self) -> Iterator[Point]:
        return (self.point(k) for k in range(len(self)))


@dataclass(frozen=True)
class ReadSet:
    """Which parameters are read, as far as combinations agree on it.

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
        Stands for the workload's file, where no axis decides on it.
    """

    values: Mapping[str, Value]
    free: tuple[Parameter, ...]
    seeded: tuple[str, ...]
    keys: frozenset[str]
    content: str | None


class Resolver:
    """Turns combinations into points.

    Attributes
    ----------
    reads : set of (scheduler, keys, seed)
        Which keys points of a scheduler read, and whether also the sweep's seed.
    """

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.reads: set[tuple[str, frozenset[str], bool]] = set()
        self._declared: dict[Kind, tuple[tuple[Parameter, ...], tuple[str, ...]]] = {}
        self._read_sets: dict[tuple[Any, ...], ReadSet] = {}
        self._checked: dict[tuple[int, type, Any], Value] = {}
        self._content: dict[tuple[Any, ...], str] = {}
        self._replicates = int(REPLICATES.check(grid.replicates) or 1)
        self._seed = SEED.check(grid.seed)

    def resolve(self, combination: Mapping[str, Any]) -> ResolvedRow:
        """Return the points of a combination.

        Raises
        ------
        InputError
            A value that is not allowed, alone or beside the others; a file that cannot be used.
        """
        kind = Kind(*(combination[key] for key in KIND))
        read_set = self._read_set(kind, combination)
        values = dict(read_set.values)
        for parameter in read_set.free:
            values[parameter.key] = self._check(parameter, combination[parameter.key])
        registry.check(kind.engine, kind.scheduler, values)
        seed: Value = None
        for key in read_set.seeded:
            if values[key] is None:
                seed = values[key] = combination.get("seed", self._seed)
        self.reads.add((kind.scheduler, read_set.keys, seed is not None))
        content = read_set.content
        if content is None:
            content = self._content_of(kind.workload, values)
        return ResolvedRow(
            kind, values, seed, content, self._replicates if read_set.seeded else None
        )

    def keys_read(self) -> set[str]:
        """Return the keys that some combination has read."""
        keys = {key for _, keys, _ in self.reads for key in keys}
        if "replicate" in keys:
            keys.add("replicates")
        if self.grid.shape.sample is not None or any(seed for *_, seed in self.reads):
            keys.add("seed")
        return keys | {*KIND}

    def _read_set(self, kind: Kind, combination: Mapping[str, Any]) -> ReadSet:
        if kind not in self._declared:
            parameters = registry.reads(*kind)
            in_conditions = {key for p in parameters for key, _ in p.when}
            deciding = tuple(key for key in combination if key in in_conditions)
            self._declared[kind] = parameters, deciding
        parameters, deciding = self._declared[kind]
        key = (kind, *((type(combination[k]), combination[k]) for k in deciding))
        if key not in self._read_sets:
            self._read_sets[key] = self._make_read_set(kind, parameters, deciding, combination)
        return self._read_sets[key]

    def _make_read_set(
        self,
        kind: Kind,
        parameters: tuple[Parameter, ...],
        deciding: tuple[str, ...],
        combination: Mapping[str, Any],
    ) -> ReadSet:
        base = self.grid.bases[kind.engine, kind.workload]
        values: dict[str, Value] = {}
        for parameter in parameters:
            if parameter.is_read(values):
                key = parameter.key
                value = combination[key] if key in combination else base.get(key)
                values[key] = self._check(parameter, value)
        seeded = tuple(key for key in SEEDS if key in values)
        free = tuple(p for p in parameters if p.key in values.keys() & combination.keys())
        free = tuple(p for p in free if p.key not in deciding and p.is_read(values))
        keys = frozenset({*values, "replicate"} if seeded else values)
        decided_by_axes = any(p.key in _content_keys(kind.workload) for p in free)
        content = None if decided_by_axes else self._content_of(kind.workload, values)
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
        declared = _content_keys(workload)
        members = [(k, v) for k, v in values.items() if k in declared]
        key = (workload, *members)
        if key not in self._content:
            content = workloads()[workload].content(complete(workload, members))
            return _kept(self._content, key, content)
        return self._content[key]


@cache
def _content_keys(workload: str) -> frozenset[str]:
    """Return the keys that the content of a workload's file may depend on: no seed."""
    return frozenset(p.key for p in workloads()[workload].parameters) - {*SEEDS}


MOST_KEPT = 10_000
"""Entries of a memory: axes may have more values than there is room for."""


def _kept(memory: dict[K, V], key: K, value: V) -> V:
    if len(memory) >= MOST_KEPT:
        memory.clear()
    memory[key] = value
    return value
