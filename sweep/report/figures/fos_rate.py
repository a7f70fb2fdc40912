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
    """One row per partitioner and rate; one that does not sample has a row at every rate.

    ``rate`` is the share of records that is sampled: under ``auto`` the mean of the rates chosen.
    """
    frame, rest = shuffles(data)
    if frame[RATE].nunique() < 2:
        raise NothingToDrawError(
            "the dataset has one sampling rate: sweep shuffle.sampling_rate=0.01,0.05,0.2"
        )
    auto = frame[RATE] == AUTO
    fixed = at_every_rate(frame[~auto])
    chosen = frame[auto].assign(line=frame[LINE] + " at auto", rate_read="yes")
    fixed[SAMPLED] = fixed[RATE].astype(float)
    lines = pd.concat([fixed, chosen.assign(**{SAMPLED: chosen["sampled_share"].astype(float)})])
    lines = lines.dropna(subset=SAMPLED)
    halves = [f"{n}_half" for n in MEASURES]
    columns = [*rest, ZIPF, PARTITIONER, LINE, RATE, SAMPLED, "rate_read", "n", *MEASURES, *halves]
    lines = lines[[n for n in dict.fromkeys(columns) if n in lines]].reset_index(drop=True)
    lines.attrs["note"] = frame.attrs["note"]
    return lines


def chart(table: pd.DataFrame) -> Chart:
    """Draw lines over the rate, one a partitioner."""
    return balance(
        table,
        both_scales(SAMPLED, "share of records sampled"),
        ZIPF,
        ": their lines are level, and rate_read is no. auto is drawn at the mean of its rates.",
    )


FIGURE = Figure("fos_rate", "Balance against the sampling rate", 110, table, chart)
