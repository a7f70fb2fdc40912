"""Loads of reducers, with a plain hash and with each partitioner."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.errors import StoreError
from sweep.report.averages import plain
from sweep.report.data import RUN, ReportData
from sweep.report.drawing.chart import Axis, Chart, columns_before
from sweep.report.figures._base import Figure, NothingToDrawError
from sweep.report.figures._shuffles import PARTITIONER, RATE, ZIPF, shuffles

MOST_RANKS = 400


def table(data: ReportData) -> pd.DataFrame:
    """One row per partitioner and rank: the load of its fullest, second fullest, … bucket.

    Loads are divided by the mean of the job's and averaged over jobs and replicates.
    """
    shuffles(data)
    points = data.points[data.points["fos_records"].notna()]
    by = [n for n in (RUN, "workload", ZIPF, RATE, PARTITIONER) if n in points]
    kept = points.drop_duplicates([*by, "trace_id"])
    try:
        loads = data.detail("reducers", ["job", "bucket", "records", "bytes"], kept["point_id"])
    except StoreError as error:
        raise NothingToDrawError(str(error)) from error
    own = [n for n in ("point_id", RUN) if n in loads]
    job = [*own, "job"]
    for name in ("records", "bytes"):
        mean = loads.groupby(job)[name].transform("mean")
        loads[f"{name}_load"] = loads[name] / mean.where(mean > 0)
    loads = loads.sort_values([*job, "records"], ascending=False, kind="stable")
    loads["rank"] = loads.groupby(job).cumcount() + 1
    loads = loads[loads["rank"] <= MOST_RANKS]
    joined = loads.merge(kept[[*own, *[n for n in by if n not in own]]], on=own)
    found = joined.groupby([*by, "rank"], sort=False, dropna=False)[["records_load", "bytes_load"]]
    means = found.mean().reset_index()
    means["partitioner"] = list(map(_named, means[PARTITIONER], means[RATE]))
    if means[ZIPF].isna().all():
        means[ZIPF] = np.nan
    rest = [n for n in (RUN, "workload") if n in means and means[n].nunique() > 1]
    columns = [ZIPF, *rest, "partitioner", "rank", "records_load", "bytes_load"]
    place = {
        name: k for k, name in enumerate(dict.fromkeys(map(_named, kept[PARTITIONER], kept[RATE])))
    }
    means = means.assign(place=means["partitioner"].map(place))
    means = means.sort_values([*rest, ZIPF, "place", "rank"], kind="stable")
    return means[columns].reset_index(drop=True)


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
        note="Load of a reducer over the mean of its job, averaged over jobs and replicates. "
        "hash, or traced, is what there is before a partitioner looks at the keys.",
    )


FIGURE = Figure("reducer_loads", "Loads of reducers", 130, table, chart, needs=("trace_id",))
