"""The index of keys: which keys exist, who declares each, and which column a dataset has for it.

Everything that depends on a key's role is decided here: which keys are seeds, which name a
point's kind, and which belong to the context, within which points are compared. Schedulers,
engines, workloads and partitioners only declare parameters; nothing is guessed from a key's name
as long as something declares it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from core import registry
from core.metrics import METRICS, SHUFFLE_METRICS
from core.parameters import Parameter, column_of
from core.plugins import Records
from core.schedulers import schedulers
from core.shuffle.axes import PARTITIONER, shuffle_parameters
from core.shuffle.axes import SEED as SHUFFLE_SEED
from core.shuffle.parameters import REDUCE_PARAMETERS
from core.shuffle.partitioners import partitioners
from core.workloads import SEED as WORKLOAD_SEED
from core.workloads import workloads

__all__ = [
    "KIND",
    "REPEATS",
    "RESERVED",
    "SEEDS",
    "SEED_KEYS",
    "Declaration",
    "column_of",
    "declarations",
    "is_context",
    "key_of",
    "parameters",
]

KIND = ("scheduler", "engine", "workload")
"""Keys that name a point's kind."""

SEEDS = (WORKLOAD_SEED.key, SHUFFLE_SEED.key)
"""Keys of seeds that take the sweep's seed where they are null."""

SEED_KEYS = frozenset({"seed", *SEEDS})
"""Every key of a seed."""

REPEATS = ("replicate", "seed", *map(column_of, SEEDS))
"""Columns that tell replicates apart: rows that differ only in these are averaged."""


RESERVED = frozenset(
    {
        *(*KIND, *REPEATS[:2], "point_id", "trace_id", "grid_row", "run"),
        *("status", "error", "traceback", "wall_s", "host"),
        *(metric.name for metric in (*METRICS, *SHUFFLE_METRICS)),
    }
)
"""Columns of a dataset that are no parameters."""


@dataclass(frozen=True)
class Declaration:
    """A parameter, and who declares it.

    Attributes
    ----------
    parameter : Parameter
    kind : {"scheduler", "engine", "workload"}
        What declares it; a workload also declares what its partitioners read.
    name : str
        Name of the scheduler, engine or workload.
    engine : str
        Engine in which the scheduler reads it; empty for other kinds.
    """

    parameter: Parameter
    kind: str
    name: str
    engine: str = ""


@cache
def declarations() -> MappingProxyType[str, tuple[Declaration, ...]]:
    """Return every declaration of every key: of schedulers first, then engines, then workloads.

    A file of the user's own that contradicts shipped declarations counts as broken.
    """
    _set_aside_contradictions()
    by_key: dict[str, list[Declaration]] = {}
    for declaration in _declared():
        by_key.setdefault(declaration.parameter.key, []).append(declaration)
    return MappingProxyType({key: tuple(declared) for key, declared in by_key.items()})


def _declared() -> Iterator[Declaration]:
    for name, scheduler in schedulers().items():
        for engine, rule in scheduler.rules.items():
            for parameter in rule.parameters:
                yield Declaration(parameter, "scheduler", name, engine)
    for name, record in registry.engines().items():
        for parameter in record.parameters:
            yield Declaration(parameter, "engine", name)
    for name, workload in workloads().items():
        for parameter in workload.all_parameters:
            yield Declaration(parameter, "workload", name)


@cache
def parameters() -> MappingProxyType[str, Parameter]:
    """Return one parameter a key, in the order of the dataset's columns.

    Two workloads may declare one key with different defaults or ranges; its type and unit are
    the same everywhere.
    """
    return MappingProxyType(
        {key: declared[0].parameter for key, declared in sorted(declarations().items())}
    )


def _set_aside_contradictions() -> None:
    """Treat as broken what gives a key another type or unit, or two keys one column."""
    by_column = {p.column: p for engine in registry.engines().values() for p in engine.parameters}
    for records, name, of_owner in sorted(_owners(), key=lambda owner: owner[0].is_own(owner[1])):
        if problem := next(filter(None, (_contradiction(p, by_column) for p in of_owner)), None):
            records.set_aside(name, problem)
            shuffle_parameters.cache_clear()
        else:
            by_column |= {p.column: by_column.get(p.column, p) for p in of_owner}


def _owners() -> Iterator[tuple[Records[Any], str, list[Parameter]]]:
    for name, scheduler in [*schedulers().items()]:
        yield schedulers(), name, [p for r in scheduler.rules.values() for p in r.parameters]
    for name, partitioner in [*partitioners().items()]:
        yield partitioners(), name, [*partitioner.parameters]
    for name, workload in [*workloads().items()]:
        yield workloads(), name, [*workload.parameters]


def _contradiction(parameter: Parameter, by_column: Mapping[str, Parameter]) -> str | None:
    if parameter.column in RESERVED:
        return f"{parameter.key}: every dataset has a column {parameter.column}; rename the key"
    other = by_column.get(parameter.column, parameter)
    if other.key != parameter.key:
        return f"{parameter.key} would share the column {parameter.column} with {other.key}"
    if (other.kind, other.unit) != (parameter.kind, parameter.unit):
        return (
            f"{parameter.key} is a {parameter.kind.__name__} [{parameter.unit}]; elsewhere it is "
            f"declared as a {other.kind.__name__} [{other.unit}]"
        )
    return None


@cache
def _keys() -> dict[str, str]:
    return {parameter.column: key for key, parameter in parameters().items()}


@cache
def _groups() -> frozenset[str]:
    """Return what stands before the dot in declared keys."""
    return frozenset(key.split(".", 1)[0] for key in parameters() if "." in key)


@lru_cache(maxsize=10_000)
def key_of(column: str) -> str:
    """Return the key of a column of a dataset.

    A column that nothing declares, as in a dataset of another version, has the dot after the
    name of a group that is declared.

    >>> key_of("queue_first_threshold_mb"), key_of("queue_of_another_version"), key_of("width")
    ('queue.first_threshold_mb', 'queue.of_another_version', 'width')
    """
    key = _keys().get(column)
    if key is None:
        group, underscore, rest = column.partition("_")
        key = f"{group}.{rest}" if underscore and group in _groups() else column
    return key


@lru_cache(maxsize=10_000)
def is_context(column: str) -> bool:
    """Whether a column belongs to the context: it describes neither scheduler nor partitioner.

    A column that nothing declares is judged by the other keys of its group.

    >>> [is_context(c) for c in ("fabric_gbps", "workload", "queue_base", "shuffle_partitioner")]
    [True, True, False, False]
    """
    if column in KIND:
        return column != "scheduler"
    if column in (of_key := _context_by_column()):
        return of_key[column]
    group = key_of(column).partition(".")[0]
    return any(belongs and key_of(c).startswith(f"{group}.") for c, belongs in of_key.items())


@cache
def _context_by_column() -> dict[str, bool]:
    choices = {p.key for partitioner in partitioners().values() for p in partitioner.parameters}
    choices -= {p.key for p in REDUCE_PARAMETERS}  # costs of the job, not choices
    choices.add(PARTITIONER)
    return {
        column_of(key): key not in choices and all(d.kind != "scheduler" for d in declared)
        for key, declared in declarations().items()
    }
