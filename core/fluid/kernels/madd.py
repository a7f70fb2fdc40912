"""Coflows in a total order, each with the rates that let all its flows end together (MADD).

Under MADD all flows of a coflow shrink by one factor, so the remaining bytes are kept as
`scale` · `left` and a decision touches ports, never flows; only the few flows that the backfill
serves change on their own.
"""

from __future__ import annotations

import numpy as np

from core.fluid.kernels.backfill import backfill
from core.fluid.kernels.bit_ops import ZERO
from core.fluid.kernels.clock import DECIDE, advance
from core.fluid.kernels.completions import TINY
from core.fluid.kernels.port_bits import give, rounded, take
from core.fluid.kernels.remaining import GIVEN, refresh, remaining
from core.fluid.state import FREE, LIVE, FluidState
from core.jit import inlined, kernel
from core.trace import Floats

NEVER, BEFORE, AFTER = 0, 1, 2
"""When to return to the caller: before each decision, so that it can set keys, or after it."""


@kernel
def simulate(net: FluidState, code: int, key: Floats, pause: int) -> int:
    """Run to the end, or to a pause; coflows with the smallest key come first.

    Returns DECIDE at a pause, DONE or STALLED.
    """
    clock = net.clock[0]
    while True:
        if clock.pending == 0:
            state = advance(net, False)
            if state != DECIDE:
                return state
            _settle(net)
            clock.pending = 1
            if pause == BEFORE:
                return DECIDE
        clock.pending = 0
        clock.decided = clock.now
        clock.events += 1
        if code != GIVEN:
            for i in range(clock.active):
                key[net.order[i]] = rounded(remaining(net, net.order[i], code))
        _sort(net, key)
        give(net, 1.0, 0.0)
        for i in range(clock.active):
            _serve(net, net.order[i])
        if clock.backfill == 1:
            backfill(net)
        _end_by_grants(net)
        if pause == AFTER:
            return DECIDE


@inlined
def _settle(net: FluidState) -> None:
    """Bring the remaining bytes of all active coflows up to date."""
    clock = net.clock[0]
    dt = clock.now - clock.decided
    for i in range(clock.active):
        c = net.coflow[net.order[i]]
        if c.gamma < np.inf:
            c.scale = max(c.scale * (1.0 - dt / c.gamma), TINY)
    for i in range(clock.grant_count):
        g = net.grant[i]
        if g.end == np.inf:  # the flow has ended; before anything is added up afresh
            net.slot[g.row].load -= g.last
            net.slot[g.sender].load -= g.last
    for i in range(clock.grant_count):
        g = net.grant[i]
        c, r = net.coflow[g.coflow], net.row[g.row]
        if c.live > 0:
            moved = 0.0
            if g.end < np.inf:
                moved = g.rate * dt / c.scale
                net.left[g.flow] = max(g.last - moved, TINY)
            if g.last >= r.most:
                r.stale = 1
            for slot in (g.row, g.sender):
                s = net.slot[slot]
                s.load -= moved
                if s.load < 0.5 * s.summed or s.live == 0:
                    refresh(net, g.coflow, slot)
    clock.grant_count = 0


@inlined
def _sort(net: FluidState, key: Floats) -> None:
    """Sort the active coflows by key; those with equal keys by their place in the trace."""
    order = net.order
    for i in range(1, net.clock[0].active):
        k = order[i]
        at = i
        while at > 0 and (
            key[k] < key[order[at - 1]] or (key[k] == key[order[at - 1]] and k < order[at - 1])
        ):
            order[at] = order[at - 1]
            at -= 1
        order[at] = k


@inlined
def _serve(net: FluidState, k: int) -> None:
    """Let all flows of coflow k end together, if all ports that it needs have something free."""
    c = net.coflow[k]
    c.gamma = np.inf
    c.end = np.inf
    taken = ZERO
    for w in range(net.free_bits.shape[1]):
        taken |= net.port_bits[k, LIVE, w] & ~net.free_bits[FREE, w]
    if taken != ZERO:
        return
    busiest = 0.0
    for slot in range(c.first, c.last):
        s = net.slot[slot]
        if s.live > 0:
            busiest = max(busiest, s.load / net.free[s.port])
    pace = 1.0 / busiest
    for slot in range(c.first, c.last):
        s = net.slot[slot]
        if s.live > 0:
            take(net, s.port, s.load * pace)
    c.gamma = busiest * c.scale
    c.end = net.clock[0].now + c.gamma


@inlined
def _end_by_grants(net: FluidState) -> None:
    """Find the ends of the flows that the backfill serves.

    Where the ends of flows trigger nothing they need no events of their own; then only those of
    coflows are found all of whose flows are served.
    """
    clock = net.clock[0]
    low, soonest = 0, np.inf
    while low < clock.grant_count:
        k, last, high = net.grant[low].coflow, 0.0, low  # the grants of a coflow lie together
        c = net.coflow[k]
        pace = 1.0 / c.gamma
        while high < clock.grant_count and net.grant[high].coflow == k:
            g = net.grant[high]
            left = g.last * c.scale
            end = clock.now + left / (left * pace + g.rate)
            g.end = end
            soonest, last = min(soonest, end), max(last, end)
            high += 1
        if high - low == c.live and clock.per_flow == 0:
            c.end = min(c.end, last)
        low = high
    clock.soonest = soonest
