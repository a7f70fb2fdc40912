"""The marks of a chart, drawn by matplotlib: bars, spans, lines, steps, points, heat maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import fill
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd

from sweep.report.averages import plain
from sweep.report.drawing.chart import PALETTE, Axis, Chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES = ("-", "--", ":", "-.")
MARKERS = "osD^v<>P"
WRAP = 40
"""Letters of a name in one line."""
_SLIVER = 0.012
"""Share of the axis below which a span has no room for a white edge."""

Colours = Mapping[str, tuple[str, int]]
"""Colour of each value, and how often the palette has been used up before it."""


def _groups(table: pd.DataFrame, chart: Chart, colours: Colours) -> list[tuple[Any, pd.DataFrame]]:
    if not chart.colour:
        return [(("", PALETTE[0], 0), table)]
    shown = table[chart.colour].map(plain)
    groups = []
    for value, (colour, round_) in colours.items():
        if len(part := table[shown == value]):
            groups.append(((value, colour, round_), part))
    return groups


def _bars(axes: Axes, table: pd.DataFrame, chart: Chart, colours: Colours) -> None:
    x, names = chart.x[0], table[chart.y[0].column].map(plain)
    row_of = {name: k for k, name in enumerate(dict.fromkeys(names))}
    for (_, colour, _r), part in _groups(table, chart, colours):
        at = [row_of[n] for n in part[chart.y[0].column].map(plain)]
        axes.barh(at, part[x.column], height=0.7, color=colour, xerr=_error(part, x), ecolor="0.3")
    if x.marker in table and table[x.marker].notna().any():
        axes.plot(
            table[x.marker], [row_of[n] for n in names], "|", ms=16, mew=2, color="k",
            label=x.marker_label,
        )  # fmt: skip
    axes.set_yticks(list(row_of.values()), [fill(n, WRAP) for n in row_of])
    axes.set_ylim(len(row_of) - 0.4, -0.6)
    if chart.text:
        half = _error(table, x)
        ends = table[x.column] + (0.0 if half is None else half)
        for name, value, text in zip(names, ends, table[chart.text], strict=True):
            _beside(axes, str(text), value, row_of[name])
        axes.margins(x=0.25)


def _beside(axes: Axes, text: str, x: float, y: float) -> None:
    """Write to the right of a bar's end."""
    axes.annotate(
        text, (x, y), xytext=(6, 0), textcoords="offset points", va="center", fontsize="small",
        annotation_clip=False,
    )  # fmt: skip


def _spans(axes: Axes, table: pd.DataFrame, chart: Chart, colours: Colours) -> None:
    names = table[chart.y[0].column].map(plain)
    row_of = {name: k for k, name in enumerate(dict.fromkeys(names))}
    first, last = table[chart.x[0].column].to_numpy(float), table[chart.end].to_numpy(float)
    whole = last.max(initial=0.0) - first.min(initial=0.0)
    for (_, colour, _r), part in _groups(table, chart, colours):
        at = [row_of[n] for n in part[chart.y[0].column].map(plain)]
        start = part[chart.x[0].column].to_numpy(float)
        width = part[chart.end].to_numpy(float) - start
        edges = ["w" if w > _SLIVER * whole else colour for w in width]
        axes.barh(at, width, left=start, height=0.7, color=colour, edgecolor=edges, linewidth=0.5)
    if chart.text and chart.colour:  # inside, where there is room
        for name, start, end, text in zip(names, first, last, table[chart.text], strict=True):
            if end - start > _SLIVER * whole * (1 + len(str(text))):
                axes.annotate(
                    str(text), ((start + end) / 2, row_of[name]), va="center", ha="center",
                    color="w", fontsize="small",
                )  # fmt: skip
    elif chart.text:
        for name, end, text in zip(names, last, table[chart.text], strict=True):
            _beside(axes, fill(str(text), 26), end, row_of[name])
        room = whole or 1.0  # all of them 0
        axes.set_xlim(first.min() - 0.05 * room, last.max() + 0.45 * room)
    axes.set_yticks(list(row_of.values()), [fill(n, WRAP) for n in row_of])
    axes.set_ylim(len(row_of) - 0.4, -0.6)


def _lines(axes: Axes, table: pd.DataFrame, chart: Chart, colours: Colours) -> None:
    x, y = chart.x[0], chart.y[0]
    for (_, colour, round_), part in _groups(table, chart, colours):
        part = part.sort_values(x.column, kind="stable")
        axes.errorbar(
            part[x.column], part[y.column], yerr=_error(part, y), color=colour, capsize=2,
            marker=MARKERS[round_ % len(MARKERS)], ms=4, ls=DASHES[round_ % len(DASHES)],
        )  # fmt: skip


def _steps(axes: Axes, table: pd.DataFrame, chart: Chart, colours: Colours) -> None:
    for (_, colour, round_), part in _groups(table, chart, colours):
        axes.step(
            part[chart.x[0].column], part[chart.y[0].column], where="post", color=colour,
            ls=DASHES[round_ % len(DASHES)],
        )  # fmt: skip


def _points(axes: Axes, table: pd.DataFrame, chart: Chart, colours: Colours) -> None:
    x, y = chart.x[0], chart.y[0]
    for (_, colour, round_), part in _groups(table, chart, colours):
        size = 12.0 if not chart.size else 8 * np.sqrt(part[chart.size].to_numpy(float)) + 4
        axes.scatter(
            part[x.column], part[y.column], s=size, color=colour, alpha=0.6, linewidths=0,
            marker=MARKERS[round_ % len(MARKERS)],
        )  # fmt: skip
    if chart.diagonal:
        ends = [table[[x.column, y.column]].min().min(), table[[x.column, y.column]].max().max()]
        axes.plot(ends, ends, color="0.5", lw=0.8, zorder=0)


def _heat(axes: Axes, table: pd.DataFrame, chart: Chart, colours: Colours) -> None:
    x, y, z = chart.x[0], chart.y[0], chart.z[0]
    cells = table.assign(x=table[x.column].map(plain), y=table[y.column].map(plain))
    columns, rows = list(dict.fromkeys(cells["x"])), list(dict.fromkeys(cells["y"]))
    values = np.full((len(rows), len(columns)), np.nan)
    codes = {name: k for k, name in enumerate(colours)}
    for row in cells.to_dict("records"):
        value = codes[plain(row[chart.colour])] if chart.colour else row[z.column]
        values[rows.index(row["y"]), columns.index(row["x"])] = value
    if chart.colour:
        shades = mpl.colors.ListedColormap([c for c, _ in colours.values()])
        axes.imshow(values, cmap=shades, vmin=-0.5, vmax=len(colours) - 0.5, aspect="auto")
    else:
        image = axes.imshow(values, cmap="cividis", aspect="auto")
        axes.get_figure().colorbar(image, ax=axes, label=z.title)  # type: ignore[union-attr]
    upright = len(columns) > 12
    wrapped = [fill(n, WRAP if upright else max(6, 64 // len(columns))) for n in columns]
    axes.set_xticks(range(len(columns)), wrapped, rotation=90 if upright else 0)
    axes.set_yticks(range(len(rows)), [fill(n, WRAP) for n in rows])
    if chart.text and values.size <= 150:
        low, high = np.nanmin(values), np.nanmax(values)
        for row in cells.to_dict("records"):
            i, j = rows.index(row["y"]), columns.index(row["x"])
            dark = not chart.colour and values[i, j] < (low + high) / 2
            shade = "w" if dark or chart.colour else "k"
            axes.text(
                j, i, str(row[chart.text]), ha="center", va="center", color=shade, fontsize="small"
            )


DRAW: Mapping[str, Callable[[Axes, pd.DataFrame, Chart, Colours], None]] = {
    "bars": _bars,
    "spans": _spans,
    "lines": _lines,
    "steps": _steps,
    "points": _points,
    "heat": _heat,
}


def _error(table: pd.DataFrame, axis: Axis) -> Any:
    present = axis.error in table and table[axis.error].notna().any()
    return table[axis.error].fillna(0).to_numpy(float) if present else None
