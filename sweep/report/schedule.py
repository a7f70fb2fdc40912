"""The exact schedule of a small point: run again in the fluid engine, decision by decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from core.errors import InputError
from core.fluid.engine import GIGABIT
from core.fluid.stepping import decisions
from core.keys import SEEDS
from core.parameters import Value
from core.registry import reads
from core.schedulers import schedulers
from core.trace import Trace
from sweep.grid.point import Point, build_trace

MOST_COFLOWS, MOST_PORTS = 12, 24
"""Most coflows, and most ports of both sides in use, that a chart has room for."""


class NoScheduleError(Exception):
    """A point has no exact schedule to draw; the message says why."""


def schedule_of(row: Mapping[str, Any]) -> pd.DataFrame:
    """Return which coflow uses which port, when, and how much of it.

    Parameters
    ----------
    row : mapping of str to value
        A row of `ReportData.points`.

    Returns
    -------
    DataFrame
        One row per port, coflow and stretch of constant rate: ``host``, ``side`` (sends, receives),
        ``coflow_id``, ``start_s``, ``end_s``, ``rate`` (share of the port).

    Raises
    ------
    NoScheduleError
        Another engine, no constant rates between decisions, too large, or a workload that cannot
        be built again.
    """
    if row["engine"] != "fluid":
        raise NoScheduleError("only engine=fluid has exact schedules")
    if _number(row, "coflows") > MOST_COFLOWS:
        raise NoScheduleError(f"more than {MOST_COFLOWS} coflows: use workload=toy")
    try:
        values = values_of(row)
        trace = build_trace(_point(row, values))
    except (InputError, OSError) as error:
        raise NoScheduleError(f"the workload cannot be built again: {error}") from error
    if values["engine.trigger"] != "flow" or values["engine.interval_ms"] != 0:
        raise NoScheduleError("rates change between decisions: use engine.trigger=flow")
    if len(trace) > MOST_COFLOWS:
        raise NoScheduleError(f"more than {MOST_COFLOWS} coflows: use workload=toy")
    if _ports(trace) > MOST_PORTS:
        raise NoScheduleError(f"more than {MOST_PORTS} ports in use: use workload=toy")
    pieces = _pieces(trace, str(row["scheduler"]), values)
    if not len(pieces):
        raise NoScheduleError("no coflow has bytes")
    return _joined(pieces)


def values_of(row: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values that the point of a row has read, by key, as in the plan.

    A dataset has an empty cell for a default of null; a row of the grid may have values that the
    point does not read.
    """
    values: dict[str, Value] = {}
    for parameter in reads(row["scheduler"], row["engine"], row["workload"]):
        if not parameter.is_read(values):
            continue
        value = row.get(parameter.column)
        if pd.isna(value):
            value = row.get("seed") if parameter.key in SEEDS else parameter.default
        value = getattr(value, "item", lambda v=value: v)()
        values[parameter.key] = parameter.check(value)
    return values


def _number(row: Mapping[str, Any], name: str) -> float:
    """Return a number of a row, 0 where it is missing."""
    value = row.get(name)
    return 0.0 if pd.isna(value) else float(value)


def _ports(trace: Trace) -> int:
    """Return how many ports, of both sides, a trace uses."""
    return sum(len(np.unique(side)) for side in (trace.src, trace.dst))


def _point(row: Mapping[str, Any], values: Mapping[str, Value]) -> Point:
    def whole(name: str) -> int | None:
        return None if pd.isna(row[name]) else int(row[name])

    return Point(
        point_id=str(row["point_id"]),
        scheduler=str(row["scheduler"]),
        engine=str(row["engine"]),
        workload=str(row["workload"]),
        replicate=whole("replicate"),
        seed=whole("seed"),
        values=values,
        trace_id=str(row["trace_id"]),
    )


def _pieces(trace: Trace, scheduler: str, values: Mapping[str, Value]) -> pd.DataFrame:
    """Return the share of each port that each coflow uses from decision to decision."""
    record = schedulers()[scheduler]
    capacity = GIGABIT * float(values["fabric.gbps"] or 0)
    pieces: dict[tuple[str, int, int, float, float], float] = defaultdict(float)
    for step, following in pairwise(decisions(trace, record, values)):
        if following.time_s == step.time_s:
            continue
        for f in np.flatnonzero(step.rate_bps):
            coflow = int(trace.coflow_id[trace.coflow_of_flow[f]])
            for side, host in (("sends", trace.src[f]), ("receives", trace.dst[f])):
                span = step.time_s, following.time_s
                pieces[side, int(host), coflow, *span] += step.rate_bps[f] / capacity
    columns = ["side", "host", "coflow_id", "start_s", "end_s", "rate"]
    return pd.DataFrame([(*key, rate) for key, rate in pieces.items()], columns=columns)


def _joined(pieces: pd.DataFrame) -> pd.DataFrame:
    """Join stretches of one rate that follow each other."""
    by = ["side", "host", "coflow_id"]
    pieces = pieces.sort_values([*by, "start_s"], ascending=[False, *[True] * 3], kind="stable")
    before = pieces.groupby(by, sort=False)[["end_s", "rate"]].shift()
    new = (before["end_s"] != pieces["start_s"]) | ((before["rate"] - pieces["rate"]).abs() > 1e-9)
    grouped = pieces.assign(number=new.cumsum()).groupby([*by, "number"], sort=False)
    joined = grouped.agg(
        start_s=("start_s", "first"), end_s=("end_s", "last"), rate=("rate", "first")
    )
    return joined.reset_index().drop(columns="number")
