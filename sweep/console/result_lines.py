"""The lines of the table of results: points averaged over their replicates, and compared."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.keys import REPEATS, is_context
from core.metrics import METRICS, SHUFFLE_METRICS
from core.statistics import gap, half_width, mean, percent
from sweep.store.row_values import assignments, value_of, varying_columns
from sweep.store.schema import Row

_AVERAGED = tuple(metric.name for metric in (*METRICS, *SHUFFLE_METRICS) if metric.name != "gap")


@dataclass(frozen=True)
class Line:
    """A point, or a setting averaged over its replicates."""

    scheduler: str
    values: Mapping[str, Any]
    """Engine, workload and parameters, by column; None for one that the point does not read."""
    metrics: Mapping[str, float | None]
    n: int
    half_width: float | None
    """Half the 95 % interval of the mean CCT [s]."""
    repeats: frozenset[tuple[Any, ...]] = field(repr=False)
    """Replicates and seeds that are in the mean."""

    @property
    def row(self) -> Row:
        """Names and parameters, by column."""
        return {"scheduler": self.scheduler, **self.values}

    @property
    def mean(self) -> float:
        """Mean CCT [s]; infinite without one."""
        value = self.metrics["mean_cct_s"]
        return math.inf if value is None else value

    @property
    def context(self) -> tuple[Any, ...]:
        """Workload, engine, fabric and shuffle."""
        return tuple(value for name, value in self.values.items() if is_context(name))


def result_lines(rows: Sequence[Row], parameters: Sequence[str]) -> list[Line]:
    """Return the lines of the points that are ok, in the order of the grid.

    Parameters
    ----------
    rows : sequence of mapping of str to value
        Rows of results by column, one a unique point.
    parameters : sequence of str
        Columns in which the points of a line are the same.
    """
    names = ("engine", "workload", *parameters)
    grouped: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row["status"] == "ok":
            grouped[(row["scheduler"], *(value_of(row, name) for name in names))].append(row)
    return [
        Line(
            scheduler=str(scheduler),
            values=dict(zip(names, values, strict=True)),
            metrics={name: mean(value_of(row, name) for row in group) for name in _AVERAGED}
            | {"gap": _gap(group)},
            n=len(group),
            half_width=half_width(
                [value for row in group if (value := value_of(row, "mean_cct_s")) is not None]
            ),
            repeats=frozenset(tuple(value_of(row, name) for name in REPEATS) for row in group),
        )
        for (scheduler, *values), group in grouped.items()
    ]


def _gap(rows: Sequence[Row]) -> float | None:
    """Return how far the mean over replicates is from the mean of their bounds."""
    bounded = [row for row in rows if value_of(row, "gap") is not None]
    return gap(
        math.fsum(row["mean_cct_s"] for row in bounded),
        math.fsum(row["bound_s"] for row in bounded),
    )


def comparable(lines: Sequence[Line]) -> dict[tuple[Any, ...], list[Line]]:
    """Return the lines that are compared, in groups: of one context, over the same replicates."""
    groups: defaultdict[tuple[Any, ...], list[Line]] = defaultdict(list)
    for line in lines:
        groups[line.repeats, line.context].append(line)
    return groups


def improvements(
    lines: Sequence[Line], varying: Sequence[str], *, complete: bool
) -> tuple[list[str], str]:
    """Return how much each line improves, (slow − fast) / slow, and what the baselines are.

    Of two comparable lines, the faster one shows its improvement over the slower one. With more,
    every line is compared with the first of the grid, and a minus sign marks the slower ones.

    Parameters
    ----------
    lines : sequence of Line
    varying : sequence of str
        Columns that tell lines apart.
    complete : bool
        These are all lines of the sweep; only then a line is known by its scheduler alone.

    Returns
    -------
    texts : list of str
        One a line.
    note : str
        Names the baselines; empty where the texts do.
    """
    groups = comparable(lines)
    texts: list[str] = []
    baselines: dict[str, None] = {}
    for line in lines:
        group = groups[line.repeats, line.context]
        if len(group) == 2 and complete:
            slow = max(group, key=lambda other: other.mean)
            gain = _gain(slow, line)
            over = f" over {_name(slow, group, varying)}"
            texts.append("–" if line is slow or gain is None else f"{percent(gain)}{over}")
        else:
            gain = _gain(group[0], line)
            texts.append("–" if line is group[0] or gain is None else percent(gain))
            if len(group) > (2 if complete else 1) and line is group[0]:
                baselines[_name(line, group if complete else None, varying)] = None
    over = " or ".join(list(baselines)[:3])
    return texts, f"improvement: (slow − fast) / slow of the mean, over {over}" if baselines else ""


def have_other_replicates(lines: Sequence[Line]) -> bool:
    """Return whether lines of one context are averaged over different replicates."""
    repeats: dict[tuple[Any, ...], frozenset[tuple[Any, ...]]] = {}
    return any(repeats.setdefault(line.context, line.repeats) != line.repeats for line in lines)


def _gain(base: Line, line: Line) -> float | None:
    """Return (slow − fast) / slow; negative if the line is the slower one."""
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
