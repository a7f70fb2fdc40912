"""End flows, by their own rates and by what the backfill grants, and coflows."""

from __future__ import annotations

import numpy as np

from core.fluid.kernels.port_bits import bit
from core.fluid.state import LIVE, FluidState
from core.jit import inlined

SLACK = 1e-9
"""Relative distance to a limit that counts as having reached it."""
TINY = 1e-300
"""Bytes: what rounding may leave of a flow that ends a moment later."""


@inlined
def _end_flow(net: FluidState, k: int, flow: int, row: int, sender: int) -> None:
    """End a live flow: it no longer counts, though it keeps its place in its row."""
    c = net.coflow[k]
    rate = min(net.slot[row].share, net.slot[sender].share)
    net.left[flow] = 0.0
    c.live -= 1
    c.speed -= rate
    for side in range(2):
        slot, other = (row, sender) if side == 0 else (sender, row)
        s, r, partner = net.slot[slot], net.row[slot], net.slot[other].port
        s.live -= 1
        s.used -= rate
        s.count = -1
        net.slot_bits[r.bits + (partner >> 6) - r.word, LIVE] &= ~bit(partner)
        if s.live == 0:
            r.end = np.inf
            net.port_bits[k, LIVE, s.port >> 6] &= ~bit(s.port)


@inlined
def end_grants(net: FluidState, now: float, until: float) -> bool:
    """End the flows whose end comes by backfill; return whether that triggers a decision."""
    clock = net.clock[0]
    if clock.soonest > until:
        return False
    soonest = np.inf
    for i in range(clock.grant_count):
        g = net.grant[i]
        if g.end <= until:
            g.end = np.inf
            k = g.coflow
            settle(net, k, now)
            net.coflow[k].speed -= g.rate
            _end_flow(net, k, g.flow, g.row, g.sender)
            leaves_at(net, k)
            if net.coflow[k].live == 0:
                net.coflow[k].end = now
        soonest = min(soonest, g.end)
    clock.soonest = soonest
    return bool(clock.per_flow == 1)


@inlined
def end_coflows(net: FluidState, now: float, until: float, shares: bool) -> bool:
    """End flows by their own rates and coflows; return whether that triggers a decision."""
    clock = net.clock[0]
    due = False
    kept = 0
    for i in range(clock.active):
        k = net.order[i]
        c = net.coflow[k]
        if c.end <= until:
            if shares and c.live > 0:
                due = _end_in_rows(net, k, now, until) or due
            else:
                c.live = 0
        if c.live == 0:
            c.finish = max(now, c.arrival)
            clock.soonest = np.inf
            for j in range(clock.grant_count):
                if net.grant[j].coflow == k:
                    net.grant[j].end = np.inf
                clock.soonest = min(clock.soonest, net.grant[j].end)
            due = True
            continue
        if c.leave <= until:
            c.leave = np.inf
            c.limit = -np.inf  # it leaves at the next decision
            due = True
        net.order[kept] = k
        kept += 1
    clock.active = kept
    return due


@inlined
def _end_in_rows(net: FluidState, k: int, now: float, until: float) -> bool:
    """End the flows of coflow k that are done, and find its next end; whether that triggers."""
    c = net.coflow[k]
    live = c.live
    settle(net, k, now)
    soonest = np.inf
    for row in range(c.middle, c.last):
        r = net.row[row]
        if r.end <= until:
            end, since, share, first = np.inf, r.since, net.slot[row].share, r.flow
            for f in range(first, first + r.width):
                sender = c.first + net.peer[f]
                rate = min(share, net.slot[sender].share)
                if net.left[f] > 0.0 and rate > 0.0:
                    flow_end = since + net.left[f] / rate
                    if flow_end <= until:
                        _end_flow(net, k, f, row, sender)
                    else:
                        end = min(end, flow_end)
            r.end = end
        soonest = min(soonest, r.end)
    c.end = soonest
    leaves_at(net, k)
    return bool(c.live < live and net.clock[0].per_flow == 1)


@inlined
def settle(net: FluidState, k: int, now: float) -> None:
    """Bring the attained bytes of a coflow up to date."""
    c = net.coflow[k]
    c.sent += c.speed * (now - c.since)
    c.since = now


@inlined
def leaves_at(net: FluidState, k: int) -> None:
    """Find when a coflow reaches the limit of its queue under its standing rates."""
    c = net.coflow[k]
    limit = c.limit
    missing = limit - c.sent
    c.leave = np.inf
    if 0.0 < limit < np.inf:
        if missing <= SLACK * limit:
            c.leave = c.since
        elif c.speed > 0.0:
            c.leave = c.since + missing / c.speed
