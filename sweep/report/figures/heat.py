"""Mean of a metric over two axes of the grid."""

from __future__ import annotations

import pandas as pd

from core.keys import key_of
from sweep.report.averages import key_axis, measure_axis, plain
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Chart
from sweep.report.effects import cells, cube_of, main_effects, why_no_grid, with_metric
from sweep.report.figures._base import Figure, NothingToDrawError

METRIC = "mean_cct_s"


def table(data: ReportData) -> pd.DataFrame:
    """One row per cell of the two axes with the largest effects: the mean CCT over all others.

    With two axes or more beside the scheduler, the scheduler is fixed to the one with most
    settings; the column ``fixed_scheduler`` names it.
    """
    if not len(data.points):
        raise NothingToDrawError("no point is finished")
    cube = cube_of(data)
    if len(cube.axes) < 2:
        raise NothingToDrawError("fewer than two axes have several values")
    frame = with_metric(data, cube, METRIC)
    fixed = {}
    rest = [n for n in cube.axes if n != "scheduler"]
    if "scheduler" in cube.axes and len(rest) > 1:
        count = data.settings["scheduler"].value_counts()
        fixed["scheduler"] = plain(count.index[0])
    inside = frame
    for name, value in fixed.items():
        inside = inside[inside[name].map(plain) == value]
    if why := why_no_grid(inside, rest if fixed else cube.axes):
        raise NothingToDrawError(why)
    ranked = [] if fixed else ["scheduler"] if "scheduler" in cube.axes else []
    effects = main_effects(inside, rest)
    ranked = [*(effects["axis"] if len(effects) else []), *ranked]
    ranked += [n for n in rest if n not in ranked]
    x, y = ranked[:2]
    means = cells(frame, [x, y], fixed).rename(columns={"value": METRIC})
    text = [f"{v:.4g}" for v in means[METRIC]]
    means = means.assign(text=text, **{f"fixed_{n}": v for n, v in fixed.items()})
    means.attrs["note"] = data.comparable.attrs["note"]
    return means


def chart(table: pd.DataFrame) -> Chart:
    """Draw a heat map; the page offers a choice of axes, metric and fixed values."""
    x, y = table.columns[:2]
    names = [n for n in map(str, table.columns) if n.startswith("fixed_")]
    fixed = {n.removeprefix("fixed_"): str(table[n].iloc[0]) for n in names}
    values = ", ".join(f"{key_of(n)}={v}" for n, v in fixed.items())
    return Chart(
        "heat",
        x=(key_axis(x),),
        y=(key_axis(y),),
        z=(measure_axis(METRIC),),
        text="text",
        explore="mean",
        fixed=fixed,
        note=f"Mean over all other axes of the grid{f' at {values}' if values else ''}. A point "
        "that does not read an axis counts at each of its values. Needs a grid: all combinations "
        f"of the axes.{table.attrs.get('note', '')}",
    )


FIGURE = Figure("heat", "Sensitivity over two axes", 30, table, chart, needs=("mean_cct_s",))
