"""What is printed at the end: the table, what failed, and how to go on."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

from core import registry
from core.errors import StoreError
from sweep.plan import Index, Plan
from sweep.store import read_results
from sweep.table import BEST, WORST, print_failures, print_table

MOST_ROWS = 1000
"""Points of which a table is made; of more, those of the best lines and of the worst."""

Row = dict[str, Any]
Means = npt.NDArray[np.float64]


def report(plan: Plan, directory: str, command: Sequence[str], console: Console) -> int:
    """Print the table, the failures and where the dataset lies; return how many points failed."""
    ok, failed, mean = _outcomes(plan, directory)
    shown, lines = (ok, None) if len(ok) <= MOST_ROWS else _best_and_worst(plan, ok, mean)
    rows = _rows(plan, directory, [*shown.tolist(), *failed[:MOST_ROWS].tolist()])
    if done := [row for row in rows if row["status"] == "ok"]:
        print_table(done, console, of=lines)
    if len(failed):
        print_failures([row for row in rows if row["status"] != "ok"], console)
        if len(failed) > MOST_ROWS:
            console.print(f"and {len(failed) - MOST_ROWS} more; the dataset has all")
        print_again("to run only the failed points again:", command, directory, console, True)
    console.print(f"dataset: {directory}", markup=False, soft_wrap=True)
    return len(failed)


def print_again(
    what: str, command: Sequence[str], directory: str, console: Console, retry: bool = False
) -> None:
    """Print the command that goes on with a dataset, in one line to copy."""
    own = ("output.dir=", "sweep.retry_failed=")
    words = [word for word in command if not word.lstrip("+").startswith(own)]
    words += [f"output.dir={_quoted(directory)}", *["sweep.retry_failed=true"] * retry]
    console.print(f"{what} {shlex.join(words)}", markup=False, soft_wrap=True)


def _quoted(value: str) -> str:
    """Quote a value for Hydra's grammar unless it is plain."""
    plain = all(c.isalnum() or c in "/._-" for c in value)
    return value if plain else '"' + value.replace('"', '\\"') + '"'


def _outcomes(plan: Plan, directory: str) -> tuple[Index, Index, Means]:
    """Return the places of the points that are ok, of those that are not, and all mean CCTs [s].

    A point counts by its newest row.
    """
    known = np.zeros(len(plan.points), np.int8)
    mean = np.full(len(plan.points), np.inf)
    try:
        for rows in read_results(directory, columns=["point_id", "status", "mean_cct_s"]):
            for row in rows:
                place = plan.points.place(row["point_id"])
                if place is not None and not known[place]:
                    known[place] = 1 if row["status"] == "ok" else -1
                    if row["mean_cct_s"] is not None:
                        mean[place] = row["mean_cct_s"]
    except StoreError:  # nothing is finished, or it cannot be read: the run has said so
        pass
    return np.flatnonzero(known == 1), np.flatnonzero(known == -1), mean


def _best_and_worst(plan: Plan, ok: Index, mean: Means) -> tuple[Index, int]:
    """Return the places of the points of the lines to show, and how many lines there are.

    A line is a point, or the mean over its replicates and seeds. The first of the grid is one of
    those shown: the others are compared with it.
    """
    line = plan.lines()[ok]
    names, number = np.unique(line, return_inverse=True)
    means = np.bincount(number, mean[ok]) / np.bincount(number)
    ranked = np.argsort(means, kind="stable")
    shown = np.unique([number[0], *ranked[:BEST], *ranked[-WORST:]])
    return ok[np.isin(number, shown)], len(names)


def _rows(plan: Plan, directory: str, places: Collection[int]) -> list[Row]:
    """Return the newest row of some points, in the order of the grid."""
    found: dict[int, Row] = {}
    wanted = {plan.points.name(place): place for place in places}
    unread = dict.fromkeys(p.column for p in registry.parameters().values())
    try:
        for rows in read_results(directory, ids=wanted):
            for row in rows:
                name = row["point_id"]
                shown = plan.points[name].shown()
                found.setdefault(wanted[name], row | unread | shown)
    except StoreError:
        pass
    return [found[place] for place in sorted(found)]
