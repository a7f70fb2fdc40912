"""From a grid to unique points: checks, relevance, stable ids.

Every value is checked against the declaration of whoever reads it before anything runs. What a
point does not read is not part of it, so grid rows that differ only there are one point.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core import registry
from core.errors import GridError, TraceError
from core.parameters import Parameter, Value, condition, defaults
from core.shuffle.axes import partitioner_of
from core.trace import Trace
from core.workloads import workloads
from sweep.grid import Grid, check_all_read, checked_axes, declarations
from sweep.rows import Interval, Shape, grid_rows
from sweep.settings import REPLICATES, SEED

NAMES = ("scheduler", "engine", "workload")
SEEDS = ("workload.seed", "shuffle.seed")
"""Empty, they are the sweep's seed."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run: names, and every parameter that is read, by key."""

    point_id: str
    scheduler: str
    engine: str
    workload: str
    replicate: int | None
    seed: int | None
    values: Mapping[str, Value]
    trace_id: str

    def columns(self) -> dict[str, Value]:
        """Return the point as columns of the dataset."""
        return self.shown() | _stored(self.values)

    def shown(self) -> dict[str, Value]:
        """Return the point by columns, with the values as given: also words like ``auto``."""
        named = {"point_id": self.point_id, **{n: getattr(self, n) for n in NAMES}}
        named["trace_id"] = self.trace_id
        more = {"replicate": self.replicate, "seed": self.seed}
        return named | more | {k.replace(".", "_"): v for k, v in self.values.items()}


def _stored(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return parameters by column; a word in place of a number, as ``auto``, is 0."""
    known = registry.parameters()
    return {
        key.replace(".", "_"): 0.0
        if isinstance(value, str) and key in known and known[key].kind is not str
        else value
        for key, value in values.items()
    }


@dataclass
class Plan:
    """Grid rows and the unique points that they lead to."""

    axes: dict[str, list[Any] | Interval]
    shape: Shape = field(default_factory=Shape)
    asked: int = 0
    """Combinations that were asked for; each may be several rows, one a replicate."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    points: dict[str, Point] = field(default_factory=dict)
    repeated: dict[str, int] = field(default_factory=dict)

    def unread(self) -> list[str]:
        """Say for each axis that some points do not read which ones, or when it is read."""
        found: list[str] = []
        for key in self.axes:
            if key in NAMES:
                continue
            pairs = {(p.scheduler, key in _keys(p)) for p in self.points.values()}
            readers = {name for name, reads in pairs if reads}
            others = {name for name, reads in pairs if not reads}
            if blind := sorted(others - readers):
                found.append(f"{key} is not read by {', '.join(blind)}")
            if (others & readers) and (when := condition(declarations()[key])):
                found.append(f"{key} is read only with {when}")
        return found


def _keys(point: Point) -> set[str]:
    keys = set(point.values)
    if point.replicate is not None:
        keys.add("replicate")
    if point.seed is not None:
        keys.add("seed")
    return keys


def make_plan(grid: Grid) -> Plan:
    """Check a grid and expand it.

    Raises
    ------
    GridError, ParameterError, TraceError
        An unknown name, a value that is not allowed, a key that no point reads, a trace file
        that cannot be used.
    """
    axes, repeated = checked_axes(grid)
    plan = Plan(axes, grid.shape, repeated=repeated)
    expansion = _Expansion(grid)
    for asked in grid_rows(axes, grid.shape, int(SEED.check(grid.seed) or 0)):
        plan.asked += 1
        for point in expansion.points(asked):
            plan.points.setdefault(point.point_id, point)
            row = point.columns() | _stored(asked)
            row["replicate"] = point.replicate
            plan.rows.append({"grid_row": len(plan.rows)} | row)
    if not plan.rows:
        raise GridError(f"sweep.filter={grid.shape.condition!r}: no grid row is left")
    check_all_read(grid, expansion.read)
    return plan


class _Expansion:
    """Turns what a grid row asks for into points; remembers what was read."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.read: set[str] = {"scheduler", "engine", "workload"}
        if grid.shape.sample is not None:
            self.read.add("seed")
        self._reads: dict[tuple[str, str, str], tuple[Parameter, ...]] = {}
        self._checked: dict[tuple[Parameter, type, Any], Value] = {}
        self._content: dict[tuple[str, tuple[tuple[str, Value], ...]], str] = {}
        self._replicates = int(REPLICATES.check(grid.replicates) or 1)
        self._seed = SEED.check(grid.seed)

    def points(self, asked: Mapping[str, Any]) -> Iterator[Point]:
        """Yield the row's points: one per replicate where the workload is random."""
        names = (asked["scheduler"], asked["engine"], asked["workload"])
        _, engine, workload = names
        if names not in self._reads:
            self._reads[names] = registry.reads(*names)
        base = self.grid.bases[engine, workload]
        values: dict[str, Value] = {}
        for parameter in self._reads[names]:
            if not parameter.is_read(values):
                continue
            key = parameter.key
            value = asked[key] if key in asked else base.get(key)
            values[key] = self._check(parameter, parameter.default if value is None else value)
            self.read.add(key)
        registry.check(engine, asked["scheduler"], values)
        seed: Value = None
        seeded = [key for key in SEEDS if key in values]
        for key in seeded:
            if values[key] is None:
                seed = values[key] = asked.get("seed", self._seed)
                self.read.add("seed")
        if seeded:
            self.read.add("replicates")
        content = self._content_of(workload, values)
        for replicate in range(self._replicates) if seeded else (None,):
            yield _point(names, replicate, seed, values, content)

    def _check(self, parameter: Parameter, value: Any) -> Value:
        key = (parameter, type(value), value)
        try:
            return self._checked[key]
        except KeyError:
            self._checked[key] = parameter.check(value)
        except TypeError:  # a list or a mapping: not hashable, and never allowed
            return parameter.check(value)
        return self._checked[key]

    def _content_of(self, workload: str, values: Mapping[str, Value]) -> str:
        declared = {p.key for p in workloads()[workload].parameters}
        own = tuple((k, v) for k, v in values.items() if k in declared)
        if (workload, own) not in self._content:
            self._content[workload, own] = workloads()[workload].content(complete(workload, own))
        return self._content[workload, own]


def _point(
    names: tuple[str, str, str],
    replicate: int | None,
    seed: Value,
    values: Mapping[str, Value],
    content: str,
) -> Point:
    scheduler, engine, workload = names
    rest = {k: v for k, v in values.items() if not k.startswith(("workload.", "shuffle."))}
    source = _source(workload, content, values, replicate)
    run = [scheduler, engine, registry.engines()[engine].version, rest]
    return Point(
        point_id=_digest([source, run]),
        scheduler=scheduler,
        engine=engine,
        workload=workload,
        replicate=replicate,
        seed=None if seed is None else int(seed),
        values=values,
        trace_id=_trace_id(workload, content, values, replicate),
    )


def _source(
    workload: str, content: str, values: Mapping[str, Value], replicate: int | None
) -> list[Any]:
    """Return what a trace depends on."""
    own = {k: v for k, v in values.items() if k.startswith("workload.")}
    by_content = workloads()[workload].identified_by_content
    source = [workload, content, {} if by_content else own, replicate]
    if partitioner := partitioner_of(values):
        shuffle = {k: v for k, v in values.items() if k.startswith("shuffle.")}
        source += [partitioner.version, shuffle]
    return source


def _trace_id(
    workload: str, content: str, values: Mapping[str, Value], replicate: int | None
) -> str:
    return _digest(_source(workload, content, values, replicate))


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def build_trace(point: Point) -> Trace:
    """Build or read the workload of a point; the same point gives the same trace anywhere.

    Raises
    ------
    TraceError
        The file cannot be used any more, or is not the one that the sweep was planned with.
    """
    workload = workloads()[point.workload]
    values = complete(point.workload, point.values.items())
    rng = np.random.Generator(np.random.PCG64(seed_of(point, "workload")))
    trace = workload.trace(values, rng, seed_of(point, "shuffle"))
    now = _trace_id(point.workload, workload.content(values), point.values, point.replicate)
    if now != point.trace_id:
        raise TraceError(f"{trace.name} has changed since the sweep was planned; start it again")
    return trace


def complete(workload: str, given: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """Return every value that a workload may look at: those given, and defaults for the rest."""
    values = defaults(workloads()[workload].parameters)
    return values | {k: v for k, v in given if k in values or k.startswith("shuffle.")}


def seed_of(point: Point, purpose: str) -> np.random.SeedSequence:
    """Return the seed of a point's ``workload`` or ``shuffle``.

    It derives from the seed, the replicate and the purpose alone, so that all schedulers of a
    replicate see the same workload, and all partitioners the same records.
    """
    seed = int(point.values.get(f"{purpose}.seed") or 0)
    tag = int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:4], "big")
    return np.random.SeedSequence(seed, spawn_key=(point.replicate or 0, tag))
