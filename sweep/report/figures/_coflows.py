"""Coflows of the settings that are shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.errors import StoreError
from sweep.report.dataset import RUN, Dataset
from sweep.report.figures._base import NothingToDrawError
from sweep.report.settings import shown_settings


def shown_points(data: Dataset) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the settings shown, and their points with the setting's row as ``setting``."""
    if not len(data.settings):
        raise NothingToDrawError("no point is finished")
    settings = shown_settings(data.settings, data.conditions)
    by = [*data.conditions, *data.knobs]
    number = data.points.groupby(by, sort=False, dropna=False).ngroup()
    points = data.points[["point_id", *([RUN] if RUN in data.points else []), "trace_id"]]
    points = points.assign(setting=number)
    return settings, points[number.isin(settings.index)]


def coflows_of(data: Dataset, columns: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the settings shown, and their coflows with the setting's row as ``setting``."""
    settings, points = shown_points(data)
    try:
        coflows = data.detail("coflows", columns, points["point_id"])
    except StoreError as error:
        raise NothingToDrawError(str(error)) from error
    keys = [n for n in (RUN, "point_id") if n in coflows]
    merged = coflows.merge(points, on=keys)
    return settings, merged.drop(columns=RUN, errors="ignore")


MOST_POINTS = 12_000
"""Points of a scatter plot; of more, those that would lie on each other are one."""
_CELLS = 20.0
"""Cells of a decade."""


def thinned(points: pd.DataFrame, by: Sequence[str], axes: Sequence[str]) -> pd.DataFrame:
    """Return points > 0, or where they are many one a cell of a logarithmic grid, with a count."""
    if len(points) <= MOST_POINTS:
        return points.reset_index(drop=True)
    cells = points.copy()
    for name in axes:
        cells[name] = 10.0 ** (np.round(np.log10(cells[name].to_numpy(float)) * _CELLS) / _CELLS)
    counted = cells.groupby([*by, *axes], sort=False, dropna=False).size()
    return counted.rename("coflows").reset_index()
