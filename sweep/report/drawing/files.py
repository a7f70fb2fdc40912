"""Charts as files and in notebooks, by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatter, MaxNLocator, PercentFormatter

from core.keys import key_of
from sweep.report.averages import measure_axis, metric_title, plain
from sweep.report.drawing.chart import PALETTE, Axis, Chart
from sweep.report.drawing.marks import DASHES, DRAW, MARKERS, WRAP, Colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PANELS = 6
_PANELS_IN_A_ROW = 3
MOST_IN_LEGEND = 24
_NAMED = ("heat", "bars", "spans")
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
            DRAW[chart.mark](axes, part, chart, colours)
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
    """Return a colour for each value of the column that is coloured."""
    if not chart.colour:
        return {}
    values = list(dict.fromkeys(table[chart.colour].map(plain)))
    indices = {v: chart.palette_index.get(v, k) for k, v in enumerate(values)}
    return {v: (PALETTE[k % len(PALETTE)], k // len(PALETTE)) for v, k in indices.items()}


class _Plain(LogFormatter):
    """Numbers of a logarithmic axis as plain text: this text is no formula."""

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
        symbol = MARKERS[round_ % len(MARKERS)] if chart.mark == "points" else "s"
        style = DASHES[round_ % len(DASHES)] if line else "none"
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
        longest = max((min(len(n), WRAP) for part in names for n in part), default=0)
        width += across * 0.07 * max(0, longest - 16)
    legend = _explained(chart, colours)
    rows = -(-len(legend) // _legend_columns(list(legend))) if legend else 0
    return width, height * -(-len(panels) // across) + 0.6 + 0.2 * rows
