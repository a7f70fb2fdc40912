"""Keys that are set and not read: an error that says which value would make a point read them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from core import registry
from core.errors import GridError
from core.keys import KIND
from core.parameters import Parameter, Value, when_read
from core.workloads import workloads
from sweep.grid.axes import Axes, Interval
from sweep.grid.grid import Grid, declarations, members_of
from sweep.grid.point import Kind


def check_all_read(grid: Grid, axes: Axes, kinds: Collection[Kind], keys: Collection[str]) -> None:
    """Raise `GridError` for a key that is set and that no point reads.

    Parameters
    ----------
    grid : Grid
    axes : mapping of str to sequence
        Checked.
    kinds : collection of Kind
        Of the grid's points.
    keys : collection of str
        Keys that some point reads.
    """
    for key in sorted(grid.requested - {*keys}):
        readers = _readers(key, grid, axes, kinds)
        advice = f"set that too, or leave {key} out" if readers else f"leave {key} out"
        only = f"; it is read only with {readers}" if readers else ""
        raise GridError(f"{key}: no point of this grid reads it{only}: {advice}")


def _readers(key: str, grid: Grid, axes: Axes, kinds: Collection[Kind]) -> str:
    """Return what would make a point of the grid read a key, as ``shuffle.source=table``."""
    if key in ("seed", "replicates"):
        seeded = ",".join(name for name, workload in workloads().items() if workload.seeded)
        return f"workload={seeded}, or another workload with a shuffle.partitioner"
    missing = [
        _unmet(parameter, _values(grid, axes, kind))
        for kind in kinds
        for parameter in _declared(key, kind)
    ]
    if missing:
        fewest = min(map(len, missing))
        texts = (when_read([parameter]) for parameter in _joined(missing, fewest))
        return " or ".join(dict.fromkeys(texts))
    names: dict[str, dict[str, None]] = {}
    for kind in kinds:
        for field in KIND:
            for name in members_of(field):
                if _declared(key, kind._replace(**{field: name})):
                    names.setdefault(field, {})[name] = None
    if names:
        return " or ".join(f"{field}={','.join(of_field)}" for field, of_field in names.items())
    return when_read(declarations().get(key, ()))


def _joined(
    missing: Iterable[tuple[tuple[str, tuple[Value, ...]], ...]], length: int
) -> Iterable[Parameter]:
    """Yield parameters whose conditions are the shortest lists of unmet ones."""
    for unmet in missing:
        if len(unmet) == length:
            yield Parameter("", str, None, "", when=unmet)


def _declared(key: str, kind: Kind) -> list[Parameter]:
    """Return the declarations of a key that points of a kind may read."""
    try:
        return [parameter for parameter in registry.reads(*kind) if parameter.key == key]
    except GridError:  # the engine cannot run the scheduler
        return []


def _unmet(
    parameter: Parameter, values: Mapping[str, Collection[Any]]
) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    """Return the conditions of a declaration that no value of the grid meets."""
    return tuple(
        (key, allowed)
        for key, allowed in parameter.when
        if not any(value in allowed for value in values.get(key, ()))
    )


def _values(grid: Grid, axes: Axes, kind: Kind) -> dict[str, Collection[Any]]:
    """Return the values that points of a kind have in this grid, by key."""
    base = grid.bases.get((kind.engine, kind.workload), {})
    values: dict[str, Collection[Any]] = {}
    for parameter in registry.reads(*kind):
        key = parameter.key
        of_key = axes.get(key, [base.get(key)])
        if not isinstance(of_key, Interval):
            values[key] = [parameter.default if v is None else v for v in of_key]
    return values
