"""Coflows of the settings that figures show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.errors import StoreError
from sweep.report.averages import shown_settings
from sweep.report.data import RUN, ReportData
from sweep.report.figures._base import NothingToDrawError


def shown_points(data: ReportData) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the settings shown, and their points with the setting's row as ``setting``."""
    if not len(data.settings):
        raise NothingToDrawError("no point is finished")
    settings = shown_settings(data.settings, data.context)
    by = [*data.context, *data.knobs]
    number = data.points.groupby(by, sort=False, dropna=False).ngroup()
    points = data.points[["point_id", *([RUN] if RUN in data.points else []), "trace_id"]]
    points = points.assign(setting=number)
    return settings, points[number.isin(settings.index)]


_COLUMNS = ("cct_s", "gamma_s", "length_bytes", "size_bytes", "senders", "receivers", "bin")


def coflows_of(data: ReportData) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the settings shown, and their coflows with the setting's row as ``setting``."""
    settings, points = shown_points(data)
    if "coflows" not in data.memo:
        try:
            coflows = data.detail("coflows", _COLUMNS, points["point_id"])
        except StoreError as error:
            raise NothingToDrawError(str(error)) from error
        keys = [n for n in (RUN, "point_id") if n in coflows]
        data.memo["coflows"] = coflows.merge(points, on=keys).drop(columns=RUN, errors="ignore")
    return settings, data.memo["coflows"]


MOST_POINTS = 5_000
"""Most points of a scatter plot; of more, those that would lie on each other become one."""
_CELLS = 10.0
"""Cells of a decade."""


def thinned(points: pd.DataFrame, by: Sequence[str], axes: Sequence[str]) -> pd.DataFrame:
    """Return points > 0; of many, one per cell of a logarithmic grid, with their number."""
    if len(points) <= MOST_POINTS:
        return points.reset_index(drop=True)
    cells = points.copy()
    for name in axes:
        cells[name] = 10.0 ** (np.round(np.log10(cells[name].to_numpy(float)) * _CELLS) / _CELLS)
    counted = cells.groupby([*by, *axes], sort=False, dropna=False).size()
    return counted.rename("coflows").reset_index()
