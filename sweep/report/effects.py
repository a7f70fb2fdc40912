"""Sensitivity: the grid as a cube, main effects, interactions, and which setting wins where."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.keys import key_of
from sweep.report.averages import in_order, plain
from sweep.report.data import ReportData

Floats = npt.NDArray[np.float64]

FULL = 0.9
"""Share of the combinations of a grid that effects need: some points may have failed."""


@dataclass(frozen=True, eq=False)
class Cube:
    """The grid, its replicates averaged.

    A point that does not read an axis has a row at each value of the axis, as in the grid; so in
    a full grid the mean over the other axes weighs all values of an axis equally.

    Attributes
    ----------
    axes : list of str
    frame : DataFrame
        One row per combination of axes: those, ``setting`` (row of `ReportData.settings`) and
        ``weight`` (grid rows behind it).
    """

    axes: list[str]
    frame: pd.DataFrame

    def shown(self, axis: str) -> list[str]:
        """Return the value of each row as on the command line."""
        return [plain(v) for v in self.frame[axis]]

    def values(self, axis: str) -> list[str]:
        """Return the values of an axis: numbers ascending, names in the order of the grid."""
        return values_of(self.frame[axis])


def values_of(column: pd.Series) -> list[str]:
    """Return the values of a column as text: numbers ascending, then names in their order."""
    return list(dict.fromkeys(plain(v) for v in in_order(column)))


def cube_of(data: ReportData) -> Cube:
    """Return the grid of the finished points."""
    axes = [*data.context, *data.knobs]
    axes = [n for n in axes if data.ok[n].nunique(dropna=False) > 1]
    by = [*data.context, *data.knobs]
    number = data.points.groupby(by, sort=False, dropna=False).ngroup()
    keys = [n for n in ("run", "point_id") if n in data.points]
    settings = data.points[keys].assign(setting=number)
    rows = data.ok[[*keys, *[n for n in axes if n not in keys]]].merge(
        settings, on=keys, how="left"
    )
    rows = rows.assign(weight=1)
    grouped = rows.groupby([*axes, "setting"], sort=False, dropna=False)["weight"].sum()
    return Cube(axes, grouped.reset_index())


def with_metric(data: ReportData, cube: Cube, metric: str) -> pd.DataFrame:
    """Return the rows of a cube that have a metric, as ``value``, over common replicates."""
    value = data.comparable[metric].to_numpy(float)[cube.frame["setting"].to_numpy(int)]
    return cube.frame.assign(value=value).dropna(subset="value")


def cells(frame: pd.DataFrame, axes: Sequence[str], fixed: Mapping[str, str]) -> pd.DataFrame:
    """Return the mean of ``value`` in each cell of some axes, over the rows with fixed values."""
    for name, value in fixed.items():
        frame = frame[frame[name].map(plain) == value]
    weighed = frame.assign(value=frame["value"] * frame["weight"])
    sums = weighed.groupby(list(axes), sort=False, dropna=False)[["value", "weight"]].sum()
    means = (sums["value"] / sums["weight"]).rename("value").reset_index()
    orders = []
    for name in axes:
        order = {v: k for k, v in enumerate(values_of(means[name]))}
        orders.append([order[plain(v)] for v in means[name]])
    return means.iloc[np.lexsort(orders)].reset_index(drop=True)


def read_only(data: ReportData, frame: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """Return rows of a cube without the values of axes that their points do not read."""
    settings = data.settings.iloc[frame["setting"].to_numpy(int)]
    unread = {n: settings[n].isna().to_numpy() for n in axes}
    return frame.assign(**{n: frame[n].astype(object).mask(unread[n], None) for n in axes})


def why_no_grid(frame: pd.DataFrame, axes: Sequence[str]) -> str:
    """Return why rows are no grid of the axes that they read; empty where they are.

    Rows that read the same axes have to have (nearly) all combinations of those. An axis that all
    rows read has to have all its values among each kind of rows, or tells these kinds apart.
    """
    rows = frame[list(axes)].drop_duplicates()
    kinds = [
        part[[n for n in axes if part[n].notna().any()]]
        for _, part in rows.groupby([rows[n].notna() for n in axes], sort=False)
    ]
    for part in kinds:
        count = part.nunique()
        wanted = math.prod(count.tolist())
        if len(part) >= FULL * wanted:
            continue
        name = str(count.idxmax())
        if 2 * count[name] >= len(part) and wanted >= 2 * len(part):
            few = f"{count[name]} values in {len(part)} settings"
            return f"{key_of(name)} was sampled or zipped ({few}); this needs a grid"
        named = " × ".join(key_of(n) for n in map(str, part) if count[n] > 1)
        return f"{len(part)} of {wanted} combinations of {named}; this needs a grid"
    for name in axes if len(kinds) > 1 else ():
        values = [set(part[name]) for part in kinds if name in part]
        if len(values) < len(kinds) or all(v == values[0] for v in values):
            continue
        if sum(map(len, values)) > len(set().union(*values)):
            return f"{key_of(name)} is not crossed with the other axes; this needs a grid"
    return ""


def main_effects(frame: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """Return each axis's effect on ``value``: its best and worst value, and share of variance.

    One row per axis with two values or more, the largest range first; mean and variance are those
    of the rows that have a value of the axis.
    """
    rows = []
    for name in axes:
        reading = frame[frame[name].notna()]
        means = cells(reading, [name], {})
        if len(means) < 2:
            continue
        mean, total = _spread(reading["value"].to_numpy(float), reading["weight"].to_numpy(float))
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
                "variance_share": _explained(reading, [name]) / total if total > 0 else 0.0,
            }
        )
    effects = pd.DataFrame(rows)
    return effects.sort_values("range", ascending=False, kind="stable") if rows else effects


def interactions(frame: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """Return, pair by pair, the share of the variance of ``value`` that only both explain.

    The variance is that of the rows that have a value of both axes.
    """
    rows = []
    for pair in combinations(axes, 2):
        one, other = pair
        part = frame[frame[one].notna() & frame[other].notna()]
        if not len(part) or any(part[n].map(plain).nunique() < 2 for n in pair):
            continue
        _, total = _spread(part["value"].to_numpy(float), part["weight"].to_numpy(float))
        alone = [_explained(part, [n]) for n in pair]
        both = _explained(part, [one, other]) - sum(alone)
        shares = [s / total if total > 0 else 0.0 for s in (*alone, max(both, 0))]
        rows.append([one, other, *shares])
    names = ["axis", "other_axis", "axis_share", "other_share", "interaction_share"]
    table = pd.DataFrame(rows, columns=names)
    return table.sort_values("interaction_share", ascending=False, kind="stable")


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


def by_scheduler(
    data: ReportData, metric: str
) -> tuple[list[tuple[str, pd.DataFrame, list[str]]], dict[str, str]]:
    """Return, scheduler by scheduler, rows with ``value`` and the axes that it reads.

    The last entry, with several schedulers, is the whole grid with the scheduler as an axis.
    Schedulers whose points are no grid are left out; the second value has the reason for each.
    """
    grids = []
    settings = data.comparable.assign(value=data.comparable[metric], weight=1).dropna(
        subset="value"
    )
    axes = [*data.context, *data.knobs]
    for scheduler, group in settings.groupby("scheduler", sort=False):
        read = [n for n in axes if n != "scheduler" and group[n].nunique(dropna=False) > 1]
        if read:
            grids.append((str(scheduler), group, read))
    cube = cube_of(data)
    if "scheduler" in cube.axes:
        frame = read_only(data, with_metric(data, cube, metric), cube.axes)
        grids.append(("all", frame, cube.axes))
    grids.sort(key=lambda f: (f[0] == "all", -len(f[2]), -len(f[1])))
    why = {name: why_no_grid(frame, axes) for name, frame, axes in grids}
    return [f for f in grids if not why[f[0]]], {n: text for n, text in why.items() if text}


def left_out(why: Mapping[str, str]) -> str:
    """Return a sentence that names the schedulers without effects, and why."""
    return f" Not drawn: {'; '.join(f'{n} ({text})' for n, text in why.items())}." if why else ""
