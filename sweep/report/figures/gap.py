"""Distance of the mean CCT to a bound that no scheduler can beat."""

from __future__ import annotations

import pandas as pd

from sweep.report.averages import measure_axis, shown_settings
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart, columns_before
from sweep.report.figures._base import Figure, NothingToDrawError


def table(data: ReportData) -> pd.DataFrame:
    """One row per setting and context that has a bound."""
    settings = data.settings if len(data.points) else pd.DataFrame(columns=["gap"])
    if "gap" not in settings or not settings["gap"].notna().any():
        raise NothingToDrawError("no point has a bound: only engine=fluid gives one")
    shown = shown_settings(settings.dropna(subset="gap"), data.context, 24, under=200)
    half = [n for n in ("gap_half",) if n in shown]
    columns = [*data.context, "label", "scheduler", "n", "mean_cct_s", "bound_s", "gap", *half]
    return shown[columns].reset_index(drop=True)


def chart(table: pd.DataFrame) -> Chart:
    """Draw bars, one a setting."""
    return Chart(
        "bars",
        x=(measure_axis("gap", error="gap_half" if "gap_half" in table else ""),),
        y=(Axis("label", "setting"),),
        colour="scheduler",
        select=columns_before(table, "label"),
        hover=("mean_cct_s", "bound_s", "n"),
        note="Mean CCT over a lower bound, minus one: 0 % is optimal; with replicates, the mean of "
        "the CCTs over the mean of the bounds. No scheduler may "
        "reach the bound: part of the gap may come from the bound itself.",
    )


FIGURE = Figure("gap", "Distance to the bound", 70, table, chart, needs=("mean_cct_s",))
