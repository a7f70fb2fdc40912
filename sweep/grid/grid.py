"""`Grid`: axes and base values as requested, and the checks that need no expansion."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from core import keys, registry
from core.errors import GridError, ParameterError, nearest
from core.parameters import Parameter, Value, when_read
from core.schedulers import schedulers
from core.workloads import workloads
from sweep.grid.axes import Axes, Interval, Shape
from sweep.grid.options import SEED


@dataclass(frozen=True)
class Grid:
    """A request for points.

    Attributes
    ----------
    axes : mapping of str to sequence
        Values to combine, by key; the first key varies slowest. Scheduler, engine and workload are
        axes too, also with one value.
    bases : mapping of (engine, workload) to mapping
        Values of all parameters that are not axes, by key, as composed for these groups.
    requested : frozenset of str
        Keys that the command line or a file sets: at least one point has to read each of them.
    seed, replicates : Value
        Used where they are not axes.
    shape : Shape
        Axes in step, a filter, a sample.
    """

    axes: Axes
    bases: Mapping[tuple[str, str], Mapping[str, Any]]
    requested: frozenset[str] = frozenset()
    seed: Any = 0
    replicates: Any = 1
    shape: Shape = field(default_factory=Shape)


def checked_axes(
    grid: Grid,
) -> tuple[dict[str, list[Any] | Interval], dict[str, int]]:
    """Return the axes in their declared types without repeated values, and how many those were."""
    members: dict[str, Mapping[str, Any]] = {
        "scheduler": schedulers(),
        "engine": registry.engines(),
        "workload": workloads(),
    }
    axes: dict[str, list[Any] | Interval] = {}
    repeated: dict[str, int] = {}
    in_step = {key for keys in grid.shape.zipped for key in keys}
    for key, values in grid.axes.items():
        if isinstance(values, Interval):
            axes[key] = _checked_interval(key, values)
            continue
        if not values:
            raise GridError(f"{key}: an empty list makes no grid; give at least one value")
        checked = []
        for value in values:
            if key in members:
                if value not in members[key]:
                    hint = nearest(str(value), members[key])
                    raise GridError(
                        f"{key}={value}: unknown{hint}; allowed is one of "
                        + ", ".join(sorted(members[key]))
                    )
                checked.append(value)
            else:
                checked.append(_check_somewhere(key, value))
        distinct = list(dict.fromkeys(checked))
        if key in in_step:
            axes[key] = checked
        else:
            axes[key] = distinct
            if len(distinct) < len(checked):
                repeated[key] = len(checked) - len(distinct)
    return axes, repeated


def _checked_interval(key: str, interval: Interval) -> Interval:
    kinds = {parameter.kind for parameter in declarations().get(key, ())}
    if not kinds or not kinds <= {int, float}:
        raise GridError(f"{key}={interval}: only a number has an interval")
    if not interval.low < interval.high or (interval.log and interval.low <= 0):
        raise GridError(f"{key}={interval}: an interval ends above its start, of a log > 0")
    for end in (interval.low, interval.high):
        _check_somewhere(key, end)
    return replace(interval, whole=kinds == {int})


def _check_somewhere(key: str, value: Any) -> Value:
    """Check a value by any declaration of its key that allows it.

    Workloads may declare one key with different ranges: the point's own comes later.
    """
    problem: ParameterError | None = None
    for parameter in declarations()[key]:
        try:
            return parameter.check(value)
        except ParameterError as error:
            problem = error
    assert problem is not None
    raise problem


@cache
def declarations() -> dict[str, list[Parameter]]:
    """Return every declaration of every key that can be an axis."""
    declared = {
        key: list(dict.fromkeys(d.parameter for d in of_key))
        for key, of_key in keys.declarations().items()
    }
    return {"seed": [SEED], **declared}


def check_all_read(grid: Grid, read: Set[str]) -> None:
    """Raise `GridError` for a key that was asked for and that no point reads."""
    for key in sorted(grid.requested - read):
        readers, when = _readers(key), when_read(declarations().get(key, ()))
        who = f"by {readers}" if readers else ""
        which = f"with {when}" if when else ""
        readers_and_when = ", ".join(text for text in (who, which) if text)
        raise GridError(
            f"{key}: no point of this grid reads it"
            + (f"; it is read {readers_and_when}" if readers_and_when else "")
        )


def _readers(key: str) -> str:
    if key in ("seed", "replicates"):
        seeded = [f"workload={n}" for n, w in workloads().items() if w.seeded]
        return ", ".join([*seeded, "any other with a shuffle.partitioner"])
    declared = keys.declarations().get(key, ())
    by = [d for d in declared if d.kind != "workload"]
    of_workloads = {d.name: d for d in declared if d.kind == "workload"}
    if len(of_workloads) < len(workloads()):  # by all: only its `when` says something
        by += of_workloads.values()
    return ", ".join(
        dict.fromkeys(f"{d.kind}={d.name}" + f" (engine={d.engine})" * bool(d.engine) for d in by)
    )
