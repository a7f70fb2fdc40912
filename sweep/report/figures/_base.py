"""The record that a figure exports, and the list of all of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from core.plugins import Records, discover
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Chart

if TYPE_CHECKING:
    import pandas as pd


class NothingToDrawError(Exception):
    """A dataset lacks what a figure needs; the message names it."""


@dataclass(frozen=True)
class Figure:
    """A figure of the report.

    Attributes
    ----------
    name : str
        Name of its files.
    title : str
    order : int
        The page shows figures by ascending order.
    table : callable (ReportData) → DataFrame
        What is drawn, one row a mark, as in the CSV beside the figure; raises
        `NothingToDrawError`.
    chart : callable (DataFrame) → Chart
    needs : tuple of str
        Columns of `ReportData.points`; without a value in each of them the figure is left out,
        and `table` is not called.
    """

    name: str
    title: str
    order: int
    table: Callable[[ReportData], pd.DataFrame]
    chart: Callable[[pd.DataFrame], Chart]
    needs: tuple[str, ...] = ()

    def problem(self) -> str | None:
        """Say what is wrong with the record; None where nothing is."""
        if not callable(self.table) or not callable(self.chart):
            return "table and chart have to be functions"
        return None if isinstance(self.order, int | float) else "order has to be a number"

    def lacks(self, points: pd.DataFrame) -> list[str]:
        """Return the needed columns of which no point has a value; none where there is no point."""
        if not len(points):
            return []
        return [n for n in self.needs if n not in points or points[n].isna().all()]


@cache
def figures() -> Records[Figure]:
    """Return every figure by name, in the order of the page."""
    package = importlib.import_module("sweep.report.figures")
    return discover(package, Figure, "FIGURE", Figure.problem).sort(lambda f: (f.order, f.name))
