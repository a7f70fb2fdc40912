"""A schedule decision by decision: `decisions` runs a scheduler and shows the state after each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.engine import Scheduler
from core.fluid.demand import Demand
from core.fluid.engine import prepared
from core.fluid.kernels.clock import DECIDE
from core.fluid.kernels.fair import Pace
from core.fluid.kernels.flow_state import Pairs
from core.fluid.kernels.matching import Hold
from core.fluid.runner import Run, check_end, new_run
from core.fluid.state import FluidState
from core.parameters import Values
from core.trace import Floats, Ints, Trace


@dataclass(frozen=True, eq=False)
class Decision:
    """The state just after a decision; flows, coflows and hosts are those of the trace.

    Attributes
    ----------
    time_s : float
        When the decision was made [s].
    active : array of int64
        Coflows with bytes left: those served first come first; for the rules `FairPerFlow` and
        `Matching`, which know no coflows, in the order of the trace.
    rate_bps : array of float64, shape (F,)
        Rate of each flow [B/s]; 0 while it waits, before its arrival and after its end. It holds
        until the next decision or the flow's own end.
    left_bytes : array of float64, shape (F,)
        Bytes that each flow of an active coflow has left; 0 for all others.
    free_bps : array of float64, shape (2P,)
        Capacity that no flow uses, of the hosts as senders, then as receivers [B/s].
    queue : array of int64, shape (n,)
        Queue of each coflow, 0 for the highest priority; all 0 under a rule without queues.
    """

    time_s: float
    active: Ints
    rate_bps: Floats
    left_bytes: Floats
    free_bps: Floats
    queue: Ints


def decisions(
    trace: Trace,
    scheduler: Scheduler,
    values: Values,
    out_bps: npt.ArrayLike | None = None,
    in_bps: npt.ArrayLike | None = None,
) -> Iterator[Decision]:
    """Run a trace as `core.fluid.run` does and yield the state after each decision.

    Works for every kind of rule: `Ordered`, `Queues`, `FairPerFlow` and `Matching`. After the last
    decision no coflow is active.

    Parameters
    ----------
    trace, scheduler, values, out_bps, in_bps
        As for `core.fluid.run`.

    Raises
    ------
    ParameterError, SimulationError
        As `core.fluid.run`.

    Examples
    --------
    The worked example under Varys: C1 has all ports for 2 s, then C2 and C3 run side by side.

    >>> import numpy as np
    >>> from core.fluid.stepping import decisions
    >>> from core.schedulers import schedulers
    >>> from core.workloads.toy import build
    >>> toy = build({}, np.random.default_rng(0))
    >>> for d in decisions(toy, schedulers()["varys"], {}):
    ...     print(d.time_s, toy.coflow_id[d.active].tolist(), (d.rate_bps / 1.25e8).tolist())
    0.0 [1, 3, 2] [1.0, 1.0, 0.0, 0.0]
    2.0 [3, 2] [0.0, 0.0, 1.0, 1.0]
    5.0 [2] [0.0, 0.0, 1.0, 0.0]
    6.0 [] [0.0, 0.0, 0.0, 0.0]
    """
    sizes, rule, complete = prepared(trace, scheduler, values, out_bps, in_bps)
    run = new_run(sizes, scheduler, rule, complete)
    while (state := run.proceed(True)) == DECIDE:
        yield _decision(trace, sizes, run)
    check_end(sizes, scheduler, run.net, state)


def _decision(trace: Trace, sizes: Demand, run: Run) -> Decision:
    net = run.net
    if isinstance(net, FluidState):
        active = net.order[: net.clock.active[0]].copy()
        queue = np.array(net.coflow.queue, np.int64)
        rate, left = _coflow_level(sizes, net, active)
    else:
        arrived = np.arange(len(sizes)) < net.clock.admitted[0]
        active = np.flatnonzero(arrived & (net.live > 0))
        queue = np.zeros(len(sizes), np.int64)
        rate, left = _flow_level(sizes, net, run.flow_level)
    all_rates, all_left = np.zeros((2, len(trace.src)))
    all_rates[sizes.flow], all_left[sizes.flow] = rate, left
    used = np.bincount(sizes.src, rate, 2 * sizes.ports)
    used += np.bincount(sizes.ports + sizes.dst, rate, 2 * sizes.ports)
    free = sizes.fabric_bps.copy()
    ports = np.concatenate((sizes.hosts, trace.ports + sizes.hosts))
    free[ports] = np.maximum(free[ports] - used, 0.0)
    free[free <= 1e-9 * sizes.fabric_bps] = 0.0
    return Decision(float(net.clock.now[0]), active, all_rates, all_left, free, queue)


def _coflow_level(sizes: Demand, net: FluidState, active: Ints) -> tuple[Floats, Floats]:
    """Rate and remaining bytes of each flow of the demand, from the arrays by coflow and port.

    The flows of a row lie by sender. Ended ones leave the row, so a flow is found by its sender.
    """
    rate, left = np.zeros((2, len(sizes.src)))
    now = net.clock.now[0]
    widths = np.bincount(sizes.slots.of_receiver, minlength=len(net.row))
    granted = np.zeros(len(net.left))
    for grant in net.grant[: net.clock.grant_count[0]]:
        granted[grant.flow] += grant.rate
    for k in active:
        c = net.coflow[k]
        for row in range(c.middle, c["last"]):
            r = net.row[row]
            span = slice(r.flow, r.flow + r.width)
            senders = c.first + net.peer[span]
            remaining = net.left[span] * c.scale
            if c.gamma < np.inf:
                rates = remaining / c.gamma
            else:
                rates = np.minimum(net.slot.share[row], net.slot.share[senders])
                remaining = remaining - rates * (now - r.since)
            live = net.left[span] > 0
            first = sizes.slots.of_sender[r.flow : r.flow + widths[row]]
            flow = r.flow + np.searchsorted(first, senders[live])
            rate[flow], left[flow] = (rates + granted[span])[live], remaining[live]
    return rate, left


def _flow_level(sizes: Demand, net: Pairs, flow_level: Pace | Hold | None) -> tuple[Floats, Floats]:
    """Rate and remaining bytes of each flow of the demand, from the lists by pair of ports."""
    rate, left = np.zeros((2, len(sizes.src)))
    for j, i in np.argwhere(net.head >= 0):
        flow = net.head[j, i]
        while flow >= 0:
            if isinstance(flow_level, Pace):
                rate[flow] = flow_level.rate[j, i]
                left[flow] = net.value[flow] - flow_level.served[j, i]
            else:
                left[flow] = net.left[flow]
            flow = net.following[flow]
    if isinstance(flow_level, Hold):
        for port in np.flatnonzero(flow_level.holder[: sizes.ports] >= 0):
            flow = flow_level.holder[port]
            rate[flow] = flow_level.rate[port]
            left[flow] = (flow_level.end[port] - net.clock.now[0]) * flow_level.rate[port]
    return rate, left
