"""Schedulers compared replicate by replicate, on the same workload."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.keys import REPEATS
from core.statistics import mean_of_groups
from sweep.report.averages import by, shown_settings
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart, columns_before
from sweep.report.figures._base import Figure, NothingToDrawError

MOST = 24


def table(data: ReportData) -> pd.DataFrame:
    """One row per setting and context: its mean CCT over the first setting's, minus one."""
    if not len(data.points) or data.settings["n"].max() < 2:
        raise NothingToDrawError("the dataset has no replicates: sweep with replicates=5")
    settings = shown_settings(data.settings, data.context, MOST, under=200)
    keys = [*data.context, *data.knobs]
    repeats = [n for n in REPEATS if n in data.points]
    number = data.points.groupby(keys, sort=False, dropna=False).ngroup()
    points = data.points[[*repeats, "mean_cct_s"]].assign(setting=number)
    rows = []
    for _, group in by(settings, data.context):
        base = points[points["setting"] == group.index[0]].drop(columns="setting")
        for k, setting in group.iloc[1:].iterrows():
            pairs = points[points["setting"] == k].merge(base, on=repeats, suffixes=("", "_base"))
            ratio = (pairs["mean_cct_s"] / pairs["mean_cct_s_base"] - 1).to_numpy(float)
            if len(ratio) < 2:
                continue
            (mean,), (half,) = mean_of_groups(ratio, np.zeros(len(ratio), np.int64), 1)
            about = setting[[*data.context, "label", "scheduler"]].to_dict()
            pairing = {"baseline": group["label"].iloc[0], "pairs": len(ratio)}
            rows.append(about | pairing | {"change": mean, "change_half": half})
    if not rows:
        raise NothingToDrawError("no two settings share their replicates")
    return pd.DataFrame(rows)


def chart(table: pd.DataFrame) -> Chart:
    """Draw bars with intervals, one a setting."""
    return Chart(
        "bars",
        x=(Axis("change", "mean CCT over the baseline's − 1", share=True, error="change_half"),),
        y=(Axis("label", "setting"),),
        colour="scheduler",
        select=columns_before(table, "label"),
        hover=("baseline", "pairs"),
        note="Change of the mean CCT against the first setting of the same context, replicate by "
        "replicate on the same workload; whiskers: 95 % interval of the mean over replicates. "
        f"Negative is better. Where a context has more than {MOST} settings, only the best setting "
        "of each scheduler is drawn, and all are compared with that of the grid's first scheduler.",
    )


FIGURE = Figure("pairwise", "Replicates compared in pairs", 25, table, chart, needs=("mean_cct_s",))
