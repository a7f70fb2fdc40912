"""Time: the next event, the coflows that arrive, and whether a decision is due."""

from __future__ import annotations

import numpy as np

from core.fluid.kernels.completions import end_coflows, end_grants
from core.fluid.state import FluidState
from core.jit import inlined

DECIDE = 1
DONE = 0
STALLED = -1
PATIENCE = 10_000
"""Decisions at one instant before the clock counts as stalled."""
SAME_S, SAME_SHARE = 1e-9, 1e-12
"""Events closer than this [s], or than this share of the time, count as simultaneous."""


@inlined
def horizon(time: float) -> float:
    """Latest time that counts as simultaneous [s]."""
    return time + max(SAME_S, SAME_SHARE * time)


@inlined
def tick_at(time: float, interval: float) -> float:
    """First multiple of the interval that is not before a time [s]."""
    if interval == 0.0:
        return time
    return float(max(time, np.ceil((time - 1e-9) / interval) * interval))


@inlined
def advance(net: FluidState, shares: bool) -> int:
    """Move the clock to the next decision; return DECIDE, DONE or STALLED.

    Flows end at their instants on the way, whether or not their ends trigger anything.
    """
    clock = net.clock[0]
    n = len(net.coflow)
    before = clock.decided
    while True:
        now = _next_end(net, shares)
        if now == np.inf and clock.active > 0 and clock.tick == np.inf:
            # With nothing in motion nothing would ever happen again.
            clock.tick = tick_at(clock.now, clock.interval)
        if clock.admitted < n:
            now = min(now, net.coflow[clock.admitted].arrival)
        now = min(now, clock.tick)
        if now == np.inf:
            return DONE
        now = max(now, clock.now)
        clock.now = now
        until = horizon(now)
        due = end_grants(net, now, until)
        due = end_coflows(net, now, until, shares) or due
        while clock.admitted < n and net.coflow[clock.admitted].arrival <= until:
            _admit(net, clock.admitted, now)
            due = True
        if due and clock.tick == np.inf:
            clock.tick = tick_at(now, clock.interval)
        if clock.tick <= until:
            clock.tick = np.inf
            clock.stalled = clock.stalled + 1 if now == before else 0
            return STALLED if clock.stalled > PATIENCE else DECIDE


@inlined
def _next_end(net: FluidState, shares: bool) -> float:
    """Time of the next end of a flow or coflow, or of a queue change [s]; ∞ if none is due."""
    clock = net.clock[0]
    now = np.inf
    for i in range(clock.active):
        c = net.coflow[net.order[i]]
        now = min(now, c.end, c.leave)
    if shares or clock.per_flow == 1:
        now = min(now, clock.soonest)
    elif now == np.inf:
        for i in range(clock.grant_count):
            if net.grant[i].end < np.inf:
                now = net.grant[i].end if now == np.inf else max(now, net.grant[i].end)
    return now


@inlined
def _admit(net: FluidState, k: int, now: float) -> None:
    clock = net.clock[0]
    c = net.coflow[k]
    clock.admitted += 1
    if c.live == 0:
        c.finish = c.arrival
        return
    c.since = now
    for row in range(c.middle, c.last):
        net.row[row].since = now
    net.order[clock.active] = k
    clock.active += 1
