"""Sensitivity: the grid as a cube, main effects, interactions, and who wins where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from sweep.report.dataset import Dataset
from sweep.report.settings import in_order, plain

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cube:
    """The grid as asked for, its replicates averaged.

    A point that does not read an axis stands at each of its values, as the grid has it; so the
    mean over the other axes weighs all values of an axis alike in a full grid.

    Attributes
    ----------
    axes : list of str
    frame : DataFrame
        One row per combination of axes: those, ``setting`` (row of `Dataset.settings`) and
        ``weight`` (grid rows behind it).
    """

    axes: list[str]
    frame: pd.DataFrame

    def shown(self, axis: str) -> list[str]:
        """Return the value of each row as the command line has it."""
        return [plain(v) for v in self.frame[axis]]

    def values(self, axis: str) -> list[str]:
        """Return the values of an axis: numbers ascending, names in the order of the grid."""
        return values_of(self.frame[axis])


def values_of(column: pd.Series) -> list[str]:
    """Return the values of a column as text: numbers ascending, then names as they come."""
    return list(dict.fromkeys(plain(v) for v in in_order(column)))


def cube_of(data: Dataset) -> Cube:
    """Return the grid of what is finished."""
    axes = [*data.conditions, *data.knobs]
    axes = [n for n in axes if data.ok[n].nunique(dropna=False) > 1]
    by = [*data.conditions, *data.knobs]
    number = data.points.groupby(by, sort=False, dropna=False).ngroup()
    keys = [n for n in ("run", "point_id") if n in data.points]
    settings = data.points[keys].assign(setting=number)
    rows = data.ok[[*keys, *[n for n in axes if n not in keys]]].merge(
        settings, on=keys, how="left"
    )
    rows = rows.assign(weight=1)
    grouped = rows.groupby([*axes, "setting"], sort=False, dropna=False)["weight"].sum()
    return Cube(axes, grouped.reset_index())


def with_metric(data: Dataset, cube: Cube, metric: str) -> pd.DataFrame:
    """Return the rows of a cube with a metric as ``value``, where it is known."""
    value = data.settings[metric].to_numpy(float)[cube.frame["setting"].to_numpy(int)]
    return cube.frame.assign(value=value).dropna(subset="value")


def cells(frame: pd.DataFrame, axes: Sequence[str], fixed: Mapping[str, str]) -> pd.DataFrame:
    """Return the mean of ``value`` in each cell of some axes, over the rows with fixed values."""
    for name, value in fixed.items():
        frame = frame[frame[name].map(plain) == value]
    weighed = frame.assign(value=frame["value"] * frame["weight"])
    sums = weighed.groupby(list(axes), sort=False, dropna=False)[["value", "weight"]].sum()
    means = (sums["value"] / sums["weight"]).rename("value").reset_index()
    places = []
    for name in axes:
        order = {v: k for k, v in enumerate(values_of(means[name]))}
        places.append([order[plain(v)] for v in means[name]])
    return means.iloc[np.lexsort(places)].reset_index(drop=True)


def main_effects(frame: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """Return each axis's effect on ``value``: its best and worst value, and share of variance.

    One row per axis with two values or more, the largest range first.
    """
    weight, value = frame["weight"].to_numpy(float), frame["value"].to_numpy(float)
    mean, total = _spread(value, weight)
    rows = []
    for name in axes:
        means = cells(frame, [name], {})
        if len(means) < 2:
            continue
        low, high = means.iloc[means["value"].argmin()], means.iloc[means["value"].argmax()]
        rows.append(
            {
                "axis": name,
                "low": low["value"],
                "high": high["value"],
                "low_at": plain(low[name]),
                "high_at": plain(high[name]),
                "range": high["value"] - low["value"],
                "mean": mean,
                "variance_share": _explained(frame, [name]) / total if total > 0 else 0.0,
            }
        )
    found = pd.DataFrame(rows)
    return found.sort_values("range", ascending=False, kind="stable") if rows else found


def interactions(frame: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """Return, pair by pair, the share of the variance of ``value`` that only both explain."""
    _, total = _spread(frame["value"].to_numpy(float), frame["weight"].to_numpy(float))
    varying = [n for n in axes if frame[n].map(plain).nunique() > 1]
    alone = {n: _explained(frame, [n]) for n in varying}
    rows = []
    for one, other in combinations(varying, 2):
        both = _explained(frame, [one, other]) - alone[one] - alone[other]
        shares = [s / total if total > 0 else 0.0 for s in (alone[one], alone[other], max(both, 0))]
        rows.append([one, other, *shares])
    names = ["axis", "other_axis", "axis_share", "other_share", "interaction_share"]
    found = pd.DataFrame(rows, columns=names)
    return found.sort_values("interaction_share", ascending=False, kind="stable")


def _explained(frame: pd.DataFrame, axes: list[str]) -> float:
    """Return the sum of squares between the cells of some axes."""
    weighed = frame.assign(value=frame["value"] * frame["weight"])
    sums = weighed.groupby(axes, sort=False, dropna=False)[["value", "weight"]].sum()
    weight = sums["weight"].to_numpy(float)
    return _spread(sums["value"].to_numpy(float) / weight, weight)[1]


def _spread(value: Floats, weight: Floats) -> tuple[float, float]:
    """Return the weighted mean and the weighted sum of squares about it."""
    mean = float(np.average(value, weights=weight))
    return mean, float(np.sum(weight * (value - mean) ** 2))


def by_scheduler(data: Dataset, metric: str) -> list[tuple[str, pd.DataFrame, list[str]]]:
    """Return, scheduler by scheduler, rows with ``value`` and the axes that it reads.

    The last entry, with several schedulers, is the whole grid with the scheduler as an axis.
    """
    found = []
    settings = data.settings.assign(value=data.settings[metric], weight=1).dropna(subset="value")
    axes = [*data.conditions, *data.knobs]
    for scheduler, group in settings.groupby("scheduler", sort=False):
        read = [n for n in axes if n != "scheduler" and group[n].nunique(dropna=False) > 1]
        if read:
            found.append((str(scheduler), group, read))
    cube = cube_of(data)
    if "scheduler" in cube.axes:
        found.append(("all", with_metric(data, cube, metric), cube.axes))
    return sorted(found, key=lambda f: (f[0] == "all", -len(f[2]), -len(f[1])))
