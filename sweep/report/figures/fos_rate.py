"""Factor of skew against the sampling rate."""

from __future__ import annotations

import pandas as pd

from sweep.report.chart import Axis, Chart, columns_before
from sweep.report.dataset import Dataset
from sweep.report.figures._base import Figure, NothingToDrawError
from sweep.report.figures._shuffles import MEASURES, PARTITIONER, RATE, ZIPF, measures, shuffles


def table(data: Dataset) -> pd.DataFrame:
    """One row per partitioner and rate; one that does not sample stands at every rate."""
    frame, rest = shuffles(data)
    rates = sorted(frame[RATE].dropna().unique())
    if len(rates) < 2:
        raise NothingToDrawError("one sampling rate: sweep shuffle.sampling_rate=0.01,0.05,0.2")
    blind = frame[frame[RATE].isna()]
    found = pd.concat([frame.dropna(subset=RATE), *(blind.assign(**{RATE: r}) for r in rates)])
    halves = [f"{n}_half" for n in MEASURES]
    columns = [*rest, ZIPF, PARTITIONER, RATE, "n", *MEASURES, *halves]
    return found[[n for n in dict.fromkeys(columns) if n in found]].reset_index(drop=True)


def chart(table: pd.DataFrame) -> Chart:
    """Draw lines over the rate, one a partitioner."""
    rest = columns_before(table, ZIPF)
    return Chart(
        "lines",
        x=(
            Axis(RATE, "sampling rate", log=True),
            Axis(RATE, "sampling rate (linear)"),
        ),
        y=measures(table),
        colour=PARTITIONER,
        select=(ZIPF, *rest),
        hover=("n",),
        note="FoS: standard deviation over mean of the bucket loads, mean over jobs. Whiskers: "
        "95 % interval over replicates. Partitioners that do not sample are level.",
    )


FIGURE = Figure("fos_rate", "Balance against the sampling rate", 110, table, chart)
