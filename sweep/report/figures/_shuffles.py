"""Settings of shuffles, by partitioner instead of by scheduler."""

from __future__ import annotations

import pandas as pd

from sweep.report.averages import in_order, labels, measure_axis, settings_table
from sweep.report.data import RUN, ReportData
from sweep.report.drawing.chart import Axis, Chart, columns_before
from sweep.report.figures._base import NothingToDrawError
from sweep.report.replicates import common_points

RATE, ZIPF, PARTITIONER = "shuffle_sampling_rate", "shuffle_zipf", "shuffle_partitioner"
LINE, SETTING = "line", "setting"
MEASURES = ("fos_records", "fos_bytes", "max_over_mean", "predicted_fos", "mean_job_s")


def shuffles(data: ReportData) -> tuple[pd.DataFrame, list[str]]:
    """Return means over replicates of all shuffles, and their context beside the partitioner.

    Only replicates that all of them have are averaged. Everything else that varies is kept apart:
    the parameters of the partitioner are in the name of its ``line``, those of the scheduler in
    the column ``setting``.

    Raises
    ------
    NothingToDrawError
        No shuffles.
    """
    points = data.points
    if not len(points) or "fos_records" not in points or points["fos_records"].isna().all():
        raise NothingToDrawError(
            "the dataset has no shuffles: sweep workload=shuffle_jobs, or shuffle.partitioner"
        )
    if lacking := [n for n in (PARTITIONER, RATE, ZIPF) if n not in points]:
        raise NothingToDrawError(f"the table has no column {', '.join(lacking)}")
    points = points[points["fos_records"].notna()]
    of_partitioner = own_knobs(data)
    rest = [n for n in data.axes if n not in (RATE, ZIPF, PARTITIONER, *of_partitioner)]
    rest = [n for n in rest if points[n].nunique(dropna=False) > 1]
    tuned = [n for n in rest if n in data.knobs and n != "scheduler"]
    by = [*dict.fromkeys([*rest, RATE, ZIPF, PARTITIONER, *of_partitioner])]
    knobs = ["scheduler", *tuned]
    outer = [n for n in rest if n not in knobs]
    points, note = common_points(points, outer, [n for n in (*by, *knobs) if n not in outer])
    frame = settings_table(points, [n for n in by if n not in knobs], knobs)
    frame.attrs["note"] = note
    frame[LINE] = labels(frame, of_partitioner, of=PARTITIONER)
    if tuned:  # not each scheduler reads them, so that they are chosen together with it
        frame[SETTING] = frame["label"]
        rest = [SETTING, *(n for n in rest if n not in knobs)]
    return frame, rest


def own_knobs(data: ReportData) -> list[str]:
    """Return the parameters of partitioners that vary, without the rate."""
    return [n for n in data.knobs if n.startswith("shuffle_") and n not in (RATE, PARTITIONER)]


def of_shuffle(data: ReportData, points: pd.DataFrame) -> list[str]:
    """Return the exponent, and what else varies of the run, the workload and its shuffles.

    Engine and fabric are left out: the loads of buckets do not depend on them.
    """
    shared = [n for n in data.context if n == RUN or n.startswith(("workload", "shuffle_"))]
    rest = [n for n in shared if n != ZIPF and points[n].nunique(dropna=False) > 1]
    return [*([ZIPF] if ZIPF in points else []), *rest]


def at_every_rate(frame: pd.DataFrame) -> pd.DataFrame:
    """Return shuffles, with a row at every rate for partitioners that do not sample.

    Those rows have ``rate_read`` no.
    """
    rates = in_order(frame[RATE].dropna())
    if not rates:
        return frame
    frame = frame.assign(rate_read=frame[RATE].notna().map({True: "yes", False: "no"}))
    blind = frame[frame[RATE].isna()]
    return pd.concat([frame.dropna(subset=RATE), *(blind.assign(**{RATE: r}) for r in rates)])


def balance(table: pd.DataFrame, x: tuple[Axis, ...], control: str, note: str) -> Chart:
    """Return lines of how even the buckets are, one a partitioner; a control chooses the rest."""
    return Chart(
        "lines",
        x=x,
        y=measures(table),
        colour=LINE,
        select=(control, *columns_before(table, control)),
        hover=("n", *(["rate_read"] if "rate_read" in table else [])),
        note="FoS: standard deviation over mean of the bucket loads, mean over jobs. Whiskers: "
        f"95 % interval over replicates. Partitioners that do not sample ran once{note}"
        f"{table.attrs.get('note', '')}",
    )


def measures(frame: pd.DataFrame) -> tuple[Axis, ...]:
    """Return the axes of the measures of shuffles that a table has."""
    present = [n for n in MEASURES if n in frame and frame[n].notna().any()]
    half = {n: f"{n}_half" if f"{n}_half" in frame else "" for n in present}
    return tuple(measure_axis(n, error=half[n]) for n in present)
