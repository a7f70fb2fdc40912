"""Distribution of CCTs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart, both_scales, columns_before
from sweep.report.figures._base import Figure, NothingToDrawError
from sweep.report.figures._coflows import coflows_of

STEPS = 600
"""Steps of a curve; a longer one is thinned to these ranks."""


def table(data: ReportData) -> pd.DataFrame:
    """One row per step: the share of coflows with a CCT of at most `cct_s`."""
    settings, coflows = coflows_of(data)
    rows = []
    for number, about in settings[[*data.context, "label"]].iterrows():
        group = coflows[coflows["setting"] == number]
        if not len(group):  # its part of the dataset is missing
            continue
        cct = np.sort(group["cct_s"].to_numpy(float))
        last = np.arange(1, len(cct) + 1)
        kept = np.flatnonzero(np.append(np.diff(cct) > 0, True))
        if len(kept) > STEPS:
            kept = kept[np.unique(np.linspace(0, len(kept) - 1, STEPS).round().astype(int))]
        below = float(np.mean(cct < 1000.0))
        steps = pd.DataFrame({"cct_s": cct[kept], "share": last[kept] / len(cct)})
        named = f"{about['label']} ({100 * below:.2f} % < 10^6 ms)"
        rows.append(
            steps.assign(
                **{str(k): v for k, v in about.items()}, curve=named, share_below_1000s=below
            )
        )
    if not rows:
        raise NothingToDrawError("the dataset has no coflows of these points")
    curves = pd.concat(rows, ignore_index=True)
    return curves[[*data.context, "label", "curve", "share_below_1000s", "cct_s", "share"]]


def chart(table: pd.DataFrame) -> Chart:
    """Draw steps over a logarithmic axis."""
    return Chart(
        "steps",
        x=both_scales("cct_s", "CCT", "s"),
        y=(Axis("share", "coflows", share=True),),
        colour="curve",
        select=columns_before(table, "label"),
        note="In brackets: share of coflows with a CCT below 10^6 ms (1000 s). Replicates are "
        "pooled. Where a context has more than 12 settings, only the best setting of each "
        "scheduler is drawn.",
    )


FIGURE = Figure("cdf", "Distribution of CCTs", 20, table, chart, needs=("trace_id",))
