"""The end of a sweep: the table of results, the failures, and the command that goes on."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

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
from sweep.store.row_values import NULL
from sweep.store.schema import Row

MOST_ROWS = 1000
"""Points that a table is made of; with more points, those of the best and the worst lines."""

Means = npt.NDArray[np.float64]


@dataclass
class _Outcomes:
    """How the points of a plan ended, by their index in it; a point counts by its newest row."""

    ok: Index
    failed: Index
    mean: Means
    """Mean CCT of every point [s]; infinite without one."""
    messages: Counter[str]
    """Failed points by message."""
    examples: dict[str, int]
    """A failed point by message."""


def print_summary(plan: Plan, directory: str, command: Sequence[str], console: Console) -> int:
    """Print the table, the failures and the dataset's directory; return how many points failed."""
    outcomes = _outcomes(plan, directory)
    shown, lines = _shown(plan, outcomes.ok, outcomes.mean)
    failures = {*outcomes.failed[:MOST_ROWS].tolist(), *outcomes.examples.values()}
    rows = _rows(plan, directory, [*shown.tolist(), *failures])
    if done := [row for row in rows if row["status"] == "ok"]:
        print_table(done, console, of=lines)
    if failed := [row for row in rows if row["status"] != "ok"]:
        axes = [column_of(key) for key, values in plan.axes.items() if several(values)]
        print_failures(
            failed,
            console,
            of=len(outcomes.ok) + len(outcomes.failed),
            counts=outcomes.messages,
            axes=[name for name in axes if name != "scheduler"],
        )
        print_again("to run only the failed points again:", command, directory, console, True)
        if any(row["status"] == "timeout" for row in failed):
            console.print("points that timed out will time out again; raise sweep.timeout_s")
    console.print(f"dataset: {directory}", markup=False, soft_wrap=True)
    return len(outcomes.failed)


def print_again(
    text: str, command: Sequence[str], directory: str, console: Console, retry: bool = False
) -> None:
    """Print the command that continues with a dataset, in one line to copy."""
    replaced = ("output.dir=", "sweep.retry_failed=")
    words = [word for word in command if not word.lstrip("+").startswith(replaced)]
    words += [f"output.dir={_quoted(directory)}", *["sweep.retry_failed=true"] * retry]
    console.print(f"{text} {shlex.join(words)}", markup=False, soft_wrap=True)


def _quoted(value: str) -> str:
    """Quote a value for Hydra's grammar unless it is plain.

    Backslashes count only before a quotation mark or a reference, and are doubled there.
    """
    if value.startswith("~"):  # the name of a directory, not a home
        value = f"./{value}"
    if value.isascii() and all(c.isalnum() or c in "/._-" for c in value):
        return value
    value = re.sub(r"(\\*)\$\{", lambda m: 2 * m[1] + "\\${", value)
    return '"' + re.sub(r'(\\*)("|\Z)', lambda m: 2 * m[1] + ('\\"' if m[2] else ""), value) + '"'


def _outcomes(plan: Plan, directory: str) -> _Outcomes:
    status = np.zeros(len(plan.points), np.int8)  # 1: ok, −1: failed
    mean = np.full(len(plan.points), np.inf)
    messages: Counter[str] = Counter()
    examples: dict[str, int] = {}
    columns = ["point_id", "status", "mean_cct_s", "error"]
    try:
        for rows in read_results(directory, columns=columns):
            for row in rows:
                index = plan.points.index_of(row["point_id"])
                if index is None or status[index]:
                    continue
                status[index] = 1 if row["status"] == "ok" else -1
                if row["mean_cct_s"] is not None:
                    mean[index] = row["mean_cct_s"]
                if row["status"] != "ok":
                    message = message_of(row)
                    messages[message] += 1
                    if len(examples) < MOST_ROWS:
                        examples.setdefault(message, index)
    except StoreError:  # nothing is finished, or it cannot be read: the run has printed why
        pass
    ok, failed = np.flatnonzero(status == 1), np.flatnonzero(status == -1)
    return _Outcomes(ok, failed, mean, messages, examples)


def _shown(plan: Plan, ok: Index, mean: Means) -> tuple[Index, int | None]:
    """Return the points of the lines to show, and the number of lines if not all are shown.

    A line is a point, or the mean over its replicates and seeds. Besides the best and the worst
    lines, the first line of the grid is shown, and the first one of each context that is shown:
    the others are compared with it.
    """
    if len(ok) <= MOST_ROWS:
        return ok, None
    line, context = plan.lines(is_context)
    names, first, number = np.unique(line[ok], return_index=True, return_inverse=True)
    if len(names) <= MOST_LINES:
        return ok, None
    means = np.bincount(number, mean[ok]) / np.bincount(number)
    ranked = np.argsort(means, kind="stable")
    shown = np.array([number[0], *ranked[:BEST], *ranked[BEST:][-WORST:]])
    context = context[ok]
    for number_of_context in np.unique(context[first[shown]]):
        shown = np.append(shown, number[np.argmax(context == number_of_context)])
    return ok[np.isin(number, shown)], len(names)


def _rows(plan: Plan, directory: str, points: Collection[int]) -> list[Row]:
    """Return the newest row of some points, in the order of the grid."""
    newest: dict[int, Row] = {}
    index_by_id = {plan.points.name(index): index for index in points}
    unread = dict.fromkeys(p.column for p in parameters().values())
    try:
        for rows in read_results(directory, ids=index_by_id):
            for row in rows:
                name = row["point_id"]
                point = plan.points[name]
                # A key that is read and has no value is told from one that is not read.
                nulls = {column_of(k): NULL for k, v in point.values.items() if v is None}
                newest.setdefault(index_by_id[name], row | unread | point.columns() | nulls)
    except StoreError:
        pass
    return [newest[index] for index in sorted(newest)]
