"""The index of keys: which keys exist, who declares each, and which column a dataset has for it.

Everything that depends on a key's role is decided here: which keys are seeds, which name a
point's kind, and which belong to the context, within which points are compared. Schedulers,
engines, workloads and partitioners only declare parameters; nothing is guessed from a key's name
as long as something declares it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from core import registry
from core.parameters import Parameter, column_of
from core.schedulers import schedulers
from core.shuffle.axes import PARTITIONER
from core.shuffle.axes import SEED as SHUFFLE_SEED
from core.shuffle.parameters import REDUCE_PARAMETERS
from core.shuffle.partitioners import partitioners
from core.workloads import SEED as WORKLOAD_SEED
from core.workloads import workloads

__all__ = [
    "KIND",
    "REPEATS",
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
"""Keys of seeds that take the sweep's seed where they are empty."""

SEED_KEYS = frozenset({"seed", *SEEDS})
"""Every key of a seed."""

REPEATS = ("replicate", "seed", *map(column_of, SEEDS))
"""Columns that tell replicates apart: rows that differ only in these are averaged."""


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
    """Return every declaration of every key: of schedulers first, then engines, then workloads."""
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

    Raises
    ------
    TypeError
        Two declarations of one key that differ in type or unit, or two keys with one column.
    """
    by_key: dict[str, Parameter] = {}
    key_by_column: dict[str, str] = {}
    for key, declared in sorted(declarations().items()):
        by_key[key] = first = declared[0].parameter
        for declaration in declared[1:]:
            other = declaration.parameter
            if (first.kind, first.unit) != (other.kind, other.unit):
                raise TypeError(f"{key} is declared twice, with another type or unit")
        if (other_key := key_by_column.setdefault(first.column, key)) != key:
            raise TypeError(f"{key} and {other_key} would share the column {first.column}")
    return MappingProxyType(by_key)


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
