"""`Point`: one run, its id, its workload and its seeds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from core import registry
from core.errors import TraceError
from core.parameters import Value, column_of, defaults
from core.schedulers import schedulers
from core.shuffle.axes import partitioner_of
from core.shuffle.partitioners import partitioners
from core.trace import Trace
from core.workloads import workloads


class Kind(NamedTuple):
    """A point's scheduler, engine and workload, by name."""

    scheduler: str
    engine: str
    workload: str


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
        """Return the point by the dataset's columns, with the values as requested."""
        return {
            "point_id": self.point_id,
            "scheduler": self.scheduler,
            "engine": self.engine,
            "workload": self.workload,
            "trace_id": self.trace_id,
            "replicate": self.replicate,
            "seed": self.seed,
            **by_column(self.values),
        }


def by_column(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return values by the columns of their keys."""
    return {column_of(key): value for key, value in values.items()}


def point_of(
    kind: Kind,
    replicate: int | None,
    seed: Value,
    values: Mapping[str, Value],
    content: str,
) -> Point:
    """Return a point with its ids.

    Parameters
    ----------
    kind : Kind
    replicate : int, optional
    seed : int, optional
        Of the sweep, where the point reads it.
    values : mapping of str to value
        Every parameter that is read, by key.
    content : str
        Stands for the content of the workload's file, if it has one.

    Notes
    -----
    The ids are the first 64 bits of a SHA-256 of JSON with sorted keys: the same on all machines.
    """
    scheduler, engine, workload = kind
    source = _source(workload, content, values, replicate)
    rest = _object(values, _split(tuple(values))[2])
    version = registry.engines()[engine].version
    code = _member_of_code(schedulers().code(scheduler))
    run = f'["{scheduler}","{engine}",{version},{rest}{code}]'
    return Point(
        point_id=_digest(f"[{source},{run}]"),
        scheduler=scheduler,
        engine=engine,
        workload=workload,
        replicate=replicate,
        seed=None if seed is None else int(seed),
        values=values,
        trace_id=_digest(source),
    )


def _source(workload: str, content: str, values: Mapping[str, Value], replicate: int | None) -> str:
    """Return what a trace depends on, as JSON."""
    of_workload, shuffle, _ = _split(tuple(values))
    if workloads()[workload].identified_by_content:
        of_workload = ()
    parts = [_text(workload), _text(content), _object(values, of_workload), _text(replicate)]
    code = _member_of_code(workloads().code(workload))
    if partitioner := partitioner_of(values):
        parts += [_text(partitioner.version), _object(values, shuffle)]
        if isinstance(of_partitioner := partitioners().code(partitioner.name), str):
            code += _member_of_code(of_partitioner)
    return f"[{','.join(parts)}{code}]"


def _member_of_code(code: int | str) -> str:
    """Return what the JSON of an id has of a version or a fingerprint.

    That is nothing for version 1, so that datasets keep their ids from before there were versions.
    """
    return "" if code == 1 else f",{_text(code)}"


Keys = tuple[str, ...]


@lru_cache(maxsize=1000)
def _split(keys: Keys) -> tuple[Keys, Keys, Keys]:
    """Return the keys of the workload, those of the shuffle and the others, each sorted."""
    of_workload = tuple(sorted(k for k in keys if k.startswith("workload.")))
    shuffle = tuple(sorted(k for k in keys if k.startswith("shuffle.")))
    return of_workload, shuffle, tuple(sorted({*keys} - {*of_workload, *shuffle}))


def _object(values: Mapping[str, Value], keys: Keys) -> str:
    return "{" + ",".join([_member(key, values[key]) for key in keys]) + "}"


@lru_cache(maxsize=10_000, typed=True)
def _member(key: str, value: Value) -> str:
    return f"{_text(key)}:{_text(value)}"


@lru_cache(maxsize=10_000, typed=True)
def _text(value: Value) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def build_trace(point: Point) -> Trace:
    """Build or read the workload of a point; the same point gives the same trace anywhere.

    Raises
    ------
    TraceError
        The file cannot be used any longer, or has changed since the sweep was planned.
    """
    workload = workloads()[point.workload]
    values = complete(point.workload, point.values.items())
    rng = np.random.Generator(np.random.PCG64(seed_of(point, "workload")))
    trace = workload.trace(values, rng, seed_of(point, "shuffle"))
    now = _source(point.workload, workload.content(values), point.values, point.replicate)
    if _digest(now) != point.trace_id:
        raise TraceError(f"{trace.name} has changed since the sweep was planned; start it again")
    return trace


def complete(workload: str, members: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """Return every value that a workload may look at: these, and defaults for the rest."""
    values = defaults(workloads()[workload].parameters)
    return values | {k: v for k, v in members if k in values or k.startswith("shuffle.")}


def seed_of(point: Point, purpose: str) -> np.random.SeedSequence:
    """Return the seed of a point's ``workload`` or ``shuffle``.

    It derives from the seed, the replicate and the purpose alone, so that all schedulers of a
    replicate see the same workload, and all partitioners the same records.
    """
    seed = int(point.values.get(f"{purpose}.seed") or 0)
    tag = int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:4], "big")
    return np.random.SeedSequence(seed, spawn_key=(point.replicate or 0, tag))
