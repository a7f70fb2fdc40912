"""Max-min fairness over all flows, coflows unknown (what TCP aims at).

Flows of one pair of ports have one rate, so a pair keeps the bytes that each flow of it has been
given since it was last idle; a flow ends when that count reaches its own tag. Loops run along
rows of P × P arrays, without branches, so that they compile to vector instructions.
"""

from __future__ import annotations

import numpy as np

from core.fluid.events import DONE, PATIENCE, STALLED, horizon
from core.fluid.pairs import Pairs, admit, end_flow, insert, is_due, next_time
from core.jit import inlined, kernel
from core.trace import Floats


@kernel
def simulate(net: Pairs) -> int:
    """Run to the end. Returns DONE or STALLED."""
    z = net.z[0]
    ports = len(net.head)
    # By receiver, then sender: bytes given to each flow, its rate, scratch.
    given, rate, wait = np.zeros((ports, ports)), np.zeros((ports, ports)), np.zeros(ports)
    count = np.zeros((2, ports, ports))  # flows, by receiver and by sender
    at_port = np.zeros(2 * ports)  # flows
    first = np.full((ports, ports), np.inf)  # tag of the next flow to end
    since, end = np.zeros(ports), np.full(ports, np.inf)  # by receiver
    level, flows = np.zeros(2 * ports), np.zeros(2 * ports)
    left, ratio = np.zeros(2 * ports), np.zeros(2 * ports)
    known = 0
    while True:
        now = next_time(net, end.min())
        if now == np.inf:
            return DONE
        z.now = now
        until = horizon(now)
        due = False
        for j in range(ports):
            if end[j] <= until:
                _move(given[j], rate[j], now - since[j])
                since[j] = now
                due = _end_flows(net, j, given[j], rate[j], first[j], count, at_port, until) or due
                end[j] = now + _soonest(first[j], given[j], rate[j], wait)
        due = admit(net, until) or due
        if is_due(net, due, now, until):
            if z.stalled > PATIENCE:
                return STALLED
            for j in range(ports):
                _move(given[j], rate[j], now - since[j])
                since[j] = now
            for flow in range(net.first_flow[known], net.first_flow[z.admitted]):
                j, i = net.dst[flow], net.src[flow]
                if count[0, j, i] == 0.0:
                    given[j, i] = 0.0
                net.value[flow] += given[j, i]
                insert(net, flow)
                first[j, i] = net.value[net.head[j, i]]
                _count(count, at_port, j, i, 1.0)
            known = z.admitted
            flows[:], left[:] = at_port, net.capacity
            _levels(count, level, flows, left, ratio)
            for j in range(ports):
                _set_rates(rate[j], count[0, j], level, level[ports + j])
                end[j] = now + _soonest(first[j], given[j], rate[j], wait)


@inlined
def _count(count: Floats, at_port: Floats, j: int, i: int, change: float) -> None:
    count[0, j, i] += change
    count[1, i, j] += change
    at_port[i] += change
    at_port[count.shape[1] + j] += change


@inlined
def _move(given: Floats, rate: Floats, seconds: float) -> None:
    for i in range(len(given)):
        given[i] += rate[i] * seconds


@inlined
def _set_rates(rate: Floats, count: Floats, level: Floats, own: float) -> None:
    for i in range(len(rate)):
        rate[i] = min(level[i], own) if count[i] > 0.0 else 0.0


@inlined
def _end_flows(
    net: Pairs,
    j: int,
    given: Floats,
    rate: Floats,
    first: Floats,
    count: Floats,
    at_port: Floats,
    until: float,
) -> bool:
    """End the flows of a receiver that are done; return whether that triggers a decision."""
    due = False
    now = net.z[0].now
    for i in range(len(given)):
        reach = given[i] + rate[i] * (until - now)
        while first[i] <= reach:
            flow = net.head[j, i]
            due = end_flow(net, flow, now) or due
            _count(count, at_port, j, i, -1.0)
            net.head[j, i] = net.following[flow]
            first[i] = np.inf
            if net.head[j, i] >= 0:
                first[i] = net.value[net.head[j, i]]
        if count[0, j, i] == 0.0:
            rate[i] = 0.0
    return due


@inlined
def _soonest(first: Floats, given: Floats, rate: Floats, wait: Floats) -> float:
    """Time to the next end of a flow of a receiver [s], ∞ if it has none."""
    for i in range(len(first)):
        wait[i] = max(first[i] - given[i], 0.0) / rate[i]
    soonest = np.inf
    for i in range(len(first)):
        soonest = min(soonest, wait[i])
    return float(soonest)


@inlined
def _levels(count: Floats, level: Floats, flows: Floats, left: Floats, ratio: Floats) -> None:
    """Water-filling: the level at which each port is full, ∞ where it never is.

    Takes the flows of each port and its capacity, and uses both up.
    """
    ports = len(level) // 2
    level[:] = np.inf
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
                level[p] = lowest
                flows[p] = 0.0
                if p < ports:
                    _fix(count[1, p], flows[ports:], left[ports:], lowest)
                else:
                    _fix(count[0, p - ports], flows[:ports], left[:ports], lowest)


@inlined
def _fix(count: Floats, flows: Floats, left: Floats, level: float) -> None:
    """Fix the flows at a full port: their other ports, as far as still open, have less to give."""
    for q in range(len(count)):
        fixed = count[q] if flows[q] > 0.0 else 0.0
        flows[q] -= fixed
        left[q] = max(left[q] - fixed * level, 0.0)
