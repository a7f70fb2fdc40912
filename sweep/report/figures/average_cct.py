"""Average CCT per setting, with the bound and the improvement."""

from __future__ import annotations

import math

import pandas as pd

from sweep.report.chart import Axis, Chart, columns_before
from sweep.report.dataset import Dataset
from sweep.report.figures._base import Figure, NothingToDrawError
from sweep.report.settings import by, measure_axis, measures_in, shown_settings

MOST = 24


def table(data: Dataset) -> pd.DataFrame:
    """One row per setting and condition, the first setting of each condition being the baseline."""
    settings = data.settings
    if not len(settings) or "mean_cct_s" not in settings:
        raise NothingToDrawError("no point is finished")
    shown = shown_settings(settings, data.conditions, MOST, under=200)
    groups = [_improved(group) for _, group in by(shown, data.conditions)]
    return pd.concat(groups, ignore_index=True)


def _improved(group: pd.DataFrame) -> pd.DataFrame:
    """Add the improvement: of two the faster over the slower, of more each over the first."""
    mean = group["mean_cct_s"].to_numpy(float)
    base = int(mean.argmax()) if len(mean) == 2 else 0
    gain = [gain_over(mean[base], value) if k != base else None for k, value in enumerate(mean)]
    over = group["label"].iloc[base]
    texts = ["" if g is None else f"{100 * g:.1f} % over {over}" for g in gain]
    if len(group) > 2:
        texts = ["" if g is None else f"{100 * g:+.1f} %" for g in gain]
        texts[0] = "baseline"
    return group.assign(
        improvement=pd.Series(gain, group.index, dtype=float), improvement_text=texts
    )


def gain_over(base: float, value: float) -> float | None:
    """Return (slow − fast) / slow, negative where `value` is the slower one."""
    slow, fast = max(base, value), min(base, value)
    if not 0 < slow < math.inf:
        return None
    return math.copysign((slow - fast) / slow, base - value) if slow > fast else 0.0


def chart(table: pd.DataFrame) -> Chart:
    """Draw bars, one a setting."""
    axes = []
    for name in measures_in(table):
        marked = {"marker": "bound_s", "marker_label": "lower bound"}
        more = marked if name == "mean_cct_s" and table["bound_s"].notna().any() else {}
        half = f"{name}_half"
        axes.append(measure_axis(name, error=half if half in table else "", **more))
    return Chart(
        "bars",
        x=tuple(axes),
        y=(Axis("label", "setting"),),
        colour="scheduler",
        select=columns_before(table, "scheduler"),
        text="improvement_text",
        text_label="%: improvement of the mean CCT",
        hover=("improvement", "n", "bound_s"),
        note="Improvement of the mean CCT: (slow − fast) / slow; of two settings the faster over "
        "the slower, of more each over the first; a minus sign marks slower ones. Whiskers: 95 % "
        "interval of the mean over replicates. Where more than "
        f"{MOST} settings share a condition, the best of each scheduler.",
    )


FIGURE = Figure("average_cct", "Average CCT", 10, table, chart)
