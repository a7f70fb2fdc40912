"""Coflows in queues by attained bytes; inside a coflow each flow the smaller of two port shares.

Equal split and max-min both give the flow i → j the rate min(share_i, share_j). A row of flows is
brought up to date only when the rate of one of its flows changes, and a coflow is looked at
only when it has lost flows or what is free at one of its ports has changed.
"""

from __future__ import annotations

import numpy as np

from core.fluid.backfill import backfill
from core.fluid.bits import NOTHING, free_all, give_back, overlaps, take
from core.fluid.events import DECIDE, SLACK, TINY, advance, compact, leaves_at, settle, spend_grants
from core.fluid.state import LIVE, OPEN, Net
from core.fluid.words import ONE, ZERO, lowest, popcount
from core.jit import inner, kernel
from core.trace import Floats, Ints

EQUAL_SPLIT, MAX_MIN = 0, 1
SHARE, INVERSE, USED = 0, 1, 2
CUMULATIVE, PER_QUEUE = 0, 1
REFRESH = 50
"""After so many corrections, what a coflow uses of its ports is added up afresh."""
NOISE = 1e-13
"""Relative change of a rate that is rounding."""


@kernel
def simulate(net: Net, modes: Ints, limits: Floats, weights: Floats) -> int:
    """Run to the end. Returns DONE or STALLED.

    `modes` holds the threshold mode and the allocation; `limits` the upper limits of all queues
    but the last (or their quotas); `weights` those of all queues, empty with strict priority.
    """
    begin(net, limits)
    while True:
        state = advance(net, True)
        if state != DECIDE:
            return state
        decide(net, modes, limits, weights)


@kernel
def begin(net: Net, limits: Floats) -> None:
    """Put all coflows into the highest queue."""
    for k in range(len(net.c)):
        net.c[k].limit = limits[0] * net.c[k].weight if len(limits) > 0 else np.inf


@kernel
def decide(net: Net, modes: Ints, limits: Floats, weights: Floats) -> None:
    """Bring all active coflows up to date, move them between queues, give them their rates."""
    _settle_all(net)
    for i in range(net.z[0].active):
        _demote(net, net.order[i], modes[0], limits)
    _give_rates(net, modes[1], weights)


@inner
def _settle_all(net: Net) -> None:
    z = net.z[0]
    now = z.now
    spend_grants(net, now)
    for i in range(z.active):
        k = net.order[i]
        settle(net, k, now)
        if net.c[k].dirty == 1:
            compact(net, k)


@inner
def _demote(net: Net, k: int, mode: int, limits: Floats) -> None:
    """Move a coflow down while it has reached the limit of its queue."""
    c = net.c[k]
    sent = c.sent
    while c.queue < len(limits) and sent >= c.limit * (1.0 - SLACK):
        c.queue += 1
        q = c.queue
        entry = sent if mode == PER_QUEUE else 0.0
        c.limit = entry + limits[q] * c.weight if q < len(limits) else np.inf


@inner
def _give_rates(net: Net, allocation: int, weights: Floats) -> None:
    z = net.z[0]
    z.decided = z.now
    z.events += 1
    _sort(net)
    total = 0.0
    if len(weights) == 0:
        free_all(net, 1.0)
    else:
        free_all(net, 0.0)
        last = -1
        for i in range(z.active):
            q = net.c[net.order[i]].queue
            total += weights[q] if q != last else 0.0
            last = q
    last = -1
    for i in range(z.active):
        k = net.order[i]
        if total > 0.0 and net.c[k].queue != last:
            last = net.c[k].queue
            give_back(net, weights[last] / total)
        _allocate(net, k, allocation)
    if z.backfill == 1:
        backfill(net)
    for i in range(z.grants):
        k, f = net.g[i].coflow, net.g[i].flow
        left = net.left[f] - net.rate[f] * (z.now - net.s[net.g[i].row].since)
        net.g[i].end = z.now + left / (net.rate[f] + net.g[i].rate)
        net.c[k].speed += net.g[i].rate
    for i in range(z.active):
        leaves_at(net, net.order[i])


@inner
def _sort(net: Net) -> None:
    """Sort the active coflows by queue, then by their place in the trace."""
    z = net.z[0]
    order, c = net.order, net.c
    for i in range(1, z.active):
        k = order[i]
        at = i
        while at > 0 and (
            c[k].queue < c[order[at - 1]].queue
            or (c[k].queue == c[order[at - 1]].queue and k < order[at - 1])
        ):
            order[at] = order[at - 1]
            at -= 1
        order[at] = k


@inner
def _allocate(net: Net, k: int, allocation: int) -> None:
    """Give coflow k its rates out of what is free, and take them from the ports."""
    c = net.c[k]
    words = len(net.free_bits) // 2
    c.speed = 0.0
    if not (overlaps(net, k, 0, words) and overlaps(net, k, words, 2 * words)):
        if c.moving > 0:
            _stop(net, k)
        return
    if _changed(net, k):
        c.moving = c.moving % REFRESH + 1
        if allocation == MAX_MIN:
            _fill(net, k)
        _set_rates(net, k, allocation)
    for slot in range(c.first, c.last):
        s = net.s[slot]
        if s.live > 0:
            take(net, s.port, s.used)
            if slot >= c.middle:
                c.speed += s.used


@inner
def _near(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= NOISE * min(a, b)


@inner
def _changed(net: Net, k: int) -> bool:
    """Look at what is free at the coflow's ports and who has both; whether anything is new."""
    c = net.c[k]
    recount = c.moving == 0
    for w in range(len(net.free_bits)):
        free = net.port_bits[k, LIVE, w] & net.free_bits[w]
        if free != net.port_bits[k, OPEN, w]:
            net.port_bits[k, OPEN, w] = free
            recount = True
    changed = recount
    for slot in range(c.first, c.last):
        s = net.s[slot]
        if s.live > 0:
            free = net.p[s.port].free
            if recount or s.count < 0:
                s.count = _partners(net, k, slot) if free > 0.0 else 0
                s.seen = free
                changed = True
            elif not _near(free, s.seen):
                s.seen = free
                changed = True
    return bool(changed)


@inner
def _partners(net: Net, k: int, slot: int) -> int:
    """Count the live flows of a slot whose other port is free."""
    s = net.s[slot]
    word = s.word
    if slot < net.c[k].middle:
        word += len(net.free_bits) // 2
    count = 0
    for w in range(s.words):
        count += popcount(net.slot_bits[s.bits + w] & net.free_bits[word + w])
    return count


@inner
def _stop(net: Net, k: int) -> None:
    """All flows of a coflow stand still."""
    z = net.z[0]
    c = net.c[k]
    c.moving = 0
    c.end = np.inf
    now = z.now
    for slot in range(c.first, c.last):
        net.s[slot].used = 0.0
        net.s[slot].share = 0.0
    for row in range(c.middle, c.last):
        if net.s[row].end < np.inf:
            dt = now - net.s[row].since
            first = net.s[row].flow
            for f in range(first, first + net.s[row].live):
                net.left[f] = max(net.left[f] - net.rate[f] * dt, TINY)
                net.rate[f] = 0.0
            net.s[row].end = np.inf
        net.s[row].since = now


@inner
def _fill(net: Net, k: int) -> None:
    """Max-min: raise all flows together; a port that is full fixes the flows that it has.

    Leaves the level of each port as what its flows have, ∞ where it is never full.
    """
    c = net.c[k]
    for slot in range(c.first, c.last):
        s, p = net.s[slot], net.p[net.s[slot].port]
        p.count = s.count if s.live > 0 else 0
        p.level = np.inf if p.count > 0 else 0.0
        p.left = p.free
    while True:
        level = np.inf
        for slot in range(c.first, c.last):
            p = net.p[net.s[slot].port]
            if p.count > 0:
                level = min(level, p.left / p.count)
        if level == np.inf:
            return
        for slot in range(c.first, c.last):
            p = net.p[net.s[slot].port]
            if p.count > 0 and p.left / p.count <= level * (1.0 + NOTHING):
                p.level = level
                _fix(net, k, slot, level)


@inner
def _fix(net: Net, k: int, slot: int, level: float) -> None:
    """Fix the flows at a full port at its level: their other ports have less to give."""
    c = net.c[k]
    s = net.s[slot]
    p = net.p
    others = len(p) // 2 if slot < c.middle else 0
    p[s.port].count = 0
    for w in range(s.words):
        partners = net.slot_bits[s.bits + w]
        while partners != ZERO:
            other = others + 64 * (s.word + w) + lowest(partners)
            partners &= partners - ONE
            if p[other].count > 0:
                p[other].count -= 1
                p[other].left = max(0.0, p[other].left - level)


@inner
def _renew(net: Net, slot: int, allocation: int) -> float:
    """Renew a slot's share; return the smaller of old and new, ∞ if it stands."""
    s = net.s[slot]
    share = 0.0
    if allocation == MAX_MIN:
        share = net.p[s.port].level
    elif s.count > 0:
        share = s.seen / s.count
    if _near(share, s.share):
        return np.inf
    least = min(share, s.share)
    s.share = share
    return float(least)


@inner
def _set_rates(net: Net, k: int, allocation: int) -> None:
    """Give each flow the smaller of its shares; correct what the coflow uses of each port.

    A row whose own share stands is passed over if the senders whose share has changed bind none
    of its flows, before or after. Sums are corrected, and added up afresh now and then.
    """
    c = net.c[k]
    known = 0.0 if c.moving == 1 else 1.0
    binding = np.inf
    for sender in range(c.first, c.middle):
        s = net.s[sender]
        if s.live > 0:
            binding = min(binding, _renew(net, sender, allocation))
            net.sender[s.port, SHARE] = s.share
            net.sender[s.port, INVERSE] = 1.0 / s.share if s.share > 0.0 else np.inf
            net.sender[s.port, USED] = known * s.used
    c.end = np.inf
    for row in range(c.middle, c.last):
        r = net.s[row]
        if r.live > 0:
            if _renew(net, row, allocation) < np.inf or r.share > binding or known == 0.0:
                _set_row(net, row, known)
            c.end = min(c.end, r.end)
    for sender in range(c.first, c.middle):
        net.s[sender].used = net.sender[net.s[sender].port, USED]


@inner
def _set_row(net: Net, row: int, known: float) -> None:
    """Give the flows of a row their rates; the old ones count as `known`, 0 or 1, in the sums."""
    r = net.s[row]
    now = net.z[0].now
    dt = now - r.since
    share, used, soonest = r.share, 0.0, np.inf
    inverse = 1.0 / share if share > 0.0 else np.inf
    for f in range(r.flow, r.flow + r.live):
        host, old = net.peer[f], net.rate[f]
        rate, slowness = net.sender[host, SHARE], net.sender[host, INVERSE]
        if share < rate:
            rate, slowness = share, inverse
        left = net.left[f] - old * dt
        if left < TINY:
            left = TINY
        net.left[f] = left
        net.rate[f] = rate
        net.sender[host, USED] += rate - known * old
        used += rate
        wait = left * slowness
        if wait < soonest:
            soonest = wait
    r.used = used
    r.since = now
    r.end = now + soonest
