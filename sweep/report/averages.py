"""Settings: points that differ only in the replicate, averaged, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from core.keys import key_of, parameters
from core.metrics import METRICS, SHUFFLE_METRICS
from core.statistics import gap_of_groups, mean_of_groups
from core.trace import Floats
from sweep.report.drawing.chart import Axis
from sweep.store.row_values import shown_value

MEASURES = tuple(m for m in (*METRICS, *SHUFFLE_METRICS) if m.name not in ("coflows", "bound_s"))
_SHORT = {
    "mean_cct_s": "mean CCT",
    **{f"p{q}_cct_s": f"CCT, {q}th percentile" for q in (50, 90, 95, 99)},
    "max_cct_s": "largest CCT",
    **{f"{b.lower()}_mean_cct_s": f"mean CCT of {b} coflows" for b in ("SN", "LN", "SW", "LW")},
    "makespan_s": "makespan",
    "mean_slowdown": "mean slowdown (CCT / Γ)",
    "share_below_1000s": "coflows with CCT < 1000 s",
    "gap": "distance to the bound",
    "events": "decisions",
    "fos_records": "FoS of records",
    "fos_bytes": "FoS of bytes",
    "max_over_mean": "largest bucket / mean",
    "mean_job_s": "mean job time",
    "sample_cost_s": "sampling time",
    "fragments_per_key": "fragments per key",
    "predicted_fos": "predicted FoS",
}
_SHARES = {"share_below_1000s", "gap", "unseen", "sampled_share", "skewed_buckets", "empty_buckets"}
_RESOLUTION = 1e-9
"""Relative accuracy of times in the engines."""
LARGER_IS_BETTER = frozenset({"share_below_1000s"})


def measure_axis(name: str, **options: Any) -> Axis:
    """Return the axis of a metric of results."""
    metric = next(m for m in MEASURES if m.name == name)
    label = _SHORT.get(name, name.removesuffix("_s").replace("_", " "))
    return Axis(name, label, metric.unit, share=name in _SHARES, **options)


def key_axis(column: str) -> Axis:
    """Return the axis of a parameter."""
    units = {parameter.column: parameter.unit for parameter in parameters().values()}
    return Axis(column, key_of(column), units.get(column, ""))


def metric_title(name: str) -> str:
    """Return the title of a metric of results, with the unit of its numbers in the dataset."""
    axis = measure_axis(name)
    return f"{axis.label} (as a fraction)" if axis.share else axis.title


def measures_in(frame: pd.DataFrame) -> list[str]:
    """Return the metrics of which a table has values, the mean CCT first."""
    present = [m.name for m in MEASURES if m.name in frame and frame[m.name].notna().any()]
    return sorted(present, key=lambda n: n != "mean_cct_s")


def settings_table(
    points: pd.DataFrame, context: Sequence[str], knobs: Sequence[str]
) -> pd.DataFrame:
    """Average points over their replicates.

    Returns
    -------
    DataFrame
        One row per combination of context and knobs, in the order of the grid: those, ``label``,
        ``n`` (points in the mean), the mean of every metric, and where some n > 1 half its 95 %
        interval by Student's t as ``<metric>_half``; ``bound_s``. ``gap`` is the ratio of the
        means, minus one.
    """
    by = [*context, *knobs]
    groups = points.groupby(by, sort=False, dropna=False)
    number = np.asarray(groups.ngroup(), np.int64)
    first = ~pd.Series(number).duplicated().to_numpy()
    frame = points.loc[first, by].reset_index(drop=True)
    frame["label"] = labels(frame, knobs)
    n = np.bincount(number, minlength=len(frame))
    frame["n"] = n
    new = {}
    for name in [*measures_in(points), "bound_s"]:
        if name not in points:
            continue
        values = points[name].to_numpy(np.float64, na_value=np.nan)
        mean, half = mean_of_groups(values, number, len(frame))
        new[name] = mean
        if n.max(initial=0) > 1 and name != "bound_s":
            new[f"{name}_half"] = half
    if {"gap", "mean_cct_s", "bound_s"} <= {*new}:
        cct, bound = (
            points[name].to_numpy(np.float64, na_value=np.nan) for name in ("mean_cct_s", "bound_s")
        )
        gap, half = gap_of_groups(cct, bound, number, len(frame))
        new["gap"] = drawable_gap(gap)
        if "gap_half" in new:
            new["gap_half"] = np.where(np.isnan(new["gap"]), np.nan, half)
    return pd.concat([frame, pd.DataFrame(new, index=frame.index)], axis=1)


def drawable_gap(gap: Floats) -> Floats:
    """Return gaps without negative ones: 0 for a rounding error, else NaN.

    No scheduler beats the bound. A mean below it shows that the times exceed the resolution of the
    engine, and is no distance to draw.
    """
    with np.errstate(invalid="ignore"):
        return np.where(gap >= 0, gap, np.where(gap > -_RESOLUTION, 0.0, np.nan))


def labels(frame: pd.DataFrame, knobs: Sequence[str], of: str = "scheduler") -> list[str]:
    """Name settings: the scheduler, and the parameters in which it has several values."""
    texts = frame[of].astype(str).to_numpy(object)
    for _, group in frame.groupby(of, sort=False):
        for name in knobs:
            if name != of and group[name].nunique(dropna=True) > 1:
                shown = ["" if pd.isna(v) else f" {key_of(name)}={plain(v)}" for v in group[name]]
                at = frame.index.get_indexer(group.index)
                texts[at] = [a + b for a, b in zip(texts[at], shown, strict=True)]
    return [str(text) for text in texts]


def in_order(column: pd.Series) -> list[Any]:
    """Return the values of a column, each once: numbers ascending, then words in order."""

    def order(value: Any) -> tuple[int, float]:
        if isinstance(value, Real) and not isinstance(value, bool) and value == value:
            return 0, float(value)
        return 1, 0.0

    return sorted(column.unique(), key=order)


def plain(value: Any) -> str:
    """Return a value of a parameter as on the command line; – where it is missing."""
    missing = value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))
    return shown_value(None if missing else getattr(value, "item", lambda: value)())


def shown_settings(
    settings: pd.DataFrame, context: Sequence[str], most: int = 12, under: int = 12
) -> pd.DataFrame:
    """Return all settings of a context, or of more than `most` the best of each scheduler.

    The best ones keep the order of the schedulers, so that the first scheduler of the grid remains
    the first. Only the first `under` contexts are kept.
    """
    kept = []
    for number, (_, group) in enumerate(by(settings, context)):
        if number == under:
            break
        if len(group) > most:
            group = _best_of_each(group)
        kept.append(group)
    return pd.concat(kept) if kept else settings


def _best_of_each(group: pd.DataFrame) -> pd.DataFrame:
    """Return the setting of each scheduler with the smallest mean CCT, in the grid's order."""
    order = {name: k for k, name in enumerate(group["scheduler"].unique())}
    best = group.sort_values("mean_cct_s", kind="stable").drop_duplicates("scheduler")
    return best.sort_values("scheduler", key=lambda names: names.map(order), kind="stable")


def by(frame: pd.DataFrame, names: Sequence[str]) -> Iterable[tuple[Any, pd.DataFrame]]:
    """Yield the parts of a table with the same values of some columns; none: the table."""
    return frame.groupby(list(names), sort=False, dropna=False) if names else [((), frame)]
