"""What is printed at the end: the table, what failed, and how to go on."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

from core.errors import StoreError
from core.keys import is_context, parameters
from core.parameters import column_of
from sweep.console.closing_table import BEST, MOST_LINES, WORST, print_table
from sweep.console.failures_table import message_of, print_failures
from sweep.grid.axes import several
from sweep.grid.plan import Plan
from sweep.grid.table import Index
from sweep.store import read_results

MOST_ROWS = 1000
"""Points of which a table is made; of more, those of the best lines and of the worst."""

Row = dict[str, Any]
Means = npt.NDArray[np.float64]


@dataclass
class _Outcomes:
    """What came of the points of a plan, by their places; a point counts by its newest row."""

    ok: Index
    failed: Index
    mean: Means
    """Mean CCT of every point [s], infinite where there is none."""
    messages: Counter[str]
    examples: dict[str, int]
    """A point by message."""


def report(plan: Plan, directory: str, command: Sequence[str], console: Console) -> int:
    """Print the table, the failures and where the dataset lies; return how many points failed."""
    found = _outcomes(plan, directory)
    shown, lines = _shown(plan, found.ok, found.mean)
    wanted = {*found.failed[:MOST_ROWS].tolist(), *found.examples.values()}
    rows = _rows(plan, directory, [*shown.tolist(), *wanted])
    if done := [row for row in rows if row["status"] == "ok"]:
        print_table(done, console, of=lines)
    if failed := [row for row in rows if row["status"] != "ok"]:
        axes = [column_of(key) for key, values in plan.axes.items() if several(values)]
        print_failures(
            failed,
            console,
            of=len(found.ok) + len(found.failed),
            counts=found.messages,
            axes=[name for name in axes if name != "scheduler"],
        )
        print_again("to run only the failed points again:", command, directory, console, True)
        if any(row["status"] == "timeout" for row in failed):
            console.print("with the same sweep.timeout_s they end the same way: give them more")
    console.print(f"dataset: {directory}", markup=False, soft_wrap=True)
    return len(found.failed)


def print_again(
    what: str, command: Sequence[str], directory: str, console: Console, retry: bool = False
) -> None:
    """Print the command that goes on with a dataset, in one line to copy."""
    own = ("output.dir=", "sweep.retry_failed=")
    words = [word for word in command if not word.lstrip("+").startswith(own)]
    words += [f"output.dir={_quoted(directory)}", *["sweep.retry_failed=true"] * retry]
    console.print(f"{what} {shlex.join(words)}", markup=False, soft_wrap=True)


def _quoted(value: str) -> str:
    """Quote a value for Hydra's grammar unless it is plain.

    Backslashes count only before a quotation mark, and are doubled there.
    """
    if value.isascii() and all(c.isalnum() or c in "/._-" for c in value):
        return value
    return '"' + re.sub(r'(\\*)("|\Z)', lambda m: 2 * m[1] + ('\\"' if m[2] else ""), value) + '"'


def _outcomes(plan: Plan, directory: str) -> _Outcomes:
    known = np.zeros(len(plan.points), np.int8)
    mean = np.full(len(plan.points), np.inf)
    messages: Counter[str] = Counter()
    examples: dict[str, int] = {}
    columns = ["point_id", "status", "mean_cct_s", "error"]
    try:
        for rows in read_results(directory, columns=columns):
            for row in rows:
                place = plan.points.index_of(row["point_id"])
                if place is None or known[place]:
                    continue
                known[place] = 1 if row["status"] == "ok" else -1
                if row["mean_cct_s"] is not None:
                    mean[place] = row["mean_cct_s"]
                if row["status"] != "ok":
                    message = message_of(row)
                    messages[message] += 1
                    if len(examples) < MOST_ROWS:
                        examples.setdefault(message, place)
    except StoreError:  # nothing is finished, or it cannot be read: the run has said so
        pass
    ok, failed = np.flatnonzero(known == 1), np.flatnonzero(known == -1)
    return _Outcomes(ok, failed, mean, messages, examples)


def _shown(plan: Plan, ok: Index, mean: Means) -> tuple[Index, int | None]:
    """Return the places of the points of the lines to show, and of how many if not of all.

    A line is a point, or the mean over its replicates and seeds. Besides the best and the worst
    lines there are the first of the grid, and the first of their workload, engine, fabric and so
    on: those that they are compared with.
    """
    if len(ok) <= MOST_ROWS:
        return ok, None
    line, circumstances = plan.lines(is_context)
    names, first, number = np.unique(line[ok], return_index=True, return_inverse=True)
    if len(names) <= MOST_LINES:
        return ok, None
    means = np.bincount(number, mean[ok]) / np.bincount(number)
    ranked = np.argsort(means, kind="stable")
    shown = np.array([number[0], *ranked[:BEST], *ranked[BEST:][-WORST:]])
    here = circumstances[ok]
    for condition in np.unique(here[first[shown]]):
        shown = np.append(shown, number[np.argmax(here == condition)])
    return ok[np.isin(number, shown)], len(names)


def _rows(plan: Plan, directory: str, places: Collection[int]) -> list[Row]:
    """Return the newest row of some points, in the order of the grid."""
    found: dict[int, Row] = {}
    wanted = {plan.points.name(place): place for place in places}
    unread = dict.fromkeys(p.column for p in parameters().values())
    try:
        for rows in read_results(directory, ids=wanted):
            for row in rows:
                name = row["point_id"]
                shown = plan.points[name].shown()
                found.setdefault(wanted[name], row | unread | shown)
    except StoreError:
        pass
    return [found[place] for place in sorted(found)]
