"""The table of results: which lines, what is averaged, what is compared."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from core.keys import REPEATS
from sweep.console.fitted_table import Column, FittedTable
from sweep.console.metric_columns import DROPPED_FIRST, metric_columns, parameter_column
from sweep.console.result_lines import (
    Line,
    comparable,
    have_other_replicates,
    improvements,
    result_lines,
)
from sweep.store.row_values import (
    assignments,
    is_default,
    parameter_columns,
    varying_columns,
)
from sweep.store.schema import Row

BEST, WORST = 20, 5
MOST_LINES = 40
MOST_UNLIKE = 200
"""Lines of several contexts, which have no order of merit."""


def closing_table(rows: Sequence[Row], of: int | None = None) -> FittedTable:
    """Return the table of the points that are ok, for rich.

    Parameters
    ----------
    rows : sequence of mapping of str to value
        Rows of results by column, one a unique point, in the order of the grid.
    of : int, optional
        Lines of the whole sweep, if `rows` has only those of the first, the best and the worst.

    Notes
    -----
    One line a point; rows that differ only in `REPEATS` are averaged into one. Above the table are
    the keys that are the same in all lines and not the default. The improvement of a line is
    (slow − fast) / slow of the mean CCT, among lines of one context with the same replicates: with
    two lines, the faster one shows it; with more, every line is compared with the first.
    """
    parameters = parameter_columns(rows)
    lines = result_lines(rows, parameters)
    varying = [
        name
        for name in varying_columns([x.values for x in lines], ("engine", "workload", *parameters))
        if not all(is_default(line.row, name) for line in lines)
    ]
    improvement, over = improvements(lines, varying, complete=of is None)
    order = list(range(len(lines)))
    below, best = [], list[int]()
    every = of or len(lines)
    most = MOST_LINES if len(comparable(lines)) < 2 else MOST_UNLIKE
    if many := of is not None or len(lines) > most:
        ranked = sorted(order, key=lambda k: lines[k].mean)
        best = [0, *(k for k in ranked[:BEST] if k)]
        order = best + [k for k in ranked[BEST:][-WORST:] if k]
        below.append(
            f"{every - len(order)} of {every} lines left out: these are the first, the {BEST} best "
            f"and the {WORST} worst by mean CCT; the dataset has all of them"
        )
    shown = [lines[k] for k in order]
    below += _notes(shown)
    columns = [
        Column("scheduler", [line.scheduler for line in shown], number=False),
        *(parameter_column(name, shown) for name in varying),
        *metric_columns(shown),
        Column("improvement", [improvement[k] for k in order], number=False),
    ]
    return FittedTable(
        above=[_same_everywhere(rows, lines, varying) if lines else "no point is finished"]
        + [over] * bool(over),
        columns=columns,
        below=below,
        dropped_first=DROPPED_FIRST,
        rule_after=len(best) if many else None,
    )


def print_table(rows: Sequence[Row], console: Console, of: int | None = None) -> None:
    """Print `closing_table`."""
    console.print(closing_table(rows, of), crop=False)


def _notes(lines: Sequence[Line]) -> list[str]:
    """Return what a reader of these lines has to know, one text a line."""
    notes = []
    if any(line.n > 1 for line in lines):
        notes.append("± is half the 95 % interval of the mean over n replicates")
    if have_other_replicates(lines):
        notes.append(
            "some means are over other replicates, as points failed, have not run or read other "
            "seeds; lines are compared only over the same ones"
        )
    if any(line.metrics["gap"] is not None for line in lines):
        notes.append("gap: mean / (a lower bound that no scheduler can beat) − 1")
    if any(line.metrics["predicted_fos"] is not None for line in lines):
        notes.append("predicted FoS: what the noise of the sample alone leaves; skew adds to it")
    return notes


def _same_everywhere(rows: Sequence[Row], lines: Sequence[Line], varying: Sequence[str]) -> str:
    values = [line.values for line in lines]
    same = []
    for name in ("workload", "engine", *(n for n in values[0] if n not in ("workload", "engine"))):
        if name not in varying and not all(is_default(line.row, name) for line in lines):
            same += next((text for v in values if (text := assignments(v, [name]))), [])
    done = [row for row in rows if row["status"] == "ok"]
    for name in REPEATS[1:]:
        if not varying_columns(done, [name]):
            same += next((text for row in done if (text := assignments(row, [name]))), [])
    return " ".join(["CCT in ms:", *same]) + "; other keys: defaults"
