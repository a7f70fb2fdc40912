"""Time: the next event, what ends there, who arrives, and whether a decision is due."""

from __future__ import annotations

import numpy as np

from core.fluid.bits import bit, flow_of_sender, rank, slot_of_sender
from core.fluid.state import Net
from core.fluid.words import ONE, ZERO, lowest
from core.jit import kernel

DECIDE = 1
DONE = 0
STALLED = -1
SLACK = 1e-9
"""Relative distance to a limit that counts as having reached it."""
TINY = 1e-300
"""Bytes: what rounding may leave of a flow that ends a moment later."""
PATIENCE = 10_000
"""Decisions at one instant before the clock counts as stalled."""


@kernel
def horizon(time: float) -> float:
    """Latest time that counts as simultaneous [s]."""
    return time + max(1e-9, 1e-12 * time)


@kernel
def tick_at(time: float, interval: float) -> float:
    """First multiple of the interval that is not before a time [s]."""
    if interval == 0.0:
        return time
    return max(time, np.ceil((time - 1e-9) / interval) * interval)


@kernel
def advance(net: Net, shares: bool) -> int:
    """Move the clock to the next decision; return DECIDE, DONE or STALLED.

    Flows end at their instants on the way, whether or not their ends trigger anything.
    """
    z = net.z
    n = len(net.c)
    before = z.decided[0]
    while True:
        now = _next_end(net)
        if now == np.inf and z.active[0] > 0 and z.tick[0] == np.inf:
            # With nothing in motion nothing would ever happen again.
            z.tick[0] = tick_at(z.now[0], z.interval[0])
        if z.admitted[0] < n:
            now = min(now, net.c.arrival[z.admitted[0]])
        now = min(now, z.tick[0])
        if now == np.inf:
            return DONE
        now = max(now, z.now[0])
        z.now[0] = now
        until = horizon(now)
        due = _end_grants(net, now, until)
        due = _end_coflows(net, now, until, shares) or due
        while z.admitted[0] < n and net.c.arrival[z.admitted[0]] <= until:
            _admit(net, z.admitted[0], now)
            due = True
        if due and z.tick[0] == np.inf:
            z.tick[0] = tick_at(now, z.interval[0])
        if z.tick[0] <= until:
            z.tick[0] = np.inf
            z.stalled[0] = z.stalled[0] + 1 if now == before else 0
            return STALLED if z.stalled[0] > PATIENCE else DECIDE


@kernel
def _next_end(net: Net) -> float:
    now = np.inf
    for i in range(net.z.active[0]):
        k = net.order[i]
        now = min(now, net.c.end[k], net.c.leave[k])
    for i in range(net.z.grants[0]):
        now = min(now, net.g.end[i])
    return now


@kernel
def _admit(net: Net, k: int, now: float) -> None:
    net.z.admitted[0] += 1
    if net.c.live[k] == 0:
        net.c.finish[k] = net.c.arrival[k]
        return
    net.c.since[k] = now
    for row in range(net.c.middle[k], net.c.last[k]):
        net.s.since[row] = now
    net.order[net.z.active[0]] = k
    net.z.active[0] += 1


@kernel
def _end_flow(net: Net, k: int, flow: int, row: int, sender: int, rate: float) -> None:
    """End a flow that had a rate; it leaves its row at the next decision."""
    net.left[flow] = 0.0
    net.c.live[k] -= 1
    net.c.dirty[k] = 1
    net.s.dirty[row] = 1
    net.s.dirty[sender] = 1
    net.c.speed[k] -= rate


@kernel
def _end_grants(net: Net, now: float, until: float) -> bool:
    """End the flows whose end comes by backfill; return whether that triggers a decision."""
    due = False
    for i in range(net.z.grants[0]):
        if net.g.end[i] <= until:
            net.g.end[i] = np.inf
            k, flow = net.g.coflow[i], net.g.flow[i]
            settle(net, k, now)
            rate = net.g.rate[i]
            if len(net.rate) > 0:
                rate += net.rate[flow]
            _end_flow(net, k, flow, net.g.row[i], net.g.sender[i], rate)
            leaves_at(net, k)
            if net.c.live[k] == 0:
                net.c.end[k] = now
            due = due or net.z.per_flow[0] == 1
    return due


@kernel
def _end_coflows(net: Net, now: float, until: float, shares: bool) -> bool:
    """End flows by their own rates and coflows; return whether that triggers a decision."""
    due = False
    kept = 0
    for i in range(net.z.active[0]):
        k = net.order[i]
        if net.c.end[k] <= until:
            if shares and net.c.live[k] > 0:
                ended = _end_in_rows(net, k, now, until)
                due = due or (ended and net.z.per_flow[0] == 1)
            else:
                net.c.live[k] = 0
        if net.c.live[k] == 0:
            _finish(net, k, now)
            due = True
            continue
        if net.c.leave[k] <= until:
            net.c.leave[k] = np.inf
            net.c.limit[k] = -np.inf  # it leaves at the next decision
            due = True
        net.order[kept] = k
        kept += 1
    net.z.active[0] = kept
    return due


@kernel
def _finish(net: Net, k: int, now: float) -> None:
    net.c.finish[k] = max(now, net.c.arrival[k])
    for i in range(net.z.grants[0]):
        if net.g.coflow[i] == k:
            net.g.end[i] = np.inf


@kernel
def _end_in_rows(net: Net, k: int, now: float, until: float) -> bool:
    """End the flows of coflow k that are done, row by row, and find its next end."""
    ended = False
    settle(net, k, now)
    end = np.inf
    for row in range(net.c.middle[k], net.c.last[k]):
        if net.s.end[row] <= until:
            ended = _end_in_row(net, k, row, until) or ended
        end = min(end, net.s.end[row])
    net.c.end[k] = end
    leaves_at(net, k)
    return ended


@kernel
def _end_in_row(net: Net, k: int, row: int, until: float) -> bool:
    ended = False
    end, since, first = np.inf, net.s.since[row], net.s.flow[row]
    for f in range(first, first + net.s.live[row]):
        if net.left[f] > 0.0:
            own = since + net.left[f] / net.rate[f]
            if own <= until:
                sender = slot_of_sender(net, k, net.peer[f])
                _end_flow(net, k, f, row, sender, net.rate[f])
                ended = True
            else:
                end = min(end, own)
    net.s.end[row] = end
    return ended


@kernel
def settle(net: Net, k: int, now: float) -> None:
    """Bring the attained bytes of a coflow up to date."""
    net.c.sent[k] += net.c.speed[k] * (now - net.c.since[k])
    net.c.since[k] = now


@kernel
def leaves_at(net: Net, k: int) -> None:
    """Find when a coflow reaches the limit of its queue under its standing rates."""
    limit = net.c.limit[k]
    missing = limit - net.c.sent[k]
    net.c.leave[k] = np.inf
    if 0.0 < limit < np.inf:
        if missing <= SLACK * limit:
            net.c.leave[k] = net.c.since[k]
        elif net.c.speed[k] > 0.0:
            net.c.leave[k] = net.c.since[k] + missing / net.c.speed[k]


@kernel
def spend_grants(net: Net, now: float) -> None:
    """Take what the backfill has moved since the last decision off the flows that go on."""
    dt = now - net.z.decided[0]
    for i in range(net.z.grants[0]):
        k = net.g.coflow[i]
        if net.g.end[i] < np.inf and net.c.live[k] > 0:
            f, row = net.g.flow[i], net.g.row[i]
            moved = net.g.rate[i] * dt / net.c.scale[k]
            net.left[f] = max(net.left[f] - moved, TINY)
            net.s.load[row] -= moved
            net.s.load[net.g.sender[i]] -= moved
            if len(net.rate) > 0:
                end = net.s.since[row] + net.left[f] / net.rate[f]
                net.s.end[row] = min(net.s.end[row], end)
                net.c.end[k] = min(net.c.end[k], end)
    net.z.grants[0] = 0


@kernel
def compact(net: Net, k: int) -> None:
    """Take the flows that have ended out of their rows; correct counts, bits, loads and use."""
    ports, words = len(net.p) // 2, len(net.free_bits) // 2
    net.c.dirty[k] = 0
    for row in range(net.c.middle[k], net.c.last[k]):
        if net.s.dirty[row] == 1:
            net.s.dirty[row] = 0
            _compact_row(net, k, row)
            if net.s.live[row] == 0:
                host = net.s.port[row] - ports
                net.port_bits[k, words + (host >> 6)] &= ~bit(host)
                net.s.end[row] = np.inf
    for sender in range(net.c.first[k], net.c.middle[k]):
        if net.s.dirty[sender] == 1:
            net.s.dirty[sender] = 0
            host = net.s.port[sender]
            if len(net.rate) == 0:
                net.s.load[sender] = _load_of_sender(net, k, sender)
            if net.s.live[sender] == 0:
                net.port_bits[k, host >> 6] &= ~bit(host)


@kernel
def _compact_row(net: Net, k: int, row: int) -> None:
    first = net.s.flow[row]
    receiver = net.s.port[row] - len(net.p) // 2
    kept, load = first, 0.0
    for f in range(first, first + net.s.live[row]):
        host = net.peer[f]
        if net.left[f] > 0.0:
            net.left[kept] = net.left[f]
            net.peer[kept] = host
            if len(net.rate) > 0:
                net.rate[kept] = net.rate[f]
            load += net.left[f]
            kept += 1
            continue
        sender = slot_of_sender(net, k, host)
        net.s.live[sender] -= 1
        if len(net.rate) > 0:
            net.s.used[sender] -= net.rate[f]
            net.s.used[row] -= net.rate[f]
        _drop(net, row, host)
        _drop(net, sender, receiver)
    net.s.live[row] = kept - first
    net.s.load[row] = load


@kernel
def _drop(net: Net, slot: int, host: int) -> None:
    """Take a partner out of a slot's bits."""
    net.slot_bits[net.s.bits[slot] + (host >> 6) - net.s.word[slot]] &= ~bit(host)


@kernel
def _load_of_sender(net: Net, k: int, sender: int) -> float:
    """Sum up what a sender has left, over its live partners."""
    load = 0.0
    middle = net.c.middle[k]
    words = len(net.free_bits) // 2
    host = net.s.port[sender]
    for w in range(net.s.words[sender]):
        word = net.s.word[sender] + w
        partners = net.slot_bits[net.s.bits[sender] + w]
        while partners != ZERO:
            receiver = 64 * word + lowest(partners)
            partners &= partners - ONE
            row = middle + rank(net.own_bits[k], words, receiver)
            load += net.left[flow_of_sender(net, row, host)]
    return load
