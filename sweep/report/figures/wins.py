"""Which setting wins where."""

from __future__ import annotations

import pandas as pd

from core.keys import key_of
from sweep.report.averages import key_axis, measure_axis, plain
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart
from sweep.report.effects import cells, cube_of, main_effects, why_no_grid, with_metric
from sweep.report.figures._base import Figure, NothingToDrawError

METRIC = "mean_cct_s"
TIE = 1e-9
"""Means that differ by less, as a ratio, are the same."""


def table(data: ReportData) -> pd.DataFrame:
    """One row per cell of two axes: the setting with the smallest mean CCT, and its margin."""
    if not len(data.points):
        raise NothingToDrawError("no point is finished")
    cube = cube_of(data)
    if len(cube.axes) < 2:
        raise NothingToDrawError("fewer than two axes have several values")
    frame = with_metric(data, cube, METRIC)
    if why := why_no_grid(frame, cube.axes):
        raise NothingToDrawError(why)
    ranked = list(main_effects(frame, cube.axes)["axis"])
    who = "scheduler" if "scheduler" in ranked else ranked[0]
    rest = [n for n in ranked if n != who]
    axes = rest[:2] if len(rest) > 1 else [rest[0]]
    means = cells(frame, [*axes, who], {})
    rows = []
    for _, group in means.groupby(axes, sort=False, dropna=False):
        best = group.sort_values("value", kind="stable")
        first = best.iloc[0]
        margin = best["value"].iloc[1] / first["value"] - 1 if len(best) > 1 else None
        first_ones = best.loc[best["value"] <= first["value"] * (1 + TIE), who]
        winner = " = ".join(map(plain, first_ones))
        rows.append(
            {n: first[n] for n in axes}
            | {"wins_on": who, "winner": winner, METRIC: first["value"], "margin": margin}
        )
    wins = pd.DataFrame(rows)
    wins["margin"] = wins["margin"].astype(float)
    wins["text"] = [
        "" if pd.isna(m) else "tie" if m <= TIE else f"+{float(f'{100 * m:.2g}'):g} %"
        for m in wins["margin"]
    ]
    wins.attrs["note"] = data.comparable.attrs["note"]
    return wins


def chart(table: pd.DataFrame) -> Chart:
    """Draw a map with a colour for each winner."""
    x, who = table.columns[0], str(table["wins_on"].iloc[0])
    y = table.columns[1] if table.columns[1] != "wins_on" else "wins_on"
    return Chart(
        "heat",
        x=(key_axis(x),),
        y=(key_axis(y) if y != "wins_on" else Axis(y, "wins on"),),
        z=(measure_axis(METRIC),),
        colour="winner",
        text="text",
        hover=("margin",),
        explore="wins" if y != "wins_on" else "",
        colour_axis=who,
        note=f"The {key_of(who)} with the smallest mean CCT, averaged over all other axes; in the "
        "cell, how much larger the second smallest is; a = b: both have the same mean. "
        f"Needs a grid: all combinations of the axes.{table.attrs.get('note', '')}",
    )


FIGURE = Figure("wins", "Which setting wins where", 40, table, chart, needs=("mean_cct_s",))
