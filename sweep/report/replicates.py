"""Which replicates settings have in common: only those are compared across settings."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from core.keys import REPEATS
from sweep.report.averages import plain

ALL_DIFFER = (
    " Settings have no replicate in common: the means compared here are over different draws."
)


def repeats_of(points: pd.DataFrame) -> pd.Series:
    """Return the replicate and the seeds of each point, as one value."""
    names = [n for n in REPEATS if n in points]
    rows = zip(*(points[n].map(plain) for n in names), strict=True)
    return pd.Series(list(rows) if names else [()] * len(points), points.index, dtype=object)


def setting_numbers(points: pd.DataFrame, by: Sequence[str]) -> pd.Series:
    """Return the number of each point's setting, in the order of the points."""
    return points.groupby(list(by), sort=False, dropna=False).ngroup()


def common_points(
    points: pd.DataFrame, context: Sequence[str], knobs: Sequence[str]
) -> tuple[pd.DataFrame, str]:
    """Return the points of replicates that all settings have, and a note about the others.

    Where no replicate is common to all contexts (a workload without random choices has none), the
    replicates are those common to the settings of each context. Settings of a context without a
    common replicate keep all their points, and the note says so. No setting is left without points.
    """
    if not len(points):
        return points, ""
    repeats = repeats_of(points)
    setting = setting_numbers(points, [*context, *knobs])
    groups = [points.index]
    if not _common(repeats, setting) and context:
        groups = [part.index for _, part in points.groupby(list(context), sort=False, dropna=False)]
    kept: list[pd.Index[int]] = []
    differ = False
    for index in groups:
        common = _common(repeats[index], setting[index])
        differ |= not common
        kept.append(index[repeats[index].map(common.__contains__)] if common else index)
    rows = points.loc[sorted(k for index in kept for k in index)]
    note = ALL_DIFFER if differ else ""
    if lost := len(points) - len(rows):
        note += f" Only replicates that all settings have are averaged: {lost} points are left out."
    return rows, note


def _common(repeats: pd.Series, setting: pd.Series) -> set[object]:
    """Return the replicates that every setting has."""
    sets = repeats.groupby(setting).agg(set)
    return set.intersection(*sets)
