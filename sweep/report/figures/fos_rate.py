"""Factor of skew against the sampling rate."""

from __future__ import annotations

import pandas as pd

from core.shuffle.parameters import AUTO
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Chart, both_scales
from sweep.report.figures._base import Figure, NothingToDrawError
from sweep.report.figures._shuffles import (
    LINE,
    MEASURES,
    PARTITIONER,
    RATE,
    ZIPF,
    at_every_rate,
    balance,
    shuffles,
)

SAMPLED = "rate"


def table(data: ReportData) -> pd.DataFrame:
    """One row per partitioner and rate; one that does not sample stands at every rate.

    ``rate`` is the share of records that is sampled: under ``auto`` the mean of what it chose.
    """
    frame, rest = shuffles(data)
    if frame[RATE].nunique() < 2:
        raise NothingToDrawError("one sampling rate: sweep shuffle.sampling_rate=0.01,0.05,0.2")
    auto = frame[RATE] == AUTO
    asked = at_every_rate(frame[~auto])
    chosen = frame[auto].assign(line=frame[LINE] + " at auto", rate_read="yes")
    asked[SAMPLED] = asked[RATE].astype(float)
    found = pd.concat([asked, chosen.assign(**{SAMPLED: chosen["sampled_share"].astype(float)})])
    found = found.dropna(subset=SAMPLED)
    halves = [f"{n}_half" for n in MEASURES]
    columns = [*rest, ZIPF, PARTITIONER, LINE, RATE, SAMPLED, "rate_read", "n", *MEASURES, *halves]
    return found[[n for n in dict.fromkeys(columns) if n in found]].reset_index(drop=True)


def chart(table: pd.DataFrame) -> Chart:
    """Draw lines over the rate, one a partitioner."""
    return balance(
        table,
        both_scales(SAMPLED, "share of records sampled"),
        ZIPF,
        ": they are level, and rate_read is no; auto stands at the mean of what it chose.",
    )


FIGURE = Figure("fos_rate", "Balance against the sampling rate", 110, table, chart)
