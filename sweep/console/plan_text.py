"""A plan in words: axes, rows, points, why rows are one point, how long it may take."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from core.errors import StoreError
from core.keys import KIND
from sweep.console.phrases import count, duration
from sweep.grid.axes import Interval
from sweep.grid.combinations import count_combinations
from sweep.grid.options import REPLICATES
from sweep.grid.plan import Plan
from sweep.grid.point import Kind
from sweep.store import read_results
from sweep.store.row_values import value_text

_ENOUGH = 5000
"""Rows of an earlier sweep that suffice for an estimate."""

MOST_VALUES = 20
"""Values of an axis up to which all are listed."""


def describe(plan: Plan, console: Console) -> None:
    """Print axes, grid rows and unique points, and why rows share a point."""

    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    fixed = []
    for key, values in plan.axes.items():
        if isinstance(values, Interval):
            say(f"  {key}: {values}")
        elif len(values) > 1:
            say(f"  {key}: {_listed(values)}")
        else:
            fixed.append(f"{key}={value_text(values[0])}")
    fixed += _of_files(plan)
    for keys in plan.shape.zipped:
        say(f"  in step: {', '.join(keys)}")
    for key, number in plan.repeated.items():
        say(f"  {key}: {count(number, 'repeated value')} left out")
    if fixed:
        say(f"  {' '.join(fixed)}")
    rows, points = len(plan.rows), len(plan.points)
    every = count_combinations(plan.axes, plan.shape)
    parts = []
    if plan.shape.sample is not None:
        parts.append(f"{count(plan.shape.sample, 'draw')} ({plan.shape.method})")
    elif every != rows:
        parts.append(count(every, "combination"))
    replicates = " with replicates" if rows != plan.combinations else ""
    where = f" where {plan.shape.filter}" if plan.shape.filter is not None else ""
    parts.append(f"{count(rows, 'grid row')}{replicates}{where}")
    say(f"{', '.join(parts)}: {count(points, 'unique point')}")
    if points < rows:
        reasons = plan.unread()
        verb = "shares" if rows - points == 1 else "share"
        say(f"{count(rows - points, 'row')} {verb} a run with another row" + ":" * bool(reasons))
        for reason in reasons:
            say(f"  {reason}")


def _of_files(plan: Plan) -> list[str]:
    """Return ``key=value`` for what is set outside the axes, as in a configuration file."""
    grid = plan.table.resolver.grid
    values: dict[str, dict[str, None]] = {}
    for base in grid.bases.values():
        for key in sorted((grid.requested - plan.axes.keys() - {"replicates"}) & base.keys()):
            if base[key] is not None:
                values.setdefault(key, {})[value_text(base[key])] = None
    if grid.replicates != REPLICATES.default:
        values["replicates"] = {str(grid.replicates): None}
    return [f"{key}={' or '.join(of_key)}" for key, of_key in values.items()]


def _listed(values: Sequence[Any]) -> str:
    """Return the values of an axis; if they are many, the first and the last."""
    if len(values) <= MOST_VALUES:
        return ", ".join(map(value_text, values))
    first, last = ", ".join(map(value_text, values[:3])), value_text(values[-1])
    return f"{first}, … {last} ({len(values)} values)"


def estimate(plan: Plan, directory: str, workers: int, console: Console) -> None:
    """Print how long the points may take, by those of an earlier sweep.

    Parameters
    ----------
    plan : Plan
    directory : str
        Dataset of the earlier sweep; the time of a kind that it lacks is unknown.
    workers : int
    console : Console
    """
    kinds = plan.points.without(()).kinds()
    seconds = _seconds(directory)
    total = sum(number * seconds[kind] for kind, number in kinds.items() if kind in seconds)
    lacking = [" ".join(kind) for kind in kinds if kind not in seconds]
    texts = []
    if len(lacking) < len(kinds):
        time = duration(total / workers)
        texts.append(f"about {time} on {count(workers, 'worker')}, going by {directory}")
    if lacking:
        others = ", …" if len(lacking) > 3 else ""
        texts.append(
            f"unknown for {', '.join(lacking[:3])}{others}: {directory} has no such points"
        )
    console.print(f"time: {'; '.join(texts)}", markup=False, soft_wrap=True)


def _seconds(directory: str) -> Mapping[Kind, float]:
    """Return the mean time of a point of each kind in a dataset [s]."""
    times: defaultdict[Kind, list[float]] = defaultdict(list)
    seen = 0
    try:
        for rows in read_results(directory):
            for row in rows:
                if row["wall_s"] is not None:
                    times[Kind(*(row[name] for name in KIND))].append(row["wall_s"])
            if (seen := seen + len(rows)) >= _ENOUGH:
                break
    except StoreError:  # of another version: no estimate
        pass
    return {kind: math.fsum(of_kind) / len(of_kind) for kind, of_kind in times.items()}
