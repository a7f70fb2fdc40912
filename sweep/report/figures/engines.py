"""The same settings in both engines."""

from __future__ import annotations

import pandas as pd

from sweep.report.averages import plain
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Chart, both_scales
from sweep.report.figures._base import Figure, NothingToDrawError

_METRICS = ("mean_cct_s", "p50_cct_s", "p95_cct_s", "max_cct_s")


def table(data: ReportData) -> pd.DataFrame:
    """One row per metric and setting that both engines ran with the same replicates."""
    if "engine" not in data.axes:
        raise NothingToDrawError("the dataset has one engine: sweep engine=fluid,coflowsim")
    settings = data.comparable
    of_one = _of_one_engine(data)
    by = [n for n in (*data.context, *data.knobs) if n != "engine" and n not in of_one]
    by = list(dict.fromkeys(["scheduler", *by]))
    keys = settings[by].map(plain).agg("\0".join, axis=1)
    sides = {
        name: settings[settings["engine"] == name].assign(key=keys).drop_duplicates("key")
        for name in ("coflowsim", "fluid")
    }
    both = sides["coflowsim"].merge(sides["fluid"], on="key", suffixes=("", "_fluid"))
    if not len(both):
        raise NothingToDrawError("no setting was run in both engines")
    both = both[both["repeats"] == both["repeats_fluid"]]
    if not len(both):
        raise NothingToDrawError("the engines ran different replicates of every setting")
    rows = []
    for metric in _METRICS:
        one, other = both[metric], both[f"{metric}_fluid"]
        rows.append(
            both[by].assign(
                label=both["label"],
                metric=metric,
                coflowsim_s=one,
                fluid_s=other,
                difference=other / one - 1,
            )
        )
    pairs = pd.concat(rows, ignore_index=True)
    pairs = pairs[list(dict.fromkeys(pairs.columns))]
    pairs.attrs["note"] = settings.attrs["note"]
    return pairs


def _of_one_engine(data: ReportData) -> list[str]:
    """Return axes that only one engine's points read."""
    points = data.points
    sides = [points[points["engine"] == name] for name in ("coflowsim", "fluid")]
    return [n for n in data.axes if any(len(s) and s[n].isna().all() for s in sides)]


def chart(table: pd.DataFrame) -> Chart:
    """Draw a point a setting; on the line both agree."""
    return Chart(
        "points",
        x=both_scales("coflowsim_s", "coflowsim", of="metric"),
        y=both_scales("fluid_s", "fluid", of="metric"),
        colour="scheduler",
        select=("metric",),
        hover=("label", "difference"),
        diagonal=True,
        note="Each mark is a setting that both engines ran on the same workload; the line is x = y."
        + table.attrs.get("note", ""),
    )


FIGURE = Figure("engines", "fluid against coflowsim", 80, table, chart, needs=("mean_cct_s",))
