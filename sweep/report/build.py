"""All files of a report, and single figures for notebooks."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from core.errors import InputError, StoreError, nearest
from sweep.report.data import ReportData, in_memory, open_runs
from sweep.report.drawing.chart import Chart
from sweep.report.drawing.colours import places_of
from sweep.report.figures import Figure, NothingToDrawError, figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_NEEDS = {
    "mean_cct_s": (
        *("average_cct", "gantt", "pairwise", "heat", "wins", "interactions", "gap", "engines"),
    ),
    "trace_id": ("gantt", "cdf", "bottleneck", "width_size", "reducer_loads"),
}
"""Columns that a table in memory may lack, and the figures that cannot do without."""

_SUFFIXES = ("csv", "svg", "png")
_URI = re.compile(r"[A-Za-z][\w+.-]+:/")
_HEAD = 16_000
"""Bytes of a page within which it lists its files."""
_FILES = re.compile(r'<meta name="files" content="([^"]*)">')
_OWN = re.compile(r"\w+\.(csv|svg|png)")

DIGITS = 9
"""Significant digits of the numbers in figures, on the page and in CSV files alike."""


@dataclass(frozen=True)
class Drawn:
    """A figure with what it shows of a dataset."""

    figure: Figure
    table: pd.DataFrame
    chart: Chart


def table_of(name: str, data: ReportData) -> Drawn:
    """Return a figure's table and chart.

    Raises
    ------
    InputError
        No such figure.
    NothingToDrawError
        The dataset lacks what the figure needs.
    """
    figure = figures().get(name) if isinstance(name, str) else None
    if figure is None:
        known = ", ".join(figures())
        raise InputError(f"no figure {name!r}{nearest(str(name), figures())}; there are {known}")
    for column, names in _NEEDS.items():
        if name in names and len(data.points) and _is_empty(data.points, column):
            raise NothingToDrawError(f"no point has a value of {column}")
    table = rounded(figure.table(data)).reset_index(drop=True)
    chart = figure.chart(table)
    return Drawn(figure, table, replace(chart, places=places_of(data, table, chart)))


def _is_empty(points: pd.DataFrame, column: str) -> bool:
    return column not in points or bool(points[column].isna().all())


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
        What `sweep.load` has returned, or a directory.
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
    return draw(drawn.figure.title, drawn.table, drawn.chart)


def write_report(
    data: ReportData, directory: str | os.PathLike[str]
) -> tuple[list[str], list[str]]:
    """Write page, figures and tables into a directory; those of a report there before go.

    Other files are left alone, whatever their names: a page lists what belongs to it.

    Returns
    -------
    drawn, left_out : list of str
        Names of figures, and what the others lack.

    Raises
    ------
    InputError
        Not a local directory.
    StoreError
        The directory cannot be written to.
    """
    from sweep.report.drawing.page import page

    place = local_directory(directory)
    found, missing = draw_all(data)
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name in own_files(place):
            (place / name).unlink(missing_ok=True)
        files = [f"{d.figure.name}.{suffix}" for d in found for suffix in _SUFFIXES]
        for drawn in found:
            _write(drawn, place)
        if len(data.points):
            rounded(data.settings).to_csv(place / "settings.csv", index=False)
            files.append("settings.csv")
        (place / "index.html").write_text(page(data, found, missing, files), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write {error.filename or place}: {error.strerror}") from error
    return [d.figure.name for d in found], [f"{f.name}: {why}" for f, why in missing]


def local_directory(directory: str | os.PathLike[str]) -> Path:
    """Return where a report goes.

    Raises
    ------
    InputError
        Nothing, a URI, or a file.
    """
    given = os.fspath(directory)
    if not given:
        raise InputError("--out is empty: give a directory, as in --out report")
    if _URI.match(given):
        raise InputError(f"--out {given}: a report goes into a local directory; copy it from there")
    place = Path(given)
    if place.exists() and not place.is_dir():
        raise InputError(f"--out {given} is a file: a directory is wanted")
    return place


def own_files(place: Path) -> list[str]:
    """Return the files that the report in a directory says are its own."""
    try:
        with (place / "index.html").open("rb") as page:
            head = page.read(_HEAD).decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    listed = _FILES.search(head)
    names = listed[1].split() if listed else []
    return [n for n in names if _OWN.fullmatch(n)]


def draw_all(data: ReportData) -> tuple[list[Drawn], list[tuple[Figure, str]]]:
    """Return the figures that can be drawn, and why the others cannot."""
    found, missing = [], []
    for name, figure in figures().items():
        try:
            found.append(table_of(name, data))
        except NothingToDrawError as error:
            missing.append((figure, str(error)))
    return found, missing


def _write(drawn: Drawn, place: Path) -> None:
    from sweep.report.drawing.files import draw, save

    name = drawn.figure.name
    drawn.table.to_csv(place / f"{name}.csv", index=False)
    drawing = draw(drawn.figure.title, drawn.table, drawn.chart)
    for suffix in ("svg", "png"):
        save(drawing, place / f"{name}.{suffix}")


def rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with `DIGITS` significant digits."""
    table = table.copy()
    for name in table.columns:
        if table[name].dtype == np.float64:
            table[name] = [float(f"{v:.{DIGITS}g}") for v in table[name]]
    return table


def open_report(paths: Sequence[str], where: Mapping[str, str]) -> ReportData:
    """Return the dataset of a report."""
    return open_runs(paths).where(where)
