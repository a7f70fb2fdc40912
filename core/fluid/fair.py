"""Max-min fairness over all flows, coflows unknown (what TCP aims at).

Flows of one pair of ports have one rate, so a pair keeps the bytes that each flow of it has been
given since it was last idle; a flow ends when that count reaches its own tag.
"""

from __future__ import annotations

import numpy as np

from core.fluid.events import DONE, PATIENCE, STALLED, horizon
from core.fluid.pairs import Pairs, admit, end_flow, insert, is_due, next_time
from core.jit import inlined, inner, kernel
from core.trace import Floats, Ints


@kernel
def simulate(net: Pairs) -> int:
    """Run to the end. Returns DONE or STALLED."""
    z = net.z[0]
    ports = len(net.head)
    count = np.zeros((ports, ports), np.int64)
    given, rate = np.zeros((ports, ports)), np.zeros((ports, ports))
    since, end = np.zeros(ports), np.zeros(ports)
    level = np.zeros(2 * ports)
    for j in range(ports):
        end[j] = np.inf
    known = 0
    while True:
        now = np.inf
        for j in range(ports):
            now = min(now, end[j])
        now = next_time(net, now)
        if now == np.inf:
            return DONE
        z.now = now
        until = horizon(now)
        due = False
        for j in range(ports):
            if end[j] <= until:
                _move(given[j], rate[j], now - since[j])
                since[j] = now
                due = _end_flows(net, j, given[j], rate[j], count[j], now, until) or due
                end[j] = _next_end(net, j, given[j], rate[j], now)
        due = admit(net, until) or due
        if is_due(net, due, now, until):
            if z.stalled > PATIENCE:
                return STALLED
            for j in range(ports):
                _move(given[j], rate[j], now - since[j])
                since[j] = now
            while known < z.admitted:
                for flow in range(net.first_flow[known], net.first_flow[known + 1]):
                    j, i = net.dst[flow], net.src[flow]
                    if count[j, i] == 0:
                        given[j, i] = 0.0
                    net.value[flow] += given[j, i]
                    count[j, i] += 1
                    insert(net, flow)
                known += 1
            _levels(net.capacity, count, level)
            for j in range(ports):
                for i in range(ports):
                    rate[j, i] = min(level[i], level[ports + j]) if count[j, i] > 0 else 0.0
                end[j] = _next_end(net, j, given[j], rate[j], now)


@inlined
def _move(given: Floats, rate: Floats, seconds: float) -> None:
    for i in range(len(given)):
        given[i] += rate[i] * seconds


@inlined
def _end_flows(
    net: Pairs, j: int, given: Floats, rate: Floats, count: Ints, now: float, until: float
) -> bool:
    """End the flows of a receiver that are done; return whether that triggers a decision."""
    due = False
    for i in range(len(given)):
        flow = net.head[j, i]
        while flow >= 0 and net.value[flow] - given[i] <= rate[i] * (until - now):
            due = end_flow(net, flow, now) or due
            count[i] -= 1
            flow = net.following[flow]
        net.head[j, i] = flow
        if count[i] == 0:
            rate[i] = 0.0
    return due


@inlined
def _next_end(net: Pairs, j: int, given: Floats, rate: Floats, now: float) -> float:
    wait = np.inf
    for i in range(len(given)):
        flow = net.head[j, i]
        if flow >= 0 and rate[i] > 0.0:
            wait = min(wait, max(0.0, net.value[flow] - given[i]) / rate[i])
    return now + wait


@inner
def _levels(capacity: Floats, count: Ints, level: Floats) -> None:
    """Water-filling: the level at which each port is full, ∞ where it never is."""
    ports = len(count)
    free, open_flows = np.zeros(2 * ports), np.zeros(2 * ports, np.int64)
    for p in range(2 * ports):
        free[p] = capacity[p]
        level[p] = np.inf
    for j in range(ports):
        for i in range(ports):
            open_flows[i] += count[j, i]
            open_flows[ports + j] += count[j, i]
    while True:
        lowest = np.inf
        for p in range(2 * ports):
            if open_flows[p] > 0:
                lowest = min(lowest, free[p] / open_flows[p])
        if lowest == np.inf:
            return
        for p in range(2 * ports):
            if open_flows[p] > 0 and free[p] / open_flows[p] <= lowest * (1.0 + 1e-12):
                level[p] = lowest
                open_flows[p] = 0
                for q in range(ports):
                    n = count[q, p] if p < ports else count[p - ports, q]
                    other = ports + q if p < ports else q
                    if n > 0 and open_flows[other] > 0:
                        open_flows[other] -= n
                        free[other] = max(0.0, free[other] - n * lowest)
