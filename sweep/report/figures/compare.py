"""Two runs, setting by setting."""

from __future__ import annotations

import pandas as pd

from core.keys import REPEATS
from sweep.report.averages import measures_in, plain
from sweep.report.data import RUN, ReportData
from sweep.report.drawing.chart import Chart, both_scales, columns_before
from sweep.report.figures._base import Figure, NothingToDrawError

MOST = 8
"""Metrics that are compared."""


def table(data: ReportData) -> pd.DataFrame:
    """One row per metric and pair of points, one of each run, with the same parameters."""
    if RUN not in data.grid:
        raise NothingToDrawError("the report has one run: name two datasets to compare them")
    points = data.points
    names = [run.name for run in data.runs]
    keys = [n for n in (*data.parameters, *REPEATS) if n in points and n != RUN]
    match = points[keys].map(plain).agg("\0".join, axis=1)
    sides = [points[points[RUN] == name].assign(match=match) for name in names]
    both = sides[0].merge(sides[1], on="match", suffixes=("", "_b"))
    if not len(both):
        raise NothingToDrawError(
            "no point of one run has the parameters and seeds of a point of the other"
        )
    by = [n for n in (*data.context, *data.knobs) if n != RUN]
    shown = [n for n in (*dict.fromkeys(["scheduler", *by]), "replicate") if n in both]
    rows = []
    for name in measures_in(points)[:MOST]:
        one, other = both[name], both[f"{name}_b"]
        change = (other / one - 1).where(one != 0)
        about = both[[*shown, "point_id"]].assign(metric=name, a=one, b=other, change=change)
        rows.append(about.assign(same_point=both["point_id"] == both["point_id_b"]))
    return pd.concat(rows, ignore_index=True)


def chart(table: pd.DataFrame) -> Chart:
    """Draw a point a pair; on the line both runs agree."""
    return Chart(
        "points",
        x=both_scales("a", "first run", of="metric"),
        y=both_scales("b", "second run", of="metric"),
        colour="scheduler",
        select=("metric",),
        hover=(*columns_before(table, "metric"), "change"),
        diagonal=True,
        note="Each mark is a point with the same parameters and seeds in both runs; the line is "
        "x = y. same_point: engine version and workload are the same too.",
    )


FIGURE = Figure("compare", "Two runs compared", 5, table, chart)
