"""Average CCT per setting, with the bound and the improvement."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from sweep.report.averages import by, measure_axis, measures_in, shown_settings
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart, columns_before
from sweep.report.figures._base import Figure, NothingToDrawError

MOST, MOST_CONTEXTS = 24, 200
BEST = "baseline: best of {}"
OTHER_REPLICATES = "– (other replicates)"


def table(data: ReportData) -> pd.DataFrame:
    """One row per setting and context, with the improvement over ``baseline``.

    Settings with the same context, replicates and seeds are compared; the first of them is the
    baseline.
    """
    settings = data.settings
    if not len(settings) or "mean_cct_s" not in settings:
        raise NothingToDrawError("no point is finished")
    groups, best_of = [], {}
    for number, (_, group) in enumerate(by(settings, data.context)):
        if number == MOST_CONTEXTS:
            break
        shown = shown_settings(group, [], MOST)
        only_best = len(shown) < len(group)
        if only_best and len(shown) > 1:
            best_of[str(shown["scheduler"].iloc[0])] = True
        groups.append(_improved(shown, data.repeats, only_best))
    bars = pd.concat(groups, ignore_index=True)
    bars.attrs["best_of"] = list(best_of)
    return bars


def _improved(group: pd.DataFrame, repeats: pd.Series, only_best: bool) -> pd.DataFrame:
    """Add the improvement: of two the faster over the slower, of more each over the first.

    With `only_best`, each is compared with the best setting of the first scheduler.
    """
    mean, names = group["mean_cct_s"].to_numpy(float), group["label"].tolist()
    comparable: dict[Any, list[int]] = {}
    for k, repeated in enumerate(repeats.loc[group.index]):
        comparable.setdefault(repeated, []).append(k)
    gains: list[float | None] = [None] * len(group)
    over, texts = [""] * len(group), [""] * len(group)
    for rows in comparable.values():
        pair = len(rows) == 2 and not only_best
        base = max(rows, key=lambda k: mean[k]) if pair else rows[0]
        for k in rows:
            gain = gain_over(mean[base], mean[k]) if k != base else None
            if gain is not None:
                gains[k], over[k] = gain, names[base]
                texts[k] = f"{100 * gain:.1f} %" if pair else f"{100 * gain:+.1f} %"
                if pair or len(comparable) > 1:  # else the baseline's bar says it
                    texts[k] += f" over {names[base]}"
        if len(rows) == 1 and len(comparable) > 1:
            texts[base] = OTHER_REPLICATES
        elif len(rows) > 1 and not pair:
            texts[base] = BEST.format(group["scheduler"].iloc[base]) if only_best else "baseline"
    gained = pd.Series(gains, group.index, dtype=float)
    return group.assign(improvement=gained, improvement_text=texts, baseline=over)


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
        options = marked if name == "mean_cct_s" and table["bound_s"].notna().any() else {}
        half = f"{name}_half"
        axes.append(measure_axis(name, error=half if half in table else "", **options))
    best_of = " or ".join(table.attrs.get("best_of", []))
    only_best = f" over the best setting of {best_of}, the first scheduler" if best_of else ""
    return Chart(
        "bars",
        x=tuple(axes),
        y=(Axis("label", "setting"),),
        colour="scheduler",
        select=columns_before(table, "scheduler"),
        text="improvement_text",
        text_label=f"%: improvement of the mean CCT{only_best}",
        hover=("improvement", "baseline", "n", "bound_s"),
        note="Improvement of the mean CCT: (slow − fast) / slow. With two settings, the faster one "
        "shows it. With more, every setting is compared with the first of the grid; a minus sign "
        "marks slower ones. Only settings with the same replicates and seeds are compared; –: no "
        "other setting has the replicates of this one. Whiskers: 95 % interval of the mean over "
        f"replicates. Where a context has more than {MOST} settings, only the best setting of each "
        "scheduler is drawn, and the baseline is the best setting of the grid's first scheduler"
        f"{f': here {best_of}' if best_of else ''}.",
    )


FIGURE = Figure("average_cct", "Average CCT", 10, table, chart, needs=("mean_cct_s",))
