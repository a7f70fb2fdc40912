"""All files of a report, and single figures for notebooks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from core.errors import InputError, StoreError, nearest
from sweep.report.data import ReportData
from sweep.report.directory import PAGE, earlier_report, local_directory
from sweep.report.drawing.chart import Drawn
from sweep.report.drawing.colours import palette_index
from sweep.report.figures import NothingToDrawError, figures
from sweep.report.sources import in_memory, open_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_SUFFIXES = ("csv", "svg", "png")

DIGITS = 9
"""Significant digits of all numbers in figures, on the page and in CSV files."""


def table_of(name: str, data: ReportData) -> Drawn:
    """Return a figure's table and chart.

    Raises
    ------
    InputError
        No such figure.
    NothingToDrawError
        The dataset lacks what the figure needs.
    """
    if not isinstance(name, str) or name not in figures():
        hint = nearest(str(name), figures())
        raise InputError(f"no figure {name!r}{hint}; the figures are {', '.join(figures())}")
    figure = figures()[name]
    for column in figure.lacks(data.points):
        raise NothingToDrawError(f"no point has a value of {column}")
    table = rounded(figure.table(data)).reset_index(drop=True)
    chart = figure.chart(table)
    chart = replace(chart, palette_index=palette_index(data, table, chart))
    return Drawn(figure.name, figure.title, table, chart)


def plot(
    name: str,
    data: pd.DataFrame | str | os.PathLike[str],
    where: Mapping[str, Any] | None = None,
) -> Drawing:
    """Draw a figure of a dataset, as a matplotlib figure.

    Parameters
    ----------
    name : str
        As in ``python -m sweep.report --list``.
    data : DataFrame or path
        A table that `sweep.load` has returned, or a directory.
    where : mapping, optional
        Only rows with these values, by key: ``{"engine": "fluid", "queue.base": 2}``.

    Raises
    ------
    InputError
        No such figure, or nothing to draw it from.
    """
    from sweep.report.drawing.files import draw

    if not isinstance(data, pd.DataFrame | str | os.PathLike):
        raise InputError(f"data is a {type(data).__name__}: give a table of load(), or a directory")
    if where is not None and not isinstance(where, Mapping):
        raise InputError(f"where is a {type(where).__name__}: give a mapping of keys to values")
    dataset = in_memory(data) if isinstance(data, pd.DataFrame) else open_runs([data])
    try:
        drawn = table_of(name, dataset.where(where or {}))
    except NothingToDrawError as error:
        raise InputError(f"{name}: {error}") from error
    return draw(drawn.title, drawn.table, drawn.chart)


def write_report(
    data: ReportData, directory: str | os.PathLike[str]
) -> tuple[list[str], dict[str, str]]:
    """Write page, figures and tables into a directory, in place of an earlier report's.

    Other files stay, whatever their names: a page lists the files that belong to it.

    Returns
    -------
    drawn : list of str
        Names of figures.
    left_out : dict of str to str
        What each of the other figures lacks, by its name.

    Raises
    ------
    InputError
        Not a local directory.
    StoreError
        The directory cannot be written to, or holds a page that is not a report's.
    """
    from sweep.report.drawing.page import page

    path = local_directory(directory)
    earlier = earlier_report(path)
    drawn, left_out = draw_all(data)
    try:
        path.mkdir(parents=True, exist_ok=True)
        for name in earlier.files if earlier else ():
            (path / name).unlink(missing_ok=True)
        files = [f"{figure.name}.{suffix}" for figure in drawn for suffix in _SUFFIXES]
        for figure in drawn:
            _write(figure, path)
        if len(data.points):
            rounded(data.settings).to_csv(path / "settings.csv", index=False)
            files.append("settings.csv")
        titles = {figures()[name].title: why for name, why in left_out.items()}
        (path / PAGE).write_text(page(data, drawn, titles, files), encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"cannot write {error.filename or path}: {error.strerror}; "
            "choose another directory with --out"
        ) from error
    return [figure.name for figure in drawn], left_out


def draw_all(data: ReportData) -> tuple[list[Drawn], dict[str, str]]:
    """Return the figures that can be drawn, and by name what the others lack."""
    drawn, left_out = [], {}
    for name in figures():
        try:
            drawn.append(table_of(name, data))
        except NothingToDrawError as error:
            left_out[name] = str(error)
    return drawn, left_out


def _write(figure: Drawn, directory: Path) -> None:
    from sweep.report.drawing.files import draw, save

    figure.table.to_csv(directory / f"{figure.name}.csv", index=False)
    drawing = draw(figure.title, figure.table, figure.chart)
    save(drawing, directory / f"{figure.name}.svg")
    drawing.set_layout_engine("none")  # both files have the layout found for the first
    save(drawing, directory / f"{figure.name}.png")


def rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with `DIGITS` significant digits."""
    table = table.copy()
    for name in table.columns:
        if table[name].dtype == np.float64:
            table[name] = [float(f"{v:.{DIGITS}g}") for v in table[name]]
    return table
