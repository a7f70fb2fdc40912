"""What is printed at the end: the table, what failed, and how to go on."""

from __future__ import annotations

import heapq
import math
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import Console

from core import registry
from core.errors import StoreError
from sweep.plan import Plan
from sweep.store import read_results
from sweep.table import print_failures, print_table

MOST_ROWS = 1000
"""Points of which a table is made; of more, the best and the worst."""
BEST, WORST = 20, 5

Row = dict[str, Any]


def report(plan: Plan, directory: str, command: Sequence[str], console: Console) -> int:
    """Print the table, the failures and where the dataset lies; return how many points failed."""
    failed: list[Row] = []
    count = {"ok": 0, "failed": 0}

    def ok(rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            count["ok" if row["status"] == "ok" else "failed"] += 1
            if row["status"] == "ok":
                yield row
            elif len(failed) < MOST_ROWS:
                failed.append(row)

    done = ok(_rows(plan, directory))
    few = len(plan.points) <= MOST_ROWS
    shown = _in_order(plan, done) if few else _best_and_worst(done)
    if shown:
        if not few:
            console.print(
                f"of {count['ok']} points the {BEST} best and {WORST} worst by mean CCT, each "
                "replicate by itself; the dataset has all",
                markup=False,
            )
        print_table(shown, console)
    if failed:
        print_failures(_in_order(plan, failed), console)
        if count["failed"] > len(failed):
            console.print(f"and {count['failed'] - len(failed)} more; the dataset has all")
        print_again("to run only the failed points again:", command, directory, console, True)
    console.print(f"dataset: {directory}", markup=False, soft_wrap=True)
    return count["failed"]


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


def _rows(plan: Plan, directory: str) -> Iterator[Row]:
    """Yield the newest row of every point of the plan, in no particular order."""
    seen: set[str] = set()
    unread = dict.fromkeys(p.column for p in registry.parameters().values())
    try:
        for rows in read_results(directory):
            for row in rows:
                name = row["point_id"]
                if name in plan.points and name not in seen:
                    seen.add(name)
                    yield row | unread | plan.points[name].shown()
    except StoreError:  # nothing is finished, or it cannot be read: the run has said so
        return


def _in_order(plan: Plan, rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: plan.points.place(row["point_id"]) or 0)


def _best_and_worst(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with the smallest and the largest mean CCT, sorted; holds no others."""
    best: list[tuple[float, int, Row]] = []
    worst: list[tuple[float, int, Row]] = []
    for k, row in enumerate(rows):
        mean = math.inf if row["mean_cct_s"] is None else row["mean_cct_s"]
        for heap, most, key in ((best, BEST, -mean), (worst, WORST, mean)):
            heapq.heappush(heap, (key, -k, row))
            if len(heap) > most:
                heapq.heappop(heap)
    sorted_best = sorted(best, key=lambda item: -item[0])
    return [row for *_, row in sorted_best] + [row for *_, row in sorted(worst)]
