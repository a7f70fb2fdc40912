"""What came out: which lines, what is averaged, what is compared."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from core.keys import REPEATS, is_context, key_of
from core.statistics import gap, half_width, mean, percent
from core.trace import BINS
from sweep.console.fitted_table import Column, FittedTable
from sweep.store.row_values import (
    Row,
    assignments,
    is_default,
    parameter_columns,
    shown_value,
    value_of,
    varying_columns,
)

BEST, WORST = 20, 5
_AUTO = "auto"
MOST_LINES = 40
MOST_UNLIKE = 200
"""Lines under several conditions, which have no order of merit."""

_CCT = ("mean_cct_s", "p50_cct_s", "p95_cct_s", "max_cct_s")
_BINS = tuple(f"{b.lower()}_mean_cct_s" for b in BINS)
_SHUFFLE = {
    "FoS records": "fos_records",
    "FoS bytes": "fos_bytes",
    "max/mean": "max_over_mean",
    "fragments/key": "fragments_per_key",
    "predicted FoS": "predicted_fos",
    "sampled": "sampled_share",
}
_METRICS = (
    *("coflows", *_CCT, *_BINS, "share_below_1000s", "gap"),
    *(*_SHUFFLE.values(), "sample_cost_s", "mean_job_s"),
)
_DROPPED_FIRST = (
    *(BINS, ("< 10^6 ms",), ("p50",), ("max",), ("p95",), ("coflows",)),
    *(("FoS bytes",), ("predicted FoS",), ("max/mean",), ("fragments/key",), ("gap",)),
)


@dataclass(frozen=True)
class Line:
    """A point, or the mean over its replicates."""

    scheduler: str
    values: Mapping[str, Any]
    """Engine, workload and parameters, by column; None where the point does not read it."""
    metrics: Mapping[str, float | None]
    n: int
    half_width: float | None
    """Of the 95 % interval of the mean CCT [s]."""
    repeats: frozenset[tuple[Any, ...]] = field(repr=False)
    """Replicates and seeds that are in the mean."""

    @property
    def row(self) -> Row:
        """Names and parameters, by column."""
        return {"scheduler": self.scheduler, **self.values}

    @property
    def mean(self) -> float:
        """Mean CCT [s], infinite where there is none."""
        value = self.metrics["mean_cct_s"]
        return math.inf if value is None else value


def closing_table(rows: Sequence[Row], of: int | None = None) -> FittedTable:
    """Return the table of the points that are ok, for rich.

    Parameters
    ----------
    rows : sequence of mapping of str to value
        Rows of results by column, one a unique point, in the order of the grid.
    of : int, optional
        Lines that there are, where the rows are those of the first, the best and the worst.

    Notes
    -----
    One line a point; rows that differ only in `REPEATS` are averaged into one. What is the same
    in all lines, and not the default, stands above the table. The improvement of a line is
    (slow − fast) / slow of the mean CCT: of two lines that differ in nothing but the scheduler,
    the partitioner and their parameters the faster shows it, of more every line against the first.
    """
    parameters = parameter_columns(rows)
    lines = _lines(rows, parameters)
    varying = [
        name
        for name in varying_columns([x.values for x in lines], ("engine", "workload", *parameters))
        if not all(is_default(line.row, name) for line in lines)
    ]
    improvement, over = _improvements(lines, varying, alone=of is None)
    order = list(range(len(lines)))
    below, best = [], list[int]()
    every = of or len(lines)
    most = MOST_LINES if len(_conditions(lines)) < 2 else MOST_UNLIKE
    if many := of is not None or len(lines) > most:
        ranked = sorted(order, key=lambda k: lines[k].mean)
        best = [0, *(k for k in ranked[:BEST] if k)]
        order = best + [k for k in ranked[BEST:][-WORST:] if k]
        below.append(
            f"{every - len(order)} of {every} lines left out: these are the first, the {BEST} best "
            f"and the {WORST} worst by mean CCT; the dataset has all"
        )
    shown = [lines[k] for k in order]
    if any(line.n > 1 for line in shown):
        below.append("± is half the 95 % interval of the mean over n replicates")
    if any(line.metrics["gap"] is not None for line in shown):
        below.append("gap: mean / (a lower bound that no scheduler can beat) − 1")
    if any(line.metrics["predicted_fos"] is not None for line in shown):
        below.append("predicted FoS: what the noise of the sample alone leaves; skew adds to it")
    columns = [
        Column("scheduler", [line.scheduler for line in shown], number=False),
        *(_parameter_column(name, shown) for name in varying),
        *_metric_columns(shown),
        Column("improvement", [improvement[k] for k in order], number=False),
    ]
    return FittedTable(
        above=[_same_everywhere(rows, lines, varying) if lines else "no point is finished"]
        + [over] * bool(over),
        columns=columns,
        below=below,
        dropped_first=_DROPPED_FIRST,
        rule_after=len(best) if many else None,
    )


def print_table(rows: Sequence[Row], console: Console, of: int | None = None) -> None:
    """Print `closing_table`."""
    console.print(closing_table(rows, of), crop=False)


def _lines(rows: Sequence[Row], parameters: Sequence[str]) -> list[Line]:
    names = ("engine", "workload", *parameters)
    grouped: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row["status"] == "ok":
            grouped[(row["scheduler"], *(value_of(row, name) for name in names))].append(row)
    return [
        Line(
            scheduler=str(scheduler),
            values=dict(zip(names, values, strict=True)),
            metrics={name: mean(value_of(row, name) for row in same) for name in _METRICS}
            | {"gap": _gap(same)},
            n=len(same),
            half_width=half_width([v for r in same if (v := value_of(r, _CCT[0])) is not None]),
            repeats=frozenset(tuple(value_of(row, name) for name in REPEATS) for row in same),
        )
        for (scheduler, *values), same in grouped.items()
    ]


def _improvements(
    lines: Sequence[Line], varying: Sequence[str], *, alone: bool
) -> tuple[list[str], str]:
    """Return what each line gains, by (slow − fast) / slow, and over what.

    Of two lines that can be compared the faster shows its gain over the slower. Of more, all are
    compared with the first in the order of the grid; a minus sign marks the slower ones. A line
    is called by its scheduler only where these lines are `alone`.
    """
    groups = _conditions(lines)
    texts: list[str] = []
    baselines: dict[str, None] = {}
    for line in lines:
        group = groups[_condition(line)]
        if len(group) == 2 and alone:
            slow = max(group, key=lambda other: other.mean)
            gain = _gain(slow, line)
            over = f" over {_name(slow, group if alone else None, varying)}"
            texts.append("–" if line is slow or gain is None else f"{percent(gain)}{over}")
        else:
            gain = _gain(group[0], line)
            texts.append("–" if line is group[0] or gain is None else percent(gain))
            if len(group) > (2 if alone else 1) and line is group[0]:
                baselines[_name(line, group if alone else None, varying)] = None
    over = " or ".join(list(baselines)[:3])
    return texts, f"improvement: (slow − fast) / slow of the mean, over {over}" if baselines else ""


def _condition(line: Line) -> tuple[Any, ...]:
    """Return what two lines that can be compared have in common."""
    return (line.repeats, *(v for n, v in line.values.items() if is_context(n)))


def _conditions(lines: Sequence[Line]) -> dict[tuple[Any, ...], list[Line]]:
    groups: defaultdict[tuple[Any, ...], list[Line]] = defaultdict(list)
    for line in lines:
        groups[_condition(line)].append(line)
    return groups


def _gain(base: Line, line: Line) -> float | None:
    """Return (slow − fast) / slow, negative where the line is the slower one."""
    slow, fast = max(base.mean, line.mean), min(base.mean, line.mean)
    if not 0 < slow < math.inf:
        return None
    return math.copysign((slow - fast) / slow, base.mean - line.mean) if slow > fast else 0.0


def _name(line: Line, group: Sequence[Line] | None, varying: Sequence[str]) -> str:
    """Return the scheduler, with its parameters where the group has it several times."""
    if group is not None:
        namesakes = [other.values for other in group if other.scheduler == line.scheduler]
        varying = varying_columns(namesakes, varying)
    return " ".join([line.scheduler, *assignments(line.values, varying)])


def _parameter_column(name: str, lines: Sequence[Line]) -> Column:
    values = [line.values[name] for line in lines]
    is_number = all(v is None or isinstance(v, int | float) for v in values)
    return Column(key_of(name), [shown_value(v) for v in values], number=is_number)


def _metric_columns(lines: Sequence[Line]) -> list[Column]:
    def times(header: str, name: str, decimals: int | None = None) -> Column:
        return Column(header, _milliseconds([line.metrics[name] for line in lines], decimals))

    spread = []
    if any(line.n > 1 for line in lines):
        spread = [
            Column("±", _milliseconds([line.half_width for line in lines], 2)),
            Column("n", [str(line.n) for line in lines]),
        ]
    coflows = [line.metrics["coflows"] for line in lines]
    gaps = [line.metrics["gap"] for line in lines]
    if any(line.metrics["fos_records"] is not None for line in lines):
        details = _shuffle_columns(lines, times)
    else:
        shares = [line.metrics["share_below_1000s"] for line in lines]
        details = [
            *(times(header, f"{header}_cct_s") for header in ("p50", "p95", "max")),
            *(times(header, name) for header, name in zip(BINS, _BINS, strict=True)),
            _percent_column("< 10^6 ms", shares, 2),
        ]
    return [
        Column("coflows", ["–" if c is None else _spaced(c, 0) for c in coflows]),
        times("mean", "mean_cct_s", 2),
        *spread,
        *details,
        *([_percent_column("gap", gaps, 0)] if any(gap is not None for gap in gaps) else []),
    ]


def _shuffle_columns(lines: Sequence[Line], times: Callable[..., Column]) -> list[Column]:
    """Return how even the reducers are and what that took, in place of the spread of CCTs."""
    columns = [times("p95", "p95_cct_s"), times("job", "mean_job_s", 2)]
    if any(line.metrics["sample_cost_s"] for line in lines):
        columns.append(times("sampling", "sample_cost_s", 2))
    for header, name in _SHUFFLE.items():
        values = [line.metrics[name] for line in lines]
        if name != "sampled_share":
            columns.append(Column(header, ["–" if v is None else f"{v:.4f}" for v in values]))
        elif _AUTO in {line.values.get("shuffle_sampling_rate") for line in lines}:
            columns.append(_percent_column(header, values, 2))
    return columns


def _percent_column(header: str, shares: Sequence[float | None], decimals: int) -> Column:
    return Column(header, ["–" if s is None else percent(s, decimals) for s in shares])


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


def _gap(rows: Sequence[Row]) -> float | None:
    """Return how far the mean over replicates is from the mean of their bounds."""
    bounded = [row for row in rows if value_of(row, "gap") is not None]
    return gap(
        math.fsum(row["mean_cct_s"] for row in bounded),
        math.fsum(row["bound_s"] for row in bounded),
    )


def _milliseconds(seconds: Sequence[float | None], decimals: int | None = None) -> list[str]:
    """Return times in ms; with 2 decimals, or none where the column has large ones."""
    if decimals is None:
        decimals = 0 if any(s is not None and s >= 10 for s in seconds) else 2
    return ["–" if s is None else _spaced(1000 * s, decimals) for s in seconds]


def _spaced(number: float, decimals: int) -> str:
    return f"{number:,.{decimals}f}".replace(",", " ")
