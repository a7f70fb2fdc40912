"""What failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from sweep.table.report import Column, Report
from sweep.table.values import Row, assignments, parameter_columns, varying_columns

MOST_FAILURES = 20


def failures_table(rows: Sequence[Row]) -> Report:
    """Return the table of the points that are not ok; by message where there are many."""
    failed = [row for row in rows if row["status"] != "ok"]
    varying = varying_columns(rows, ("engine", "workload", *parameter_columns(rows), "replicate"))

    def point(row: Row) -> str:
        return " ".join([str(row["scheduler"]), *assignments(row, varying)])

    if not failed:
        return Report(["no point failed"], [])
    messages = [_message(row) for row in failed]
    count = Counter(messages)
    below = []
    if many := len(failed) > MOST_FAILURES:
        first = {message: row for row, message in reversed([*zip(failed, messages, strict=True)])}
        messages = [message for message, _ in count.most_common(MOST_FAILURES)]
        failed = [first[message] for message in messages]
        if len(count) > len(messages):
            below = [f"{len(count) - len(messages)} more messages; the dataset has all"]
    columns = [
        Column("point_id", [str(row["point_id"]) for row in failed]),
        Column("point", [point(row) for row in failed], number=False),
        Column("status", [str(row["status"]) for row in failed], number=False),
        Column("message", messages, number=False),
    ]
    total = sum(count.values())
    above = f"{total} of {len(rows)} points failed"
    if many:
        columns.insert(0, Column("points", [str(count[message]) for message in messages]))
        above += "; by message, with the first point of each"
    return Report([above], columns, below)


def print_failures(rows: Sequence[Row], console: Console) -> None:
    """Print `failures_table`."""
    console.print(failures_table(rows), crop=False)


def _message(row: Row) -> str:
    lines = str(row.get("error") or "").strip().splitlines()
    return lines[0] if lines else "(no message)"
