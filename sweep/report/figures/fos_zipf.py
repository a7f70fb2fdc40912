"""Factor of skew against the skew of the keys."""

from __future__ import annotations

import pandas as pd

from sweep.report.averages import in_order, plain
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart
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


def table(data: ReportData) -> pd.DataFrame:
    """One row per partitioner and exponent; one that does not sample has a row at every rate."""
    frame, rest = shuffles(data)
    if frame[ZIPF].nunique() < 2:
        raise NothingToDrawError("the keys have one exponent: sweep shuffle.zipf=0.5,1,1.2")
    lines = at_every_rate(frame)
    halves = [f"{n}_half" for n in MEASURES]
    columns = [*rest, RATE, PARTITIONER, LINE, ZIPF, "rate_read", "n", *MEASURES, *halves]
    lines = lines[[n for n in dict.fromkeys(columns) if n in lines]]
    rank = {plain(rate): k for k, rate in enumerate(in_order(lines[RATE]))}
    order = lines[RATE].map(lambda rate: rank[plain(rate)])
    lines = lines.iloc[order.argsort(kind="stable")].reset_index(drop=True)
    lines.attrs["note"] = frame.attrs["note"]
    return lines


def chart(table: pd.DataFrame) -> Chart:
    """Draw lines over the exponent, one a partitioner."""
    return balance(
        table,
        (Axis(ZIPF, "exponent a of the keys (0: all alike)"),),
        RATE,
        ", and are drawn at every rate: rate_read is no.",
    )


FIGURE = Figure("fos_zipf", "Balance against the skew of the keys", 120, table, chart)
