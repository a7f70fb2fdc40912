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
from core.fluid.state import Net
from core.fluid.words import ONE, ZERO, lowest, popcount
from core.jit import kernel
from core.trace import Floats, Ints

EQUAL_SPLIT, MAX_MIN = 0, 1
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
    for k in range(len(net.c)):
        net.c.limit[k] = limits[0] * net.c.weight[k] if len(limits) > 0 else np.inf
    while True:
        state = advance(net, True)
        if state != DECIDE:
            return state
        _settle_all(net)
        for i in range(net.z.active[0]):
            _demote(net, net.order[i], modes[0], limits)
        _decide(net, modes[1], weights)


@kernel
def _settle_all(net: Net) -> None:
    now = net.z.now[0]
    spend_grants(net, now)
    for i in range(net.z.active[0]):
        k = net.order[i]
        settle(net, k, now)
        if net.c.dirty[k] == 1:
            compact(net, k)
            for slot in range(net.c.first[k], net.c.last[k]):
                net.s.seen[slot] = -1.0


@kernel
def _demote(net: Net, k: int, mode: int, limits: Floats) -> None:
    """Move a coflow down while it has reached the limit of its queue."""
    sent = net.c.sent[k]
    while net.c.queue[k] < len(limits) and sent >= net.c.limit[k] * (1.0 - SLACK):
        net.c.queue[k] += 1
        q = net.c.queue[k]
        entry = sent if mode == PER_QUEUE else 0.0
        net.c.limit[k] = entry + limits[q] * net.c.weight[k] if q < len(limits) else np.inf


@kernel
def _decide(net: Net, allocation: int, weights: Floats) -> None:
    z = net.z
    z.decided[0] = z.now[0]
    z.events[0] += 1
    _sort(net)
    total = 0.0
    if len(weights) == 0:
        free_all(net, 1.0)
    else:
        free_all(net, 0.0)
        last = -1
        for i in range(z.active[0]):
            q = net.c.queue[net.order[i]]
            total += weights[q] if q != last else 0.0
            last = q
    last = -1
    for i in range(z.active[0]):
        k = net.order[i]
        if total > 0.0 and net.c.queue[k] != last:
            last = net.c.queue[k]
            give_back(net, weights[last] / total)
        _allocate(net, k, allocation)
    if z.backfill[0] == 1:
        backfill(net)
    for i in range(z.grants[0]):
        k, f = net.g.coflow[i], net.g.flow[i]
        left = net.left[f] - net.rate[f] * (z.now[0] - net.s.since[net.g.row[i]])
        net.g.end[i] = z.now[0] + left / (net.rate[f] + net.g.rate[i])
        net.c.speed[k] += net.g.rate[i]
    for i in range(z.active[0]):
        leaves_at(net, net.order[i])


@kernel
def _sort(net: Net) -> None:
    """Sort the active coflows by queue, then by their place in the trace."""
    order, queue = net.order, net.c.queue
    for i in range(1, net.z.active[0]):
        k = order[i]
        at = i
        while at > 0 and (
            queue[k] < queue[order[at - 1]]
            or (queue[k] == queue[order[at - 1]] and k < order[at - 1])
        ):
            order[at] = order[at - 1]
            at -= 1
        order[at] = k


@kernel
def _allocate(net: Net, k: int, allocation: int) -> None:
    """Give coflow k its rates out of what is free, and take them from the ports."""
    words = len(net.free_bits) // 2
    bits = net.port_bits[k]
    open_ports = overlaps(bits, net.free_bits, 0, words)
    open_ports = open_ports and overlaps(bits, net.free_bits, words, 2 * words)
    if not open_ports:
        if net.c.moving[k] > 0:
            _stop(net, k)
        net.c.speed[k] = 0.0
        return
    if net.c.moving[k] == 0 or _changed(net, k):
        net.c.moving[k] = net.c.moving[k] % REFRESH + 1
        _count(net, k)
        if allocation == MAX_MIN:
            _fill(net, k)
        _set_rates(net, k, allocation)
    speed = 0.0
    for slot in range(net.c.first[k], net.c.last[k]):
        if net.s.live[slot] > 0:
            net.s.seen[slot] = net.p.free[net.s.port[slot]]
            take(net, net.s.port[slot], net.s.used[slot])
            if slot >= net.c.middle[k]:
                speed += net.s.used[slot]
    net.c.speed[k] = speed


@kernel
def _near(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= NOISE * min(a, b)


@kernel
def _changed(net: Net, k: int) -> bool:
    """Whether something else is free at a port of the coflow than when it got its rates."""
    for slot in range(net.c.first[k], net.c.last[k]):
        if net.s.live[slot] > 0 and not _near(net.p.free[net.s.port[slot]], net.s.seen[slot]):
            return True
    return False


@kernel
def _stop(net: Net, k: int) -> None:
    """All flows of a coflow stand still."""
    net.c.moving[k] = 0
    net.c.end[k] = np.inf
    now = net.z.now[0]
    for slot in range(net.c.first[k], net.c.last[k]):
        net.s.used[slot] = 0.0
        net.s.share[slot] = 0.0
    for row in range(net.c.middle[k], net.c.last[k]):
        if net.s.end[row] < np.inf:
            dt = now - net.s.since[row]
            first = net.s.flow[row]
            for f in range(first, first + net.s.live[row]):
                net.left[f] = max(net.left[f] - net.rate[f] * dt, TINY)
                net.rate[f] = 0.0
            net.s.end[row] = np.inf
        net.s.since[row] = now


@kernel
def _count(net: Net, k: int) -> None:
    """Count at each port of the coflow the live flows that have both ports free."""
    words = len(net.free_bits) // 2
    for slot in range(net.c.first[k], net.c.last[k]):
        port = net.s.port[slot]
        count = 0
        if net.p.free[port] > 0.0:
            partners = net.s.word[slot]
            if slot < net.c.middle[k]:
                partners += words
            bits = net.s.bits[slot]
            for w in range(net.s.words[slot]):
                count += popcount(net.slot_bits[bits + w] & net.free_bits[partners + w])
        net.p.count[port] = count


@kernel
def _fill(net: Net, k: int) -> None:
    """Max-min: raise all flows together; a port that is full fixes the flows that it has.

    Leaves the level of each port as what its flows have, ∞ where it is never full.
    """
    p, s = net.p, net.s
    first, last = net.c.first[k], net.c.last[k]
    for slot in range(first, last):
        port = s.port[slot]
        p.level[port] = np.inf if p.count[port] > 0 else 0.0
        p.left[port] = p.free[port]
    while True:
        level = np.inf
        for slot in range(first, last):
            port = s.port[slot]
            if p.count[port] > 0:
                level = min(level, p.left[port] / p.count[port])
        if level == np.inf:
            return
        for slot in range(first, last):
            port = s.port[slot]
            if p.count[port] > 0 and p.left[port] / p.count[port] <= level * (1.0 + NOTHING):
                p.level[port] = level
                _fix(net, k, slot, level)


@kernel
def _fix(net: Net, k: int, slot: int, level: float) -> None:
    """Fix the flows at a full port at its level: their other ports have less to give."""
    p = net.p
    others = len(p) // 2 if slot < net.c.middle[k] else 0
    p.count[net.s.port[slot]] = 0
    for w in range(net.s.words[slot]):
        partners = net.slot_bits[net.s.bits[slot] + w]
        while partners != ZERO:
            other = others + 64 * (net.s.word[slot] + w) + lowest(partners)
            partners &= partners - ONE
            if p.count[other] > 0:
                p.count[other] -= 1
                p.left[other] = max(0.0, p.left[other] - level)


@kernel
def _new_share(net: Net, port: int, allocation: int) -> float:
    if net.p.count[port] == 0 and allocation == EQUAL_SPLIT:
        return 0.0
    if allocation == MAX_MIN:
        return float(net.p.level[port])
    return float(net.p.free[port] / net.p.count[port])


@kernel
def _set_rates(net: Net, k: int, allocation: int) -> None:
    """Give each flow the smaller of its shares; correct what the coflow uses of each port.

    A row whose own share stands is passed over if the senders whose share has changed bind none
    of its flows, before or after. Sums are corrected, and added up afresh now and then.
    """
    s = net.s
    first, middle, last = net.c.first[k], net.c.middle[k], net.c.last[k]
    afresh = net.c.moving[k] == 1
    binding = np.inf
    for slot in range(first, middle):
        if s.live[slot] > 0:
            port = s.port[slot]
            share = _new_share(net, port, allocation)
            if not _near(share, s.share[slot]):
                binding = min(binding, share, s.share[slot])
                s.share[slot] = share
            net.share[port] = s.share[slot]
            net.used[port] = 0.0 if afresh else s.used[slot]
    end = np.inf
    for row in range(middle, last):
        if s.live[row] > 0:
            share = _new_share(net, s.port[row], allocation)
            stands = _near(share, s.share[row])
            if afresh or not stands or share > binding:
                if not stands:
                    s.share[row] = share
                _set_row(net, row, s.share[row], 0.0 if afresh else 1.0)
            end = min(end, s.end[row])
    for slot in range(first, middle):
        s.used[slot] = net.used[s.port[slot]]
    net.c.end[k] = end


@kernel
def _set_row(net: Net, row: int, share: float, known: float) -> None:
    """Give the flows of a row their rates; the old ones count as `known`, 0 or 1, in the sums."""
    first = net.s.flow[row]
    last = first + net.s.live[row]
    used = 0.0
    changed = False
    for f in range(first, last):
        host, old = net.peer[f], net.rate[f]
        rate = min(net.share[host], share)
        net.used[host] += rate - known * old
        used += rate
        changed = changed or rate != old
    net.s.used[row] = used
    if not changed:
        return
    now = net.z.now[0]
    dt = now - net.s.since[row]
    net.s.since[row] = now
    soonest = np.inf
    for f in range(first, last):
        net.left[f] = max(net.left[f] - net.rate[f] * dt, TINY)
        net.rate[f] = min(net.share[net.peer[f]], share)
        soonest = min(soonest, net.left[f] / net.rate[f])
    net.s.end[row] = now + soonest
