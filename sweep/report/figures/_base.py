"""The record that a figure exports, and the list of all of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from core.plugins import discover
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Chart

if TYPE_CHECKING:
    import pandas as pd


class NothingToDrawError(Exception):
    """A dataset that a figure cannot be drawn from; the message says what it lacks."""


@dataclass(frozen=True)
class Figure:
    """A figure of the report.

    Attributes
    ----------
    name : str
        Name of its files.
    title : str
    place : int
        Figures stand on the page by place.
    table : callable (ReportData) → DataFrame
        What is drawn, one row a mark, as in the CSV beside the figure; raises
        `NothingToDrawError`.
    chart : callable (DataFrame) → Chart
    """

    name: str
    title: str
    place: int
    table: Callable[[ReportData], pd.DataFrame]
    chart: Callable[[pd.DataFrame], Chart]


@cache
def figures() -> dict[str, Figure]:
    """Return every figure by name, in the order of the page."""
    found = discover(importlib.import_module("sweep.report.figures"), Figure, "FIGURE")
    return {f.name: f for f in sorted(found.values(), key=lambda f: (f.place, f.name))}
