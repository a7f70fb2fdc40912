"""The table of failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from sweep.console.fitted_table import Column, FittedTable
from sweep.store.row_values import assignments, parameter_columns, varying_columns
from sweep.store.schema import Row

MOST_FAILURES = 20


def failures_table(
    rows: Sequence[Row],
    *,
    of: int | None = None,
    counts: Counter[str] | None = None,
    axes: Sequence[str] = (),
) -> FittedTable:
    """Return the table of the points that are not ok; by message where there are many.

    Parameters
    ----------
    rows : sequence of mapping of str to value
        Rows of results by column; with many failures, some of each message suffice.
    of : int, optional
        Points of the sweep, failed or not; by default those in `rows`.
    counts : Counter, optional
        Failed points by message, if `rows` does not have all of them.
    axes : sequence of str
        Columns that tell points apart, besides those that vary in `rows`.
    """
    failed = [row for row in rows if row["status"] != "ok"]
    candidates = ("engine", "workload", *parameter_columns(rows), "replicate")
    telling = {*varying_columns(rows, candidates), *axes}
    varying = [name for name in dict.fromkeys((*candidates, *axes)) if name in telling]

    def point(row: Row) -> str:
        return " ".join([str(row["scheduler"]), *assignments(row, varying)])

    if not failed:
        return FittedTable(["no point failed"], [])
    messages = [message_of(row) for row in failed]
    count = Counter(messages) if counts is None else counts
    total = sum(count.values())
    below = []
    if many := total > MOST_FAILURES:
        first = {message: row for row, message in reversed([*zip(failed, messages, strict=True)])}
        messages = [message for message, _ in count.most_common(MOST_FAILURES) if message in first]
        failed = [first[message] for message in messages]
        if len(count) > len(messages):
            below = [f"{len(count) - len(messages)} more messages; the dataset has all"]
    columns = [
        Column("point_id", [str(row["point_id"]) for row in failed]),
        Column("point", [point(row) for row in failed], number=False),
        Column("status", [str(row["status"]) for row in failed], number=False),
        Column("message", messages, number=False),
    ]
    above = f"{total} of {of or len(rows)} points failed"
    if many:
        columns.insert(0, Column("points", [str(count[message]) for message in messages]))
        above += "; by message, with the first point of each"
    return FittedTable([above], columns, below)


def print_failures(rows: Sequence[Row], console: Console, **options: Any) -> None:
    """Print `failures_table`."""
    console.print(failures_table(rows, **options), crop=False)


def message_of(row: Row) -> str:
    """Return the first line of a row's message."""
    lines = str(row.get("error") or "").strip().splitlines()
    return lines[0] if lines else "(no message)"
