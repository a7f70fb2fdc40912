"""``shuffle.*`` as axes of a sweep: who reads what, said as conditions on the partitioner."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from core.parameters import Parameter, Value, Values
from core.shuffle._base import Partitioner
from core.shuffle.parameters import REDUCE_PARAMETERS
from core.shuffle.partitioners import partitioners
from core.shuffle.sources import SOURCE, SOURCES

TRACED = "traced"
"""The partitioner that leaves a trace's reducers as they are."""

PARTITIONER = "shuffle.partitioner"
SEED = Parameter(
    "shuffle.seed", int, None, "seed of keys and samples; null: the sweep's seed", minimum=0
)


@dataclass(frozen=True)
class _PartitionerName(Parameter):
    """The name of a partitioner; for that of a broken file, the error says what is wrong."""

    def check(self, value: Any) -> Value:
        _ = value in partitioners()  # raises for a broken file
        return super().check(value)


def key_parameters(source: Parameter = SOURCE) -> tuple[Parameter, ...]:
    """Return the kind of job, and what jobs of each kind read of the keys."""
    readers: defaultdict[Parameter, list[str]] = defaultdict(list)
    for name, kind in SOURCES.items():
        for parameter in kind.parameters:
            readers[parameter].append(name)
    law = (replace(p, when=((source.key, tuple(by)),)) for p, by in readers.items())
    return (source, *law)


@cache
def shuffle_parameters(default: str) -> tuple[Parameter, ...]:
    """Return what a workload reads of the shuffle.

    Parameters
    ----------
    default : str
        Partitioner where none is given: `TRACED` for workloads that have reducers of their own,
        whose keys are then read only with another one; a partitioner's name for others, which
        declare what they read of the keys themselves.
    """
    names = tuple(partitioners())
    keys: tuple[Parameter, ...] = ()
    choices = names
    if default == TRACED:
        choices = (TRACED, *names)
        keys = tuple(replace(p, when=((PARTITIONER, names), *p.when)) for p in key_parameters())
    chosen = _PartitionerName(
        PARTITIONER,
        str,
        default,
        "which reducer gets which record; traced: as the trace has it",
        choices=choices,
    )
    readers: defaultdict[Parameter, list[str]] = defaultdict(list)
    for name, partitioner in partitioners().items():
        for parameter in dict.fromkeys((*partitioner.parameters, *REDUCE_PARAMETERS, SEED)):
            readers[parameter].append(name)
    conditional = (
        replace(p, when=((PARTITIONER, tuple(by)), *p.when)) for p, by in readers.items()
    )
    return (chosen, *keys, *conditional)


def partitioner_of(values: Values) -> Partitioner | None:
    """Return the partitioner that a point asks for; None if it leaves a trace as it is."""
    name = str(values.get(PARTITIONER, TRACED))
    return None if name == TRACED else partitioners()[name]
