"""Max-min fairness over all flows, coflows unknown (what TCP aims at).

Flows of one pair of ports have one rate, so a pair keeps the bytes that each flow of it has been
served since it was last idle; a flow ends when that count reaches its own tag. Loops run along
rows of P × P arrays, without branches, so that they compile to vector instructions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.fluid.kernels.clock import DECIDE, DONE, PATIENCE, STALLED, horizon
from core.fluid.kernels.flow_state import Pairs, admit, end_flow, insert, is_due, next_time
from core.jit import inlined, kernel
from core.trace import Floats


class Pace(NamedTuple):
    """Rates of pairs, and the bytes that they have served.

    Pairs lie by receiver, then sender; ports are counted through, senders first.
    """

    served: Floats
    """Bytes that each flow of a pair has been served since the pair was idle, shape (P, P)."""
    rate: Floats
    """Shape (P, P) [B/s]."""
    first: Floats
    """Tag of the next flow of the pair to end, ∞ if there is none, shape (P, P) [B]."""
    flows: Floats
    """Flows of a pair, by receiver and by sender, shape (2, P, P)."""
    at_port: Floats
    """Flows, shape (2P,)."""
    since: Floats
    """When `served` was brought up to date, by receiver, shape (P,) [s]."""
    end: Floats
    """Next end of a flow, by receiver, shape (P,) [s]."""
    level: Floats
    """Rate at which a port is full, ∞ where it never is, shape (2P,) [B/s]."""
    scratch: Floats
    """Water-filling: flows not fixed, what is left, their ratio; shape (3, 2P)."""


def new_pace(ports: int) -> Pace:
    """Return the state before the first arrival."""
    return Pace(
        served=np.zeros((ports, ports)),
        rate=np.zeros((ports, ports)),
        first=np.full((ports, ports), np.inf),
        flows=np.zeros((2, ports, ports)),
        at_port=np.zeros(2 * ports),
        since=np.zeros(ports),
        end=np.full(ports, np.inf),
        level=np.zeros(2 * ports),
        scratch=np.zeros((3, 2 * ports)),
    )


@kernel
def simulate(net: Pairs, pace: Pace, pause: bool) -> int:
    """Run to the end, or to the next decision; return DECIDE at a pause, DONE or STALLED."""
    clock = net.clock[0]
    ports = len(net.head)
    while True:
        now = np.inf
        for j in range(ports):
            now = min(now, pace.end[j])
        now = next_time(net, now)
        if now == np.inf:
            return DONE
        clock.now = now
        until = horizon(now)
        due = False
        for j in range(ports):
            if pace.end[j] <= until:
                _move(pace, j, now)
                due = _end_flows(net, pace, j, until) or due
                pace.end[j] = now + _wait(pace, j)
        due = admit(net, until) or due
        if is_due(net, due, now, until):
            if clock.stalled > PATIENCE:
                return STALLED
            for j in range(ports):
                _move(pace, j, now)
            for flow in range(net.first_flow[clock.listed], net.first_flow[clock.admitted]):
                _add(net, pace, flow)
            clock.listed = clock.admitted
            _levels(net, pace)
            for j in range(ports):
                _set_rates(pace, j)
                pace.end[j] = now + _wait(pace, j)
            if pause:
                return DECIDE


@inlined
def _move(pace: Pace, j: int, now: float) -> None:
    """Bring a receiver up to date."""
    served, rate, seconds = pace.served[j], pace.rate[j], now - pace.since[j]
    for i in range(len(served)):
        served[i] += rate[i] * seconds
    pace.since[j] = now


@inlined
def _add(net: Pairs, pace: Pace, flow: int) -> None:
    j, i = net.dst[flow], net.src[flow]
    if pace.flows[0, j, i] == 0.0:
        pace.served[j, i] = 0.0
    net.value[flow] += pace.served[j, i]
    insert(net, flow)
    pace.first[j, i] = net.value[net.head[j, i]]
    _count(pace, j, i, 1.0)


@inlined
def _count(pace: Pace, j: int, i: int, change: float) -> None:
    pace.flows[0, j, i] += change
    pace.flows[1, i, j] += change
    pace.at_port[i] += change
    pace.at_port[len(pace.end) + j] += change


@inlined
def _end_flows(net: Pairs, pace: Pace, j: int, until: float) -> bool:
    """End the flows of a receiver that are done; return whether that triggers a decision."""
    due = False
    now = net.clock[0].now
    for i in range(len(pace.end)):
        reach = pace.served[j, i] + pace.rate[j, i] * (until - now)
        while pace.first[j, i] <= reach:
            flow = net.head[j, i]
            due = end_flow(net, flow, now) or due
            _count(pace, j, i, -1.0)
            flow = net.following[flow]
            net.head[j, i] = flow
            pace.first[j, i] = net.value[flow] if flow >= 0 else np.inf
        if pace.flows[0, j, i] == 0.0:
            pace.rate[j, i] = 0.0
    return due


@inlined
def _wait(pace: Pace, j: int) -> float:
    """Time to the next end of a flow of a receiver [s], ∞ if it has none."""
    first, served, rate, wait = pace.first[j], pace.served[j], pace.rate[j], pace.scratch[0]
    for i in range(len(first)):
        wait[i] = max(first[i] - served[i], 0.0) / rate[i] if rate[i] > 0.0 else np.inf
    soonest = np.inf
    for i in range(len(first)):
        soonest = min(soonest, wait[i])
    return float(soonest)


@inlined
def _set_rates(pace: Pace, j: int) -> None:
    """Give the flows of a receiver the smaller level of their two ports."""
    rate, count, level = pace.rate[j], pace.flows[0, j], pace.level
    limit = level[len(rate) + j]
    for i in range(len(rate)):
        rate[i] = min(level[i], limit) if count[i] > 0.0 else 0.0


@inlined
def _levels(net: Pairs, pace: Pace) -> None:
    """Water-filling: raise all flows together; a full port fixes the flows that it has."""
    ports = len(pace.end)
    flows, left, ratio = pace.scratch[0], pace.scratch[1], pace.scratch[2]
    for p in range(2 * ports):
        flows[p], left[p], pace.level[p] = pace.at_port[p], net.capacity[p], np.inf
    while True:
        lowest = np.inf
        for p in range(2 * ports):
            ratio[p] = left[p] / flows[p] if flows[p] > 0.0 else np.inf
        for p in range(2 * ports):
            lowest = min(lowest, ratio[p])
        if lowest == np.inf:
            return
        for p in range(2 * ports):
            if ratio[p] <= lowest * (1.0 + 1e-12) and flows[p] > 0.0:
                pace.level[p] = lowest
                flows[p] = 0.0
                _fix(pace, p, lowest)


@inlined
def _fix(pace: Pace, port: int, level: float) -> None:
    """Fix the flows at a full port: their other ports, as far as still open, have less to give."""
    ports = len(pace.end)
    side = 1 if port < ports else 0
    count = pace.flows[side, port - ports * (1 - side)]
    flows, left = pace.scratch[0, ports * side :], pace.scratch[1, ports * side :]
    for q in range(len(count)):
        fixed = count[q] if flows[q] > 0.0 else 0.0
        flows[q] -= fixed
        left[q] = max(left[q] - fixed * level, 0.0)
