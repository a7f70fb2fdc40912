"""Width against size of coflows on both sides: the shape of the workload."""

from __future__ import annotations

import pandas as pd

from core.keys import key_of
from sweep.report.averages import plain
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart
from sweep.report.figures._base import Figure
from sweep.report.figures._coflows import coflows_of, shown_points, thinned

MOST = 6
"""Most traces that are drawn."""
_SIDES = {"senders": "sending", "receivers": "receiving"}


def table(data: ReportData) -> pd.DataFrame:
    """One row per coflow and side, for each of the first traces."""
    _, points = shown_points(data)
    first = points.drop_duplicates("trace_id").head(MOST)
    _, coflows = coflows_of(data)
    coflows = coflows[coflows["point_id"].isin(first["point_id"]) & (coflows["size_bytes"] > 0)]
    named = _names(data, first)
    rows = []
    for column, side in _SIDES.items():
        part = coflows[["trace_id", "bin", "size_bytes"]].assign(side=side, ports=coflows[column])
        rows.append(part)
    marks = pd.concat(rows, ignore_index=True)
    marks["trace"] = marks.pop("trace_id").map(named)
    marks["size_mb"] = marks.pop("size_bytes") / 1e6
    marks["ports"] = marks["ports"].astype(float)
    names = ["side", "trace", "bin"]
    return thinned(marks[[*names, "ports", "size_mb"]], names, ["ports", "size_mb"])


def _names(data: ReportData, first: pd.DataFrame) -> dict[str, str]:
    """Name traces by the workload's parameters that vary, and the replicate."""
    about = data.points[data.points["point_id"].isin(first["point_id"])]
    about = about.drop_duplicates("trace_id")
    names = ["workload"]
    for name in about.columns:
        of_trace = name.startswith("workload_") or name in ("shuffle_zipf", "replicate", "seed")
        if of_trace and about[name].nunique(dropna=False) > 1:
            names.append(name)
    texts = [
        " ".join(
            plain(v) if n == "workload" else f"{key_of(n)}={plain(v)}"
            for n, v in zip(names, row, strict=True)
        )
        for row in about[names].itertuples(index=False)
    ]
    return dict(zip(about["trace_id"], texts, strict=True))


def chart(table: pd.DataFrame) -> Chart:
    """Draw a point a coflow, both axes logarithmic, a panel a side."""
    return Chart(
        "points",
        x=(Axis("ports", "width: ports on this side", log=True),),
        y=(Axis("size_mb", "size of the coflow", "MB", log=True),),
        colour="bin",
        select=("side", "trace"),
        size="coflows" if "coflows" in table else "",
        note="Bins: short (largest flow ≤ 5 MB) or long, narrow (≤ 50 flows) or wide. "
        "1 MB = 10^6 B; coflows without bytes are left out.",
    )


FIGURE = Figure("width_size", "Width against size", 100, table, chart, needs=("trace_id",))
