"""The rates that ``auto`` weighed: cost, predicted and actual balance."""

from __future__ import annotations

import pandas as pd

from core.errors import StoreError
from sweep.report.averages import labels
from sweep.report.data import RUN, ReportData
from sweep.report.drawing.chart import Axis, Chart, columns_before
from sweep.report.figures._base import Figure, NothingToDrawError
from sweep.report.figures._shuffles import LINE, PARTITIONER, of_shuffle, own_knobs

_VALUES = ("cost_s", "total_s", "predicted_fos", "actual_fos")


def table(data: ReportData) -> pd.DataFrame:
    """One row per partitioner, context and rate: means over jobs and replicates."""
    points = data.points
    try:
        rates = data.detail("rates", ["rate", *_VALUES, "chosen"], points["point_id"])
    except StoreError as error:
        if not any(run.path for run in data.runs):
            raise NothingToDrawError(str(error)) from error
        raise NothingToDrawError("no curve of rates: sweep shuffle.sampling_rate=auto "
                                 "output.reducers=true") from error  # fmt: skip
    if not len(rates):
        raise NothingToDrawError("no curve of rates: sweep shuffle.sampling_rate=auto")
    keys = [n for n in (RUN, "point_id") if n in rates]
    weighed = points[points["point_id"].isin(rates["point_id"])]
    by = of_shuffle(data, weighed)
    lines = weighed.assign(line=labels(weighed, own_knobs(data), of=PARTITIONER))
    columns = [*dict.fromkeys([*keys, *by, PARTITIONER, LINE])]
    joined = rates.merge(lines[columns], on=keys)
    joined["chosen"] = joined["chosen"].astype(float)
    grouped = joined.groupby([*by, PARTITIONER, LINE, "rate"], sort=False, dropna=False)
    return grouped[[*_VALUES, "chosen"]].mean().reset_index()


def chart(table: pd.DataFrame) -> Chart:
    """Draw lines over the rate."""
    return Chart(
        "lines",
        x=(Axis("rate", "sampling rate", log=True),),
        y=(
            Axis("total_s", "pre-pass and slowest reducer, predicted", "s"),
            Axis("cost_s", "sampling pre-pass", "s"),
            Axis("predicted_fos", "predicted FoS"),
            Axis("actual_fos", "actual FoS"),
        ),
        colour=LINE,
        select=columns_before(table, PARTITIONER),
        hover=("chosen",),
        note="Means over jobs and replicates; chosen: share of jobs for which auto took the rate.",
    )


FIGURE = Figure("rate_curve", "Rates that auto weighs", 150, table, chart)
