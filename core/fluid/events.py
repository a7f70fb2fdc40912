"""Time: the next event, what ends there, who arrives, and whether a decision is due."""

from __future__ import annotations

import numpy as np

from core.fluid.bits import bit, flow_of_sender, row_of_receiver, slot_of_sender
from core.fluid.state import LIVE, Net
from core.fluid.words import ONE, ZERO, lowest
from core.jit import inner, kernel

DECIDE = 1
DONE = 0
STALLED = -1
SLACK = 1e-9
"""Relative distance to a limit that counts as having reached it."""
TINY = 1e-300
"""Bytes: what rounding may leave of a flow that ends a moment later."""
PATIENCE = 10_000
"""Decisions at one instant before the clock counts as stalled."""


@inner
def horizon(time: float) -> float:
    """Latest time that counts as simultaneous [s]."""
    return time + max(1e-9, 1e-12 * time)


@inner
def tick_at(time: float, interval: float) -> float:
    """First multiple of the interval that is not before a time [s]."""
    if interval == 0.0:
        return time
    return float(max(time, np.ceil((time - 1e-9) / interval) * interval))


@kernel
def advance(net: Net, shares: bool) -> int:
    """Move the clock to the next decision; return DECIDE, DONE or STALLED.

    Flows end at their instants on the way, whether or not their ends trigger anything.
    """
    z = net.z[0]
    n = len(net.c)
    before = z.decided
    while True:
        now = _next_end(net, shares)
        if now == np.inf and z.active > 0 and z.tick == np.inf:
            # With nothing in motion nothing would ever happen again.
            z.tick = tick_at(z.now, z.interval)
        if z.admitted < n:
            now = min(now, net.c[z.admitted].arrival)
        now = min(now, z.tick)
        if now == np.inf:
            return DONE
        now = max(now, z.now)
        z.now = now
        until = horizon(now)
        due = _end_grants(net, now, until)
        due = _end_coflows(net, now, until, shares) or due
        while z.admitted < n and net.c[z.admitted].arrival <= until:
            _admit(net, z.admitted, now)
            due = True
        if due and z.tick == np.inf:
            z.tick = tick_at(now, z.interval)
        if z.tick <= until:
            z.tick = np.inf
            z.stalled = z.stalled + 1 if now == before else 0
            return STALLED if z.stalled > PATIENCE else DECIDE


@inner
def _next_end(net: Net, shares: bool) -> float:
    """Time of the next end of a flow or coflow, or of a queue change [s]; ∞ if none is due."""
    z = net.z[0]
    now = np.inf
    for i in range(z.active):
        c = net.c[net.order[i]]
        now = min(now, c.end, c.leave)
    if shares or z.per_flow == 1:
        for i in range(z.grants):
            now = min(now, net.g[i].end)
    elif now == np.inf:
        for i in range(z.grants):
            if net.g[i].end < np.inf:
                now = net.g[i].end if now == np.inf else max(now, net.g[i].end)
    return now


@inner
def _admit(net: Net, k: int, now: float) -> None:
    z = net.z[0]
    c = net.c[k]
    z.admitted += 1
    if c.live == 0:
        c.finish = c.arrival
        return
    c.since = now
    for row in range(c.middle, c.last):
        net.s[row].since = now
    net.order[z.active] = k
    z.active += 1


@inner
def _end_flow(net: Net, k: int, flow: int, row: int, sender: int, rate: float) -> None:
    """End a flow that had a rate; it leaves its row at the next decision."""
    c = net.c[k]
    r = net.s[row]
    net.left[flow] = 0.0
    c.live -= 1
    c.dirty = 1
    r.dirty = 1
    net.s[sender].dirty = 1
    c.speed -= rate


@inner
def _end_grants(net: Net, now: float, until: float) -> bool:
    """End the flows whose end comes by backfill; return whether that triggers a decision."""
    z = net.z[0]
    due = False
    for i in range(z.grants):
        if net.g[i].end <= until:
            net.g[i].end = np.inf
            k, flow = net.g[i].coflow, net.g[i].flow
            settle(net, k, now)
            rate = net.g[i].rate
            if len(net.rate) > 0:
                rate += net.rate[flow]
            _end_flow(net, k, flow, net.g[i].row, net.g[i].sender, rate)
            leaves_at(net, k)
            if net.c[k].live == 0:
                net.c[k].end = now
            due = due or z.per_flow == 1
    return due


@inner
def _end_coflows(net: Net, now: float, until: float, shares: bool) -> bool:
    """End flows by their own rates and coflows; return whether that triggers a decision."""
    z = net.z[0]
    due = False
    kept = 0
    for i in range(z.active):
        k = net.order[i]
        if net.c[k].end <= until:
            if shares and net.c[k].live > 0:
                ended = _end_in_rows(net, k, now, until)
                due = due or (ended and z.per_flow == 1)
            else:
                net.c[k].live = 0
        if net.c[k].live == 0:
            _finish(net, k, now)
            due = True
            continue
        if net.c[k].leave <= until:
            net.c[k].leave = np.inf
            net.c[k].limit = -np.inf  # it leaves at the next decision
            due = True
        net.order[kept] = k
        kept += 1
    z.active = kept
    return due


@inner
def _finish(net: Net, k: int, now: float) -> None:
    z = net.z[0]
    c = net.c[k]
    c.finish = max(now, c.arrival)
    for i in range(z.grants):
        if net.g[i].coflow == k:
            net.g[i].end = np.inf


@inner
def _end_in_rows(net: Net, k: int, now: float, until: float) -> bool:
    """End the flows of coflow k that are done, row by row, and find its next end."""
    c = net.c[k]
    ended = False
    settle(net, k, now)
    end = np.inf
    for row in range(c.middle, c.last):
        if net.s[row].end <= until:
            ended = _end_in_row(net, k, row, until) or ended
        end = min(end, net.s[row].end)
    c.end = end
    leaves_at(net, k)
    return ended


@inner
def _end_in_row(net: Net, k: int, row: int, until: float) -> bool:
    r = net.s[row]
    ended = False
    end, since, first = np.inf, r.since, r.flow
    for f in range(first, first + r.live):
        if net.left[f] > 0.0 and net.rate[f] > 0.0:
            own = since + net.left[f] / net.rate[f]
            if own <= until:
                sender = slot_of_sender(net, k, net.peer[f])
                _end_flow(net, k, f, row, sender, net.rate[f])
                ended = True
            else:
                end = min(end, own)
    r.end = end
    return ended


@inner
def settle(net: Net, k: int, now: float) -> None:
    """Bring the attained bytes of a coflow up to date."""
    c = net.c[k]
    c.sent += c.speed * (now - c.since)
    c.since = now


@inner
def leaves_at(net: Net, k: int) -> None:
    """Find when a coflow reaches the limit of its queue under its standing rates."""
    c = net.c[k]
    limit = c.limit
    missing = limit - c.sent
    c.leave = np.inf
    if 0.0 < limit < np.inf:
        if missing <= SLACK * limit:
            c.leave = c.since
        elif c.speed > 0.0:
            c.leave = c.since + missing / c.speed


@inner
def spend_grants(net: Net, now: float) -> None:
    """Take what the backfill has moved since the last decision off the flows that go on."""
    z = net.z[0]
    dt = now - z.decided
    for i in range(z.grants):
        k = net.g[i].coflow
        if net.g[i].end < np.inf and net.c[k].live > 0:
            f, row = net.g[i].flow, net.g[i].row
            moved = net.g[i].rate * dt / net.c[k].scale
            net.left[f] = max(net.left[f] - moved, TINY)
            net.s[row].load -= moved
            net.s[net.g[i].sender].load -= moved
            if len(net.rate) > 0 and net.rate[f] > 0.0:
                end = net.s[row].since + net.left[f] / net.rate[f]
                net.s[row].end = min(net.s[row].end, end)
                net.c[k].end = min(net.c[k].end, end)
    z.grants = 0


@inner
def compact(net: Net, k: int) -> None:
    """Take the flows that have ended out of their rows; correct counts, bits, loads and use."""
    c = net.c[k]
    ports, words = len(net.p) // 2, len(net.free_bits) // 2
    c.dirty = 0
    for row in range(c.middle, c.last):
        if net.s[row].dirty == 1:
            net.s[row].dirty = 0
            net.s[row].count = -1
            _compact_row(net, k, row)
            if net.s[row].live == 0:
                host = net.s[row].port - ports
                net.port_bits[k, LIVE, words + (host >> 6)] &= ~bit(host)
                net.s[row].end = np.inf
    for sender in range(c.first, c.middle):
        if net.s[sender].dirty == 1:
            net.s[sender].dirty = 0
            net.s[sender].count = -1
            host = net.s[sender].port
            if len(net.rate) == 0:
                net.s[sender].load = _load_of_sender(net, k, sender)
            if net.s[sender].live == 0:
                net.port_bits[k, LIVE, host >> 6] &= ~bit(host)


@inner
def _compact_row(net: Net, k: int, row: int) -> None:
    r = net.s[row]
    first = r.flow
    receiver = r.port - len(net.p) // 2
    kept, load = first, 0.0
    for f in range(first, first + r.live):
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
        net.s[sender].live -= 1
        if len(net.rate) > 0:
            net.s[sender].used -= net.rate[f]
            r.used -= net.rate[f]
        _drop(net, row, host)
        _drop(net, sender, receiver)
    r.live = kept - first
    r.load = load


@inner
def _drop(net: Net, slot: int, host: int) -> None:
    """Take a partner out of a slot's bits."""
    s = net.s[slot]
    net.slot_bits[s.bits + (host >> 6) - s.word] &= ~bit(host)


@inner
def _load_of_sender(net: Net, k: int, sender: int) -> float:
    """Sum up what a sender has left, over its live partners."""
    load = 0.0
    host = net.s[sender].port
    for w in range(net.s[sender].words):
        word = net.s[sender].word + w
        partners = net.slot_bits[net.s[sender].bits + w]
        while partners != ZERO:
            receiver = 64 * word + lowest(partners)
            partners &= partners - ONE
            row = row_of_receiver(net, k, receiver)
            load += net.left[flow_of_sender(net, row, host)]
    return load
