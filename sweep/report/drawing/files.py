"""Charts as files and in notebooks, by matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatter, MaxNLocator, PercentFormatter

from core.keys import key_of
from sweep.report.averages import measure_axis, metric_title, plain
from sweep.report.drawing.chart import PALETTE, Axis, Chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PANELS = 6
_PANELS_IN_A_ROW = 3
MOST_IN_LEGEND = 24
_DASHES = ("-", "--", ":", "-.")
_MARKERS = "osD^v<>P"
_NAMED = ("heat", "bars", "spans")
_WRAP = 40
"""Letters of a name in one line."""
_SLIVER = 0.012
"""Share of the axis below which a span has no room for a white edge."""
_STYLE: Any = {
    "svg.hashsalt": "coflow-sweep",  # the same picture is the same file
    "svg.fonttype": "none",
    "text.parse_math": False,  # names from files are no formulas
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
}

Colours = Mapping[str, tuple[str, int]]
"""Colour of each value, and how often the palette has been used up before it."""


def draw(title: str, table: pd.DataFrame, chart: Chart) -> Figure:
    """Draw a chart: a panel for each value of the first column to select by."""
    with mpl.rc_context(_STYLE):
        panels = panels_of(table, chart)
        colours = colours_of(table, chart)
        figure = Figure(figsize=_size(panels, chart, colours), layout="constrained")
        FigureCanvasAgg(figure)
        across = min(len(panels), _PANELS_IN_A_ROW)
        grid = figure.subplots(
            -(-len(panels) // across), across, squeeze=False, sharey=chart.mark not in _NAMED
        )
        grid = grid.ravel()
        for axes in grid[len(panels) :]:
            axes.remove()
        for k, (axes, (name, part)) in enumerate(zip(grid, panels, strict=False)):
            _DRAW[chart.mark](axes, part, chart, colours)
            _finish(axes, part, chart, first=k % across == 0)
            if len(panels) > 1:
                axes.set_title(fill(name, 44), fontsize="small", loc="left")
        _legend(figure, grid[0], chart, colours)
        fixed = "" if len(panels) > 1 else panels[0][0]
        fixed = fixed or " ".join(_named(n, v) for n, v in chart.fixed.items())
        figure.suptitle(f"{title}\n{fixed}" if fixed else title, x=0.01, ha="left", fontsize=11)
        return figure


def save(figure: Figure, path: Path) -> None:
    """Write a figure; the same one gives the same SVG, byte by byte."""
    with mpl.rc_context(_STYLE):
        dated = {"metadata": {"Date": None}} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=150, **dated)  # type: ignore[arg-type]


def panels_of(table: pd.DataFrame, chart: Chart) -> list[tuple[str, pd.DataFrame]]:
    """Return the parts of a table that a file shows, with their names."""
    select = [n for n in chart.select if table[n].nunique(dropna=False) > 1]
    fixed = []
    for name in select[1:]:
        value = table[name].map(plain)
        table = table[value == value.iloc[0]]
        fixed.append(_named(name, value.iloc[0]))
    if not select:
        return [("", table)]
    name = select[0]
    shown = table[name].map(plain)
    return [
        (" ".join([_named(name, value), *fixed]), table[shown == value])
        for value in list(dict.fromkeys(shown))[:MOST_PANELS]
    ]


def _named(name: str, value: str) -> str:
    if name == "metric":
        return measure_axis(value).label
    return value if name in ("setting", "side", "trace") else f"{key_of(name)}={value}"


def colours_of(table: pd.DataFrame, chart: Chart) -> Colours:
    """Give each value of the column of colours one."""
    if not chart.colour:
        return {}
    values = list(dict.fromkeys(table[chart.colour].map(plain)))
    places = {v: chart.places.get(v, k) for k, v in enumerate(values)}
    return {v: (PALETTE[k % len(PALETTE)], k // len(PALETTE)) for v, k in places.items()}


def _groups(table: pd.DataFrame, chart: Chart, colours: Colours) -> list[tuple[Any, pd.DataFrame]]:
    if not chart.colour:
        return [(("", PALETTE[0], 0), table)]
    shown = table[chart.colour].map(plain)
    found = []
    for value, (colour, round_) in colours.items():
        if len(part := table[shown == value]):
            found.append(((value, colour, round_), part))
    return found


def _bars(axes: Axes, table: pd.DataFrame, chart: Chart, colours: Colours) -> None:
    x, names = chart.x[0], table[chart.y[0].column].map(plain)
    place = {name: k for k, name in enumerate(dict.fromkeys(names))}
    for (_, colour, _r), part in _groups(table, chart, colours):
        at = [place[n] for n in part[chart.y[0].column].map(plain)]
        axes.barh(at, part[x.column], height=0.7, color=colour, xerr=_error(part, x), ecolor="0.3")
    if x.marker in table and table[x.marker].notna().any():
        axes.plot(
            table[x.marker], [place[n] for n in names], "|", ms=16, mew=2, color="k",
            label=x.marker_label,
        )  # fmt: skip
    axes.set_yticks(list(place.values()), [fill(n, _WRAP) for n in place])
    axes.set_ylim(len(place) - 0.4, -0.6)
    if chart.text:
        half = _error(table, x)
        ends = table[x.column] + (0.0 if half is None else half)
        for name, value, text in zip(names, ends, table[chart.text], strict=True):
            _beside(axes, str(text), value, place[name])
        axes.margins(x=0.25)


def _beside(axes: Axes, text: str, x: float, y: float) -> None:
    """Write to the right of a bar's end."""
    axes.annotate(
        text, (x, y), xytext=(6, 0), textcoords="offset points", va="center", fontsize="small",
        annotation_clip=False,
    )  # fmt: skip


def _spans(axes: Axes, table: pd.DataFrame, chart: Chart, colours: Colours) -> None:
    names = table[chart.y[0].column].map(plain)
    place = {name: k for k, name in enumerate(dict.fromkeys(names))}
    first, last = table[chart.x[0].column].to_numpy(float), table[chart.end].to_numpy(float)
    whole = last.max(initial=0.0) - first.min(initial=0.0)
    for (_, colour, _r), part in _groups(table, chart, colours):
        at = [place[n] for n in part[chart.y[0].column].map(plain)]
        start = part[chart.x[0].column].to_numpy(float)
        width = part[chart.end].to_numpy(float) - start
        edges = ["w" if w > _SLIVER * whole else colour for w in width]
        axes.barh(at, width, left=start, height=0.7, color=colour, edgecolor=edges, linewidth=0.5)
    if chart.text and chart.colour:  # inside, where there is room
        for name, start, end, text in zip(names, first, last, table[chart.text], strict=True):
            if end - start > _SLIVER * whole * (1 + len(str(text))):
                axes.annotate(
                    str(text), ((start + end) / 2, place[name]), va="center", ha="center",
                    color="w", fontsize="small",
                )  # fmt: skip
    elif chart.text:
        for name, end, text in zip(names, last, table[chart.text], strict=True):
            _beside(axes, fill(str(text), 26), end, place[name])
        room = whole or 1.0  # all of them 0
        axes.set_xlim(first.min() - 0.05 * room, last.max() + 0.45 * room)
    axes.set_yticks(list(place.values()), [fill(n, _WRAP) for n in place])
    axes.set_ylim(len(place) - 0.4, -0.6)


def _lines(axes: Axes, table: pd.DataFrame, chart: Chart, colours: Colours) -> None:
    x, y = chart.x[0], chart.y[0]
    for (_, colour, round_), part in _groups(table, chart, colours):
        part = part.sort_values(x.column, kind="stable")
        axes.errorbar(
            part[x.column], part[y.column], yerr=_error(part, y), color=colour, capsize=2,
            marker=_MARKERS[round_ % len(_MARKERS)], ms=4, ls=_DASHES[round_ % len(_DASHES)],
        )  # fmt: skip


def _steps(axes: Axes, table: pd.DataFrame, chart: Chart, colours: Colours) -> None:
    for (_, colour, round_), part in _groups(table, chart, colours):
        axes.step(
            part[chart.x[0].column], part[chart.y[0].column], where="post", color=colour,
            ls=_DASHES[round_ % len(_DASHES)],
        )  # fmt: skip


def _points(axes: Axes, table: pd.DataFrame, chart: Chart, colours: Colours) -> None:
    x, y = chart.x[0], chart.y[0]
    for (_, colour, round_), part in _groups(table, chart, colours):
        size = 12.0 if not chart.size else 8 * np.sqrt(part[chart.size].to_numpy(float)) + 4
        axes.scatter(
            part[x.column], part[y.column], s=size, color=colour, alpha=0.6, linewidths=0,
            marker=_MARKERS[round_ % len(_MARKERS)],
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
    wrapped = [fill(n, _WRAP if upright else max(6, 64 // len(columns))) for n in columns]
    axes.set_xticks(range(len(columns)), wrapped, rotation=90 if upright else 0)
    axes.set_yticks(range(len(rows)), [fill(n, _WRAP) for n in rows])
    if chart.text and values.size <= 150:
        low, high = np.nanmin(values), np.nanmax(values)
        for row in cells.to_dict("records"):
            i, j = rows.index(row["y"]), columns.index(row["x"])
            dark = not chart.colour and values[i, j] < (low + high) / 2
            shade = "w" if dark or chart.colour else "k"
            axes.text(
                j, i, str(row[chart.text]), ha="center", va="center", color=shade, fontsize="small"
            )


_DRAW: Mapping[str, Callable[[Axes, pd.DataFrame, Chart, Colours], None]] = {
    "bars": _bars,
    "spans": _spans,
    "lines": _lines,
    "steps": _steps,
    "points": _points,
    "heat": _heat,
}


def _error(table: pd.DataFrame, axis: Axis) -> Any:
    there = axis.error in table and table[axis.error].notna().any()
    return table[axis.error].fillna(0).to_numpy(float) if there else None


class _Plain(LogFormatter):
    """Numbers of a logarithmic axis as they are: text is no formula here."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return f"{x:g}" if super().__call__(x, pos) else ""


def _finish(axes: Axes, table: pd.DataFrame, chart: Chart, first: bool) -> None:
    x, y = chart.x[0], chart.y[0]
    axes.set_xlabel(_title(x, table))
    names_on_y = chart.mark in ("bars", "spans")
    if first and not (names_on_y and y.column == "label"):
        axes.set_ylabel(_title(y, table))
    for axis, ruler, named in ((x, axes.xaxis, False), (y, axes.yaxis, names_on_y)):
        if named or chart.mark == "heat":
            continue
        if axis.log:
            (axes.set_xscale if axis is x else axes.set_yscale)("log")
            ruler.set_major_formatter(_Plain())
            ruler.set_minor_formatter(_Plain())
        elif axis.share:
            ruler.set_major_formatter(PercentFormatter(1.0, symbol=""))
        elif pd.api.types.is_integer_dtype(table[axis.column]):
            ruler.set_major_locator(MaxNLocator(integer=True))
        ruler.grid(visible=True, alpha=0.3, linewidth=0.5)
    if chart.mark == "steps":
        axes.set_ylim(0, 1)


def _title(axis: Axis, table: pd.DataFrame) -> str:
    if not axis.of:
        return axis.title
    return f"{metric_title(str(table[axis.of].iloc[0]))}, {axis.label}"


def _legend(figure: Figure, axes: Axes, chart: Chart, colours: Colours) -> None:
    handles: list[Any] = []
    for value, (colour, round_) in _explained(chart, colours).items():
        line = chart.mark in ("lines", "steps")
        symbol = _MARKERS[round_ % len(_MARKERS)] if chart.mark == "points" else "s"
        style = _DASHES[round_ % len(_DASHES)] if line else "none"
        marker = "" if line else symbol
        handles.append(Line2D([], [], color=colour, ls=style, label=value, marker=marker))
    marked, names = axes.get_legend_handles_labels()
    handles += [h for h, n in zip(marked, names, strict=True) if n == chart.x[0].marker_label != ""]
    if chart.text_label:
        handles.append(Line2D([], [], ls="none", label=chart.text_label))
    if handles:
        columns = _legend_columns([str(h.get_label()) for h in handles])
        figure.legend(handles=handles, loc="outside lower left", ncols=columns, fontsize="small")


def _explained(chart: Chart, colours: Colours) -> Colours:
    """Return the colours that need a legend."""
    bars_named = chart.mark == "bars" and chart.colour == chart.y[0].column
    least = 1 if chart.mark == "heat" else 2
    return colours if least <= len(colours) <= MOST_IN_LEGEND and not bars_named else {}


def _legend_columns(names: Sequence[str]) -> int:
    return min(len(names), max(1, 100 // (6 + max(map(len, names)))))


def _size(
    panels: Sequence[tuple[str, pd.DataFrame]], chart: Chart, colours: Colours
) -> tuple[float, float]:
    """Return width and height [in] that hold names and legend."""
    names = [list(dict.fromkeys(part[chart.y[0].column].map(plain))) for _, part in panels]
    across = min(len(panels), _PANELS_IN_A_ROW)
    width, height = (7.2 if across == 1 else 4.2 * across), 3.2
    if chart.mark in _NAMED:
        height = min(14.0, 1.2 + max(0.3 * max(map(len, names)), 1.0))
        longest = max((min(len(n), _WRAP) for part in names for n in part), default=0)
        width += across * 0.07 * max(0, longest - 16)
    legend = _explained(chart, colours)
    rows = -(-len(legend) // _legend_columns(list(legend))) if legend else 0
    return width, height * -(-len(panels) // across) + 0.6 + 0.2 * rows
