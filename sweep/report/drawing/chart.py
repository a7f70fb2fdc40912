"""`Chart`: how a table is drawn, declared once for the files and for the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

Mark = Literal["bars", "lines", "steps", "points", "spans", "heat"]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#8C564B")
"""Okabe and Ito's colours, which colour-blind readers can tell apart; grey and brown for black
and yellow, which vanish on one of the two backgrounds."""


def both_scales(column: str, label: str, unit: str = "", **options: Any) -> tuple[Axis, Axis]:
    """Return a column as a logarithmic axis, and as a linear one to choose instead."""
    log = Axis(column, label, unit, log=True, **options)
    return log, replace(log, label=f"{label} (linear)", log=False)


def columns_before(table: pd.DataFrame, name: str) -> tuple[str, ...]:
    """Return the columns of a table in front of one of them: what is selected by."""
    names = [str(column) for column in table.columns]
    return tuple(names[: names.index(name)])


@dataclass(frozen=True)
class Axis:
    """A column of numbers or names along an axis of a chart.

    Attributes
    ----------
    column : str
    label : str
        Without the unit.
    unit : str
        Empty where there is none.
    log : bool
    share : bool
        Shown in percent.
    error : str
        Column with half the 95 % interval; empty where there is none.
    marker : str
        Column with a value that is marked beside each bar; `marker_label` says what it is.
    of : str
        Column that names the metric of the numbers; the axis title is that metric and the label.
    """

    column: str
    label: str
    unit: str = ""
    log: bool = False
    share: bool = False
    error: str = ""
    marker: str = ""
    marker_label: str = ""
    of: str = ""

    @property
    def title(self) -> str:
        """Label with its unit."""
        unit = "%" if self.share else self.unit
        return f"{self.label} [{unit}]" if unit else self.label


@dataclass(frozen=True)
class Chart:
    """How the rows of a figure's table are drawn.

    Attributes
    ----------
    mark : str
        ``bars`` lie along x, one a name on y; ``spans`` run from `x` to `end`; ``heat`` has a
        colour `z` a cell.
    x, y, z : tuple of Axis
        The page offers a choice where there are several; files show the first.
    colour : str
        Column whose values have a colour each.
    select : tuple of str
        Columns of which one value is shown at a time. Files have a panel for each value of the
        first, as far as there is room, and the first value of the others.
    text : str
        Column with the text beside each mark; `text_label` explains it in the legend.
    hover : tuple of str
        Further columns that the page shows when the pointer is over a mark.
    end : str
        With spans, the column where they end.
    size : str
        With points, the column with the number of rows that a point replaces.
    diagonal : bool
        Draw x = y.
    explore : str
        With heat, the page offers a choice of axes, metric and fixed values: ``mean`` shows means
        over the other axes, ``wins`` shows which value of `colour_axis` is best.
    colour_axis : str
    fixed : mapping of str to str
        Values that are fixed when the page opens, by column.
    palette_index : mapping of str to int
        Index in the palette of each value of `colour`; an index beyond the palette's end repeats
        the colours with another dash or marker. Empty: values take the colours in their order.
    note : str
        Explanation below the figure.
    """

    mark: Mark
    x: tuple[Axis, ...]
    y: tuple[Axis, ...]
    z: tuple[Axis, ...] = ()
    colour: str = ""
    select: tuple[str, ...] = ()
    text: str = ""
    text_label: str = ""
    hover: tuple[str, ...] = ()
    end: str = ""
    size: str = ""
    diagonal: bool = False
    explore: str = ""
    colour_axis: str = ""
    fixed: Mapping[str, str] = field(default_factory=dict)
    palette_index: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    def content(self) -> dict[str, Any]:
        """Return the chart for JSON."""
        content = asdict(self)
        for side in ("x", "y", "z"):
            content[side] = [asdict(a) | {"title": a.title} for a in getattr(self, side)]
        return content


@dataclass(frozen=True)
class Drawn:
    """A figure of one dataset: its table, and how it is drawn.

    Attributes
    ----------
    name : str
        Name of its files.
    title : str
    table : DataFrame
    chart : Chart
    """

    name: str
    title: str
    table: pd.DataFrame
    chart: Chart
