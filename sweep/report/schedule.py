"""The exact schedule of a small point: run again in the fluid engine, pausing at each decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from core.errors import InputError
from core.fluid import runner
from core.fluid.demand import demand
from core.fluid.engine import GIGABIT
from core.fluid.engine import PARAMETERS as OF_ENGINE
from core.fluid.kernels import dclas, madd, remaining
from core.fluid.kernels.clock import DECIDE
from core.fluid.rules import Ordered, Queues
from core.fluid.state import FluidState, new_fluid_state
from core.fluid.view import View
from core.keys import SEEDS
from core.parameters import Value, defaults
from core.registry import reads
from core.schedulers import schedulers
from core.trace import Trace
from sweep.grid.point import Point, build_trace

MOST_COFLOWS, MOST_PORTS = 12, 24
"""What a chart has room for; ports of both sides that send or receive."""


class NoScheduleError(Exception):
    """A point whose schedule cannot be told exactly; the message says why."""


def schedule_of(row: Mapping[str, Any]) -> pd.DataFrame:
    """Return when which coflow uses which port, and how much of it.

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
    pieces = pd.DataFrame(_pieces(trace, str(row["scheduler"]), values))
    if not len(pieces):
        raise NoScheduleError("no coflow has bytes")
    return _joined(pieces)


def values_of(row: Mapping[str, Any]) -> dict[str, Value]:
    """Return what the point of a row has read, by key, as the plan had it.

    Datasets have nothing for a default that is empty; rows of the grid may have values that the
    point does not read.
    """
    found: dict[str, Value] = {}
    for parameter in reads(row["scheduler"], row["engine"], row["workload"]):
        if not parameter.is_read(found):
            continue
        value = row.get(parameter.column)
        if pd.isna(value):
            value = row.get("seed") if parameter.key in SEEDS else parameter.default
        value = getattr(value, "item", lambda v=value: v)()
        found[parameter.key] = parameter.check(value)
    return found


def _number(row: Mapping[str, Any], name: str) -> float:
    """Return a number of a row, 0 where it is not known."""
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


def _pieces(trace: Trace, scheduler: str, values: Mapping[str, Value]) -> list[dict[str, Any]]:
    """Return what each coflow uses of each port from decision to decision."""
    rows: list[dict[str, Any]] = []
    standing: dict[tuple[int, int], float] = {}
    then = 0.0
    words = 64 * ((trace.ports + 63) // 64)
    for net in _decisions(trace, scheduler, values):
        now = float(net.clock[0].now)
        rows += _stretch(trace, words, standing, then, now)
        standing, then = _usage(net), now
    rows += _stretch(trace, words, standing, then, float(net.clock[0].now))
    return rows


def _stretch(
    trace: Trace, words: int, usage: Mapping[tuple[int, int], float], start: float, end: float
) -> list[dict[str, Any]]:
    if end <= start:
        return []
    return [
        {
            "host": port if port < words else port - words,
            "side": "sends" if port < words else "receives",
            "coflow_id": int(trace.coflow_id[k]),
            "start_s": start,
            "end_s": end,
            "rate": share,
        }
        for (k, port), share in usage.items()
    ]


def _decisions(trace: Trace, scheduler: str, values: Mapping[str, Value]) -> Iterator[FluidState]:
    """Yield the state after each decision, and at the end."""
    found = schedulers()[scheduler]
    rule = found.rules["fluid"]
    if not isinstance(rule, Ordered | Queues):
        raise NoScheduleError(f"scheduler={scheduler} has no rates of coflows")
    if isinstance(rule, Ordered) and values.get("order") == "remaining":
        raise NoScheduleError("order=remaining has no schedule here")
    given = {**defaults((*rule.parameters, *OF_ENGINE)), **values}
    capacity = np.full(2 * trace.ports, float(given["fabric.gbps"] or 0.0) * GIGABIT)
    sizes = demand(trace, capacity, bool(given["fabric.local_is_free"]))
    net = new_fluid_state(sizes)
    runner.set_clock(net, given)
    view = View(sizes, net, np.arange(len(trace)), scheduler, found.info)
    if isinstance(rule, Queues):
        options = runner.modes(given), runner.limits(given), runner.queue_weights(given)
        runner.set_queues(net, rule.weight(view, given), options[1])
        while dclas.simulate(net, *options, True) == DECIDE:
            yield net
    else:
        key = np.array(rule.key(view, given), np.float64)
        while madd.simulate(net, remaining.GIVEN, key, madd.AFTER) == DECIDE:
            yield net


def _usage(net: FluidState) -> dict[tuple[int, int], float]:
    """Return the share of each port that each active coflow has."""
    found: dict[tuple[int, int], float] = {}

    def add(k: int, slot: int, rate: float) -> None:
        port = int(net.slot[slot].port)
        if rate > 0:
            found[k, port] = found.get((k, port), 0.0) + rate / float(net.capacity[port])

    for k in map(int, net.order[: net.clock[0].active]):
        c = net.coflow[k]
        for row in range(c.middle, c.last):
            for f in range(net.row[row].flow, net.row[row].flow + net.row[row].width):
                if net.left[f] > 0:
                    sender = int(c.first + net.peer[f])
                    rate = net.left[f] * c.scale / c.gamma
                    if c.gamma == np.inf:
                        rate = min(net.slot[row].share, net.slot[sender].share)
                    rate += sum(
                        g.rate for g in net.grant[: net.clock[0].grant_count] if g.flow == f
                    )
                    add(k, sender, float(rate))
                    add(k, row, float(rate))
    return found


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
