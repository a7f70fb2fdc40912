"""The cost of sampling, and its gain over a partitioner that does not sample."""

from __future__ import annotations

import pandas as pd

from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart, columns_before
from sweep.report.figures._base import Figure, NothingToDrawError
from sweep.report.figures._shuffles import LINE, PARTITIONER, RATE, ZIPF, own_knobs, shuffles

_BASES = ("hash", "traced")


def table(data: ReportData) -> pd.DataFrame:
    """One row per partitioner that samples, rate and context: its cost, and gains over hash."""
    frame, rest = shuffles(data)
    base = frame[frame[PARTITIONER].isin(_BASES)]
    if not len(base) or "sampled_share" not in frame:
        raise NothingToDrawError(
            "the dataset has no partitioner to compare with: add shuffle.partitioner=hash"
        )
    by = [*rest, ZIPF]
    shown = ["fos_records", *(n for n in ("mean_job_s", "mean_cct_s") if n in frame)]
    sampled = frame[~frame[PARTITIONER].isin(_BASES) & frame["sampled_share"].notna()]
    shared = [n for n in own_knobs(data) if base[n].notna().all() and sampled[n].notna().all()]
    on = [*by, *shared]
    gained = sampled.merge(base.drop_duplicates(on)[[*on, *shown]], on=on, suffixes=("", "_base"))
    if not len(gained):
        raise NothingToDrawError("no partitioner samples: add shuffle.partitioner=scid")
    for name in shown:
        gained[f"{name}_gain"] = 1 - gained[name] / gained[f"{name}_base"]
    gains = [f"{name}_gain" for name in shown]
    columns = [*by, PARTITIONER, LINE, RATE, "sampled_share", "sample_cost_s", *gains]
    gained = gained[list(dict.fromkeys(columns))].reset_index(drop=True)
    gained.attrs["note"] = frame.attrs["note"]
    return gained


def chart(table: pd.DataFrame) -> Chart:
    """Draw a line a partitioner, from little to much sampling."""
    names = {"fos_records": "FoS", "mean_job_s": "mean job time", "mean_cct_s": "mean CCT"}
    gains = [n for n in map(str, table.columns) if n.endswith("_gain")]
    axes = [Axis(n, f"{names[n.removesuffix('_gain')]}: gain over hash", share=True) for n in gains]
    x = [
        Axis("sample_cost_s", "sampling time of a job", "s"),
        Axis("sampled_share", "records sampled", share=True),
    ]
    if not table["sample_cost_s"].any():
        x.reverse()
    rest = columns_before(table, ZIPF)
    return Chart(
        "lines",
        x=tuple(x),
        y=tuple(axes),
        colour=LINE,
        select=(ZIPF, *rest),
        hover=(RATE, "sample_cost_s", "sampled_share"),
        note="Gain: 1 − value / value of the partitioner that does not sample, in the same "
        "context; a negative gain is a loss. Sampling takes time only where the sweep sets unit "
        f"costs (shuffle.map_s_per_record and others).{table.attrs.get('note', '')}",
    )


FIGURE = Figure("sampling_gain", "Cost of sampling against gain", 140, table, chart)
