"""Main effects of all axes."""

from __future__ import annotations

import pandas as pd

from core.keys import key_of
from sweep.report.averages import measures_in
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart
from sweep.report.effects import by_scheduler, left_out, main_effects
from sweep.report.figures._base import Figure, NothingToDrawError

MOST = 8
"""Metrics whose effects are drawn."""


def table(data: ReportData) -> pd.DataFrame:
    """One row per metric, scheduler and axis: the means at its best and its worst value."""
    rows = []
    why: dict[str, str] = {}
    for name in measures_in(data.settings)[:MOST] if len(data.points) else []:
        grids, missing = by_scheduler(data, name)
        why |= missing
        for scheduler, frame, axes in grids:
            effects = main_effects(frame, axes)
            if len(effects):
                rows.append(effects.assign(metric=name, scheduler=scheduler))
    if not rows:
        raise NothingToDrawError(next(iter(why.values()), "no axis has several values"))
    spans = pd.concat(rows, ignore_index=True)
    spans["key"] = spans["axis"].map(key_of)
    spans["text"] = [f"{a} → {b}" for a, b in zip(spans["low_at"], spans["high_at"], strict=True)]
    columns = ["scheduler", "metric", "key", "low", "high", "low_at", "high_at", "range", "mean"]
    spans = spans[[*columns, "variance_share", "text"]]
    spans.attrs |= {"why": why, "note": data.comparable.attrs["note"]}
    return spans


def chart(table: pd.DataFrame) -> Chart:
    """Draw spans from the smallest to the largest mean."""
    return Chart(
        "spans",
        x=(Axis("low", "averaged over all other axes", of="metric"),),
        y=(Axis("key", "axis"),),
        end="high",
        select=("scheduler", "metric"),
        text="text",
        hover=("low_at", "high_at", "range", "mean", "variance_share"),
        note="From the smallest to the largest mean of the metric over the values of an axis, all "
        "other axes averaged; beside the bar, the values with these means. Only axes that the "
        "scheduler reads are drawn, and only settings that read an axis count for it, also in its "
        f"mean and share of the variance. Needs a grid.{table.attrs.get('note', '')}"
        f"{left_out(table.attrs.get('why', {}))}",
    )


FIGURE = Figure("tornado", "Main effects", 50, table, chart)
