"""Loads of reducers, with a plain hash and with each partitioner."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.errors import StoreError
from sweep.report.averages import labels, plain
from sweep.report.data import RUN, ReportData
from sweep.report.drawing.chart import Axis, Chart, columns_before
from sweep.report.figures._base import Figure, NothingToDrawError
from sweep.report.figures._shuffles import PARTITIONER, RATE, ZIPF, of_shuffle, own_knobs, shuffles

MOST_RANKS = 400


def table(data: ReportData) -> pd.DataFrame:
    """One row per partitioner and rank: the load of its fullest, second fullest, … bucket.

    Loads are divided by the mean of the job's and averaged over jobs and replicates, and over
    nothing else: what a partitioner reads is in its name, and a context is chosen.
    """
    shuffles(data)
    points = data.points[data.points["fos_records"].notna()]
    knobs = [n for n in own_knobs(data) if n in points]
    rest = of_shuffle(data, points)
    by = [*rest, PARTITIONER, RATE, *knobs]
    kept = points.drop_duplicates([*by, "trace_id"])
    try:
        loads = data.detail("reducers", ["job", "bucket", "records", "bytes"], kept["point_id"])
    except StoreError as error:
        raise NothingToDrawError(str(error)) from error
    point = [n for n in ("point_id", RUN) if n in loads]
    job = [*point, "job"]
    for name in ("records", "bytes"):
        mean = loads.groupby(job)[name].transform("mean")
        loads[f"{name}_load"] = loads[name] / mean.where(mean > 0)
    loads = loads.sort_values([*job, "records"], ascending=False, kind="stable")
    loads["rank"] = loads.groupby(job).cumcount() + 1
    loads = loads[loads["rank"] <= MOST_RANKS]
    kept = kept.assign(partitioner=list(map(_named, kept[PARTITIONER], kept[RATE])))
    kept = kept.assign(partitioner=labels(kept, knobs, of="partitioner"))
    order = {name: k for k, name in enumerate(dict.fromkeys(kept["partitioner"]))}
    line = [*rest, "partitioner"]
    joined = loads.merge(kept[[*point, *[n for n in line if n not in point]]], on=point)
    ranks = joined.groupby([*line, "rank"], sort=False, dropna=False)
    means = ranks[["records_load", "bytes_load"]].mean().reset_index()
    if means[ZIPF].isna().all():
        means[ZIPF] = np.nan
    means = means.assign(order=means["partitioner"].map(order))
    means = means.sort_values([*rest[1:], ZIPF, "order", "rank"], kind="stable")
    return means[[*line, "rank", "records_load", "bytes_load"]].reset_index(drop=True)


def _named(partitioner: object, rate: object) -> str:
    """Name a partitioner with its rate, where it samples."""
    return plain(partitioner) if pd.isna(rate) else f"{plain(partitioner)} s={plain(rate)}"  # type: ignore[call-overload]


def chart(table: pd.DataFrame) -> Chart:
    """Draw lines over the rank, one a partitioner."""
    return Chart(
        "lines",
        x=(Axis("rank", "bucket, the fullest first"),),
        y=(
            Axis("records_load", "records / mean"),
            Axis("bytes_load", "bytes / mean"),
        ),
        colour="partitioner",
        select=columns_before(table, "partitioner"),
        note="Load of a reducer over the mean of its job, averaged over jobs and replicates; s: "
        "sampling rate. hash, or traced, gives the loads before any partitioner looks at the keys.",
    )


FIGURE = Figure("reducer_loads", "Loads of reducers", 130, table, chart, needs=("trace_id",))
