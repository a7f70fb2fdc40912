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
"""Metrics for which effects are worked out."""


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
    found = pd.concat(rows, ignore_index=True)
    found["key"] = found["axis"].map(key_of)
    found["text"] = [f"{a} → {b}" for a, b in zip(found["low_at"], found["high_at"], strict=True)]
    columns = ["scheduler", "metric", "key", "low", "high", "low_at", "high_at", "range", "mean"]
    found = found[[*columns, "variance_share", "text"]]
    found.attrs["why"] = why
    return found


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
        "other axes averaged; beside the bar, the values where they are. Only axes that the "
        "scheduler reads, and of an axis only settings that read it: mean and share of the "
        f"variance are theirs, too. For grids.{left_out(table.attrs.get('why', {}))}",
    )


FIGURE = Figure("tornado", "Main effects", 50, table, chart)
