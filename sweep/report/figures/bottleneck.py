"""Largest flow against CCT, coflow by coflow."""

from __future__ import annotations

import pandas as pd

from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart, columns_before
from sweep.report.figures._base import Figure
from sweep.report.figures._coflows import coflows_of, thinned


def table(data: ReportData) -> pd.DataFrame:
    """One row per coflow and setting; where there are many, per cell of a fine grid."""
    settings, coflows = coflows_of(data)
    coflows = coflows[(coflows["length_bytes"] > 0) & (coflows["cct_s"] > 0)]
    about = settings[[*data.context, "label"]]
    joined = coflows.join(about, on="setting")[
        [*data.context, "label", "length_bytes", "gamma_s", "cct_s"]
    ]
    joined["length_mb"] = joined.pop("length_bytes") / 1e6
    return thinned(joined, [*data.context, "label"], ["length_mb", "gamma_s", "cct_s"])


def chart(table: pd.DataFrame) -> Chart:
    """Draw a point a coflow, both axes logarithmic."""
    return Chart(
        "points",
        x=(
            Axis("length_mb", "largest flow (bottleneck)", "MB", log=True),
            Axis("gamma_s", "Γ: busiest port alone", "s", log=True),
        ),
        y=(Axis("cct_s", "CCT", "s", log=True),),
        colour="label",
        select=columns_before(table, "label"),
        size="coflows" if "coflows" in table else "",
        note="1 MB = 10^6 B; coflows without bytes are left out. Where there are very many "
        "coflows, one point replaces all that lie close together.",
    )


FIGURE = Figure("bottleneck", "Bottleneck flow against CCT", 90, table, chart, needs=("trace_id",))
