"""`Grid`: axes and base values as requested, and the checks that need no expansion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from core import keys, registry
from core.errors import GridError, ParameterError, nearest
from core.parameters import Parameter, Value
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


def members_of(key: str) -> Mapping[str, Any]:
    """Return the schedulers, engines or workloads by name; nothing for other keys."""
    match key:
        case "scheduler":
            return schedulers()
        case "engine":
            return registry.engines()
        case "workload":
            return workloads()
    return {}


def check_member(key: str, name: Any) -> None:
    """Raise `GridError` for a name that is no scheduler, engine or workload."""
    members = members_of(key)
    if name not in members:
        raise GridError(
            f"{key}={name}: unknown{nearest(str(name), members)}; allowed is one of "
            + ", ".join(sorted(members))
        )


def no_values(where: str) -> GridError:
    """Return the error for an axis without values."""
    return GridError(f"{where}: an empty list makes no grid; give at least one value")


def checked_axes(
    grid: Grid,
) -> tuple[dict[str, list[Any] | Interval], dict[str, int]]:
    """Return the axes in their declared types without repeated values, and how many those were."""
    axes: dict[str, list[Any] | Interval] = {}
    repeated: dict[str, int] = {}
    in_step = {key for keys in grid.shape.zipped for key in keys}
    for key, values in grid.axes.items():
        if isinstance(values, Interval):
            axes[key] = _checked_interval(key, values)
            continue
        if not values:
            raise no_values(key)
        checked = [_check_value(key, value) for value in values]
        distinct = checked if key in in_step else list(dict.fromkeys(checked))
        axes[key] = distinct
        if len(distinct) < len(checked):
            repeated[key] = len(checked) - len(distinct)
    return axes, repeated


def _check_value(key: str, value: Any) -> Value:
    if members_of(key):
        check_member(key, value)
        return str(value)
    return _check_somewhere(key, value)


def _checked_interval(key: str, interval: Interval) -> Interval:
    kinds = {parameter.kind for parameter in declarations().get(key, ())}
    if not kinds or not kinds <= {int, float}:
        raise GridError(f"{key}={interval}: only a number has an interval; write {key}=a,b")
    if not interval.low < interval.high or (interval.log and interval.low <= 0):
        raise GridError(
            f"{key}={interval}: an interval must end above its start; a log interval must start "
            "above 0"
        )
    for end in (interval.low, interval.high):
        _check_somewhere(key, end)
    return replace(interval, whole=kinds == {int})


def _check_somewhere(key: str, value: Any) -> Value:
    """Check a value by any declaration of its key that allows it.

    Workloads may declare one key with different ranges: each point checks its value again.
    """
    *others, last = declarations()[key]
    for parameter in others:
        try:
            return parameter.check(value)
        except ParameterError:
            continue
    return last.check(value)


@cache
def declarations() -> dict[str, list[Parameter]]:
    """Return every declaration of every key that can be an axis."""
    declared = {
        key: list(dict.fromkeys(d.parameter for d in of_key))
        for key, of_key in keys.declarations().items()
    }
    return {"seed": [SEED], **declared}
