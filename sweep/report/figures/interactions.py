"""Interactions of pairs of axes."""

from __future__ import annotations

import pandas as pd

from core.keys import key_of
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart
from sweep.report.effects import by_scheduler, interactions, left_out
from sweep.report.figures._base import Figure, NothingToDrawError


def table(data: ReportData) -> pd.DataFrame:
    """One row per scheduler and pair of axes: shares of the variance of the mean CCT."""
    rows = []
    grids, why = by_scheduler(data, "mean_cct_s") if len(data.points) else ([], {})
    for scheduler, frame, axes in grids:
        shares = interactions(frame, axes)
        if len(shares):
            both = shares[["axis", "other_axis"]].to_numpy()
            pair = [f"{key_of(a)} × {key_of(b)}" for a, b in both]
            rows.append(shares.assign(scheduler=scheduler, pair=pair))
    if not rows:
        raise NothingToDrawError(
            next(iter(why.values()), "fewer than two axes have several values")
        )
    columns = ["interaction_share", "axis_share", "other_share"]
    table = pd.concat(rows, ignore_index=True)
    table = table[["scheduler", "pair", "axis", "other_axis", *columns]]
    table.attrs |= {"why": why, "note": data.comparable.attrs["note"]}
    return table


def chart(table: pd.DataFrame) -> Chart:
    """Draw bars, one a pair."""
    return Chart(
        "bars",
        x=(
            Axis("interaction_share", "variance of the mean CCT by the pair alone", share=True),
            Axis("axis_share", "variance by the first axis", share=True),
            Axis("other_share", "variance by the second axis", share=True),
        ),
        y=(Axis("pair", "axes"),),
        select=("scheduler",),
        hover=("axis_share", "other_share"),
        note="Share of the variance of the mean CCT over the grid that the pair explains beyond "
        "what each of the two explains by itself, over the settings that read both axes; exact "
        f"for full grids.{table.attrs.get('note', '')}{left_out(table.attrs.get('why', {}))}",
    )


FIGURE = Figure("interactions", "Interactions", 60, table, chart, needs=("mean_cct_s",))
