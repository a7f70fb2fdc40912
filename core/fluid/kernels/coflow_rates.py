"""Rates inside a coflow that depend only on what is free at its ports: equal split, max-min.

Equal split and max-min both give the flow i → j the rate min(share_i, share_j), so rates are kept
by port. A row of flows is brought up to date only when the rate of one of its flows changes.
"""

from __future__ import annotations

import numpy as np

from core.fluid.kernels.bit_ops import ONE, ZERO, lowest, popcount
from core.fluid.kernels.completions import TINY
from core.fluid.kernels.port_bits import NOTHING
from core.fluid.state import ALL, BEFORE, FREE, INVERSE, LIVE, OPEN, SHARE, USED, FluidState
from core.jit import inlined

EQUAL_SPLIT, MAX_MIN = 0, 1
NOISE = 1e-13
"""Relative change of a rate that is rounding."""


@inlined
def _near(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= NOISE * min(a, b)


@inlined
def look(net: FluidState, k: int) -> bool:
    """Look at what is free at the coflow's ports and who has both; whether anything is new."""
    c = net.coflow[k]
    recount = c.moving == 0
    for w in range(net.free_bits.shape[1]):
        free = net.port_bits[k, LIVE, w] & net.free_bits[FREE, w]
        if free != net.port_bits[k, OPEN, w]:
            net.port_bits[k, OPEN, w] = free
            recount = True
    changed = recount
    for slot in range(c.first, c.last):
        s = net.slot[slot]
        if s.live > 0:
            free = net.free[s.port]
            if recount or s.count < 0:
                s.count = _partners(net, slot) if free > 0.0 else 0
                s.seen = free
                changed = True
            elif not _near(free, s.seen):
                s.seen = free
                changed = True
    return bool(changed)


@inlined
def _partners(net: FluidState, slot: int) -> int:
    """Count the live flows of a slot whose other port is free."""
    r = net.row[slot]
    count = 0
    for w in range(r.words):
        count += popcount(net.slot_bits[r.bits + w, LIVE] & net.free_bits[FREE, r.word + w])
    return count


@inlined
def stop(net: FluidState, k: int) -> None:
    """All flows of a coflow stand still."""
    c = net.coflow[k]
    c.moving = 0
    c.end = np.inf
    now = net.clock[0].now
    for row in range(c.middle, c.last):
        r, share = net.row[row], net.slot[row].share
        if r.end < np.inf:
            for f in range(r.flow, r.flow + r.width):
                if net.left[f] > 0.0:
                    rate = min(share, net.slot[c.first + net.peer[f]].share)
                    net.left[f] = max(net.left[f] - rate * (now - r.since), TINY)
            r.end = np.inf
        r.since = now
    for slot in range(c.first, c.last):
        net.slot[slot].used = 0.0
        net.slot[slot].share = 0.0


@inlined
def _renew(net: FluidState, slot: int, allocation: int) -> float:
    """Renew a slot's share; return the smaller of old and new, ∞ if it stands."""
    s = net.slot[slot]
    share = 0.0
    if allocation == MAX_MIN:
        share = net.port[s.port].level
    elif s.count > 0:
        share = s.seen / s.count
    if _near(share, s.share):
        return np.inf
    least = min(share, s.share)
    s.share = share
    return float(least)


@inlined
def set_rates(net: FluidState, k: int, allocation: int) -> None:
    """Give each flow the smaller of its shares; correct what the coflow uses of each port.

    A row whose own share stands is passed over if the senders whose share has changed bind none
    of its flows, before or after. Sums are corrected, and added up afresh now and then.
    """
    c, senders = net.coflow[k], net.scratch
    kept = 0.0 if c.moving == 1 else 1.0
    binding = np.inf
    for i in range(c.middle - c.first):
        s = net.slot[c.first + i]
        if s.live > 0:
            senders[BEFORE, i] = s.share
            binding = min(binding, _renew(net, c.first + i, allocation))
            senders[SHARE, i] = s.share
            senders[INVERSE, i] = 1.0 / s.share if s.share > 0.0 else np.inf
            senders[USED, i] = kept * s.used
    soonest = np.inf
    for row in range(c.middle, c.last):
        s = net.slot[row]
        if s.live > 0:
            before = s.share
            if _renew(net, row, allocation) < np.inf or s.share > binding or kept == 0.0:
                _set_row(net, row, before, kept)
            soonest = min(soonest, net.row[row].end)
    c.end = soonest
    for i in range(c.middle - c.first):
        net.slot[c.first + i].used = senders[USED, i]


@inlined
def _set_row(net: FluidState, row: int, before: float, kept: float) -> None:
    """Give the flows of a row their rates, and close the gaps that ended flows have left.

    Their old rates count as `kept`, 0 or 1, in the sums.
    """
    s, r = net.slot[row], net.row[row]
    now = net.clock[0].now
    dt = now - r.since
    peer, left = net.peer[r.flow : r.flow + r.width], net.left[r.flow : r.flow + r.width]
    was, shares = net.scratch[BEFORE], net.scratch[SHARE]
    inverses, used = net.scratch[INVERSE], net.scratch[USED]
    share, total, soonest = s.share, 0.0, np.inf
    inverse = 1.0 / share if share > 0.0 else np.inf
    if s.live < r.width:
        _close_gaps(net, row)
    for f in range(s.live):
        i = np.uint64(peer[f])
        old = min(before, was[i])
        rate = min(share, shares[i])
        rest = max(left[f] - old * dt, TINY)
        left[f] = rest
        used[i] += rate - kept * old
        total += rate
        soonest = min(soonest, rest * max(inverse, inverses[i]))
    s.used = total
    r.since = now
    r.end = now + soonest


@inlined
def _close_gaps(net: FluidState, row: int) -> None:
    r = net.row[row]
    kept = r.flow
    for f in range(r.flow, r.flow + r.width):
        if net.left[f] > 0.0:
            net.left[kept] = net.left[f]
            net.peer[kept] = net.peer[f]
            kept += 1
    r.width = kept - r.flow
    for w in range(r.bits, r.bits + r.words):
        net.slot_bits[w, ALL] = net.slot_bits[w, LIVE]


@inlined
def fill(net: FluidState, k: int) -> None:
    """Raise all flows together; a port that is full fixes the flows that it has.

    Leaves the level of each port as what its flows have, ∞ where it is never full.
    """
    c = net.coflow[k]
    for slot in range(c.first, c.last):
        s, p = net.slot[slot], net.port[net.slot[slot].port]
        p.count = s.count if s.live > 0 else 0
        p.level = np.inf if p.count > 0 else 0.0
        p.left = net.free[s.port]
    while True:
        level = np.inf
        for slot in range(c.first, c.last):
            p = net.port[net.slot[slot].port]
            if p.count > 0:
                level = min(level, p.left / p.count)
        if level == np.inf:
            return
        for slot in range(c.first, c.last):
            p = net.port[net.slot[slot].port]
            if p.count > 0 and p.left / p.count <= level * (1.0 + NOTHING):
                p.level = level
                _fix(net, slot, level)


@inlined
def _fix(net: FluidState, slot: int, level: float) -> None:
    """Fix the flows at a full port at its level: their other ports have less to give."""
    r = net.row[slot]
    net.port[net.slot[slot].port].count = 0
    for w in range(r.words):
        partners = net.slot_bits[r.bits + w, LIVE]
        while partners != ZERO:
            p = net.port[64 * (r.word + w) + lowest(partners)]
            partners &= partners - ONE
            if p.count > 0:
                p.count -= 1
                p.left = max(0.0, p.left - level)
