"""Coflows in queues by attained bytes, and what each queue gets of the ports.

A coflow is looked at only when it has lost flows or when what is free at one of its ports has
changed; `coflow_rates` gives its flows their rates.
"""

from __future__ import annotations

import numpy as np

from core.fluid.kernels.backfill import backfill
from core.fluid.kernels.clock import DECIDE, advance
from core.fluid.kernels.coflow_rates import MAX_MIN, fill, look, set_rates, stop
from core.fluid.kernels.completions import SLACK, TINY, leaves_at, settle
from core.fluid.kernels.port_bits import give, overlaps, take
from core.fluid.state import FluidState
from core.jit import inlined, kernel
from core.trace import Floats, Ints

CUMULATIVE, PER_QUEUE = 0, 1
REFRESH = 50
"""After so many corrections, what a coflow uses of its ports is added up afresh."""


@kernel
def simulate(net: FluidState, modes: Ints, limits: Floats, weights: Floats, pause: bool) -> int:
    """Run to the end, or to the next decision; coflows with their first limit set.

    `modes` holds the threshold mode and the allocation; `limits` the upper limits of all queues
    but the last (or their quotas); `weights` those of all queues, empty with strict priority.
    Returns DECIDE at a pause, DONE or STALLED.
    """
    clock = net.clock[0]
    while True:
        state = advance(net, True)
        if state != DECIDE:
            return state
        _spend(net)
        for i in range(clock.active):
            settle(net, net.order[i], clock.now)
            _demote(net, net.order[i], modes[0], limits)
        clock.decided = clock.now
        clock.events += 1
        _sort(net)
        total = _weights(net, weights)
        give(net, 1.0 if total == 0.0 else 0.0, 0.0)
        last = -1
        for i in range(clock.active):
            k = net.order[i]
            if total > 0.0 and net.coflow[k].queue != last:
                last = net.coflow[k].queue
                give(net, weights[last] / total, 1.0)
            _allocate(net, k, modes[1])
        if clock.backfill == 1:
            backfill(net)
        _end_by_grants(net)
        for i in range(clock.active):
            leaves_at(net, net.order[i])
        if pause:
            return DECIDE


@inlined
def _spend(net: FluidState) -> None:
    """Take what the backfill has moved since the last decision off the flows that go on."""
    clock = net.clock[0]
    dt = clock.now - clock.decided
    for i in range(clock.grant_count):
        g = net.grant[i]
        c, r = net.coflow[g.coflow], net.row[g.row]
        if g.end < np.inf and c.live > 0:
            left = max(net.left[g.flow] - g.rate * dt, TINY)
            net.left[g.flow] = left
            rate = min(net.slot[g.row].share, net.slot[g.sender].share)
            if rate > 0.0:
                r.end = min(r.end, r.since + left / rate)
                c.end = min(c.end, r.end)
    clock.grant_count = 0


@inlined
def _demote(net: FluidState, k: int, mode: int, limits: Floats) -> None:
    """Move a coflow down while it has reached the limit of its queue."""
    c = net.coflow[k]
    while c.queue < len(limits) and c.sent >= c.limit * (1.0 - SLACK):
        c.queue += 1
        q = c.queue
        entry = c.sent if mode == PER_QUEUE else 0.0
        c.limit = entry + limits[q] * c.weight if q < len(limits) else np.inf


@inlined
def _sort(net: FluidState) -> None:
    """Sort the active coflows by queue, then by their place in the trace."""
    order, c = net.order, net.coflow
    for i in range(1, net.clock[0].active):
        k = order[i]
        at = i
        while at > 0 and (
            c[k].queue < c[order[at - 1]].queue
            or (c[k].queue == c[order[at - 1]].queue and k < order[at - 1])
        ):
            order[at] = order[at - 1]
            at -= 1
        order[at] = k


@inlined
def _weights(net: FluidState, weights: Floats) -> float:
    """Sum of the weights of the queues that hold coflows; 0 with strict priority."""
    total, last = 0.0, -1
    if len(weights) > 0:
        for i in range(net.clock[0].active):
            q = net.coflow[net.order[i]].queue
            total += weights[q] if q != last else 0.0
            last = q
    return total


@inlined
def _allocate(net: FluidState, k: int, allocation: int) -> None:
    """Give coflow k its rates out of what is free, and take them from the ports."""
    c = net.coflow[k]
    c.speed = 0.0
    if not overlaps(net, k):
        if c.moving > 0:
            stop(net, k)
        return
    if look(net, k):
        c.moving = c.moving % REFRESH + 1
        if allocation == MAX_MIN:
            fill(net, k)
        set_rates(net, k, allocation)
    speed = 0.0
    for slot in range(c.first, c.last):
        s = net.slot[slot]
        if s.live > 0:
            take(net, s.port, s.used)
            speed += s.used
    c.speed = 0.5 * speed  # each byte counts at two ports


@inlined
def _end_by_grants(net: FluidState) -> None:
    """Find the ends of the flows that the backfill serves."""
    clock = net.clock[0]
    soonest = np.inf
    for i in range(clock.grant_count):
        g = net.grant[i]
        rate = min(net.slot[g.row].share, net.slot[g.sender].share)
        left = net.left[g.flow] - rate * (clock.now - net.row[g.row].since)
        end = clock.now + left / (rate + g.rate)
        g.end = end
        soonest = min(soonest, end)
        net.coflow[g.coflow].speed += g.rate
    clock.soonest = soonest
