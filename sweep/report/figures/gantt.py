"""The exact schedule of a small workload: which coflow uses which port, and when."""

from __future__ import annotations

import pandas as pd

from core.keys import key_of
from sweep.report.averages import plain
from sweep.report.data import ReportData
from sweep.report.drawing.chart import Axis, Chart
from sweep.report.figures._base import Figure, NothingToDrawError
from sweep.report.schedule import NoScheduleError, schedule_of
from sweep.store.row_values import none_for_null

MOST = 12
"""Settings whose schedule is drawn."""


def table(data: ReportData) -> pd.DataFrame:
    """One row per setting, port, coflow and stretch of constant rate, in the first replicate."""
    by = [*data.context, *data.knobs]
    first = data.points.drop_duplicates(by) if len(data.points) else data.points
    if not len(first):
        raise NothingToDrawError("no point is finished")
    lanes: list[pd.DataFrame] = []
    why: dict[str, str] = {}
    names = data.settings["label"]
    if data.context:
        words = [
            data.settings[n].map(lambda v, n=n: f"{key_of(n)}={plain(v)}") for n in data.context
        ]
        names = pd.Series([" ".join(parts) for parts in zip(names, *words, strict=True)])
    for name, values in zip(names, first.to_dict("records"), strict=True):
        row = {str(key): none_for_null(value) for key, value in values.items()}
        if len(lanes) == MOST:
            why[f"all after the first {MOST}"] = "too many settings"
            break
        try:
            stretches = schedule_of(row)
        except NoScheduleError as error:
            why.setdefault(str(name), str(error))
            continue
        lanes.append(_lanes(stretches).assign(setting=name, mean_cct_s=row["mean_cct_s"]))
    if not lanes:
        raise NothingToDrawError(next(iter(why.values())))
    columns = ["setting", "port", "coflow", "start_s", "end_s", "rate", "mean_cct_s"]
    joined = pd.concat(lanes, ignore_index=True)[columns]
    joined.attrs["why"] = why
    return joined


def _lanes(stretches: pd.DataFrame) -> pd.DataFrame:
    """Name the line of each stretch: its port, and the coflow too where coflows share the port."""
    shared = set()
    for port, group in stretches.sort_values("start_s").groupby(["side", "host"]):
        if (group["start_s"] < group["end_s"].cummax().shift() - 1e-9).any():
            shared.add(port)
    names = []
    for side, host, k in stretches[["side", "host", "coflow_id"]].itertuples(index=False):
        names.append(f"host {host} {side}" + f" (coflow {k})" * ((side, host) in shared))
    return stretches.assign(port=names, coflow=stretches["coflow_id"].astype(str))


def _left_out(table: pd.DataFrame) -> str:
    """Return a sentence that names some settings without a schedule, and why."""
    why = [f"{name} ({reason})" for name, reason in table.attrs.get("why", {}).items()]
    rest = f" and {len(why) - 3} more" if len(why) > 3 else ""
    return f" Settings not shown: {'; '.join(why[:3])}{rest}." if why else ""


def chart(table: pd.DataFrame) -> Chart:
    """Draw spans, a colour a coflow."""
    return Chart(
        "spans",
        x=(Axis("start_s", "time", "s"),),
        y=(Axis("port", "port"),),
        end="end_s",
        colour="coflow",
        select=("setting",),
        text="coflow",
        hover=("rate", "mean_cct_s"),
        note="The fluid engine runs the point again, decision by decision; rate is the share of "
        "the port. A port that several coflows share has a line for each of them."
        f"{_left_out(table)}",
    )


FIGURE = Figure(
    "gantt", "Schedule of the ports", 15, table, chart, needs=("mean_cct_s", "trace_id")
)
