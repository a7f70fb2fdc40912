"""Backfill: what is free goes to live flows in order, so that no flow has both ports free."""

from __future__ import annotations

from core.fluid.bits import flow_of, overlaps, row_of, take
from core.fluid.state import FREE, LIVE, Net
from core.fluid.words import ONE, ZERO, lowest
from core.jit import inlined


@inlined
def backfill(net: Net) -> None:
    """Grant min(free at sender, free at receiver) flow by flow: each grant fills a port.

    Coflows in order; inside a coflow by receiver, then sender. Only flows with both ports free
    are looked at, so the work does not grow with the flows that wait.
    """
    z = net.z[0]
    words = net.free_bits.shape[1]
    for i in range(z.active):
        k = net.order[i]
        if not overlaps(net, k):
            continue
        for w in range(words >> 1, words):
            rows = net.port_bits[k, LIVE, w] & net.free_bits[FREE, w]
            while rows != ZERO:
                port = 64 * w + lowest(rows)
                rows &= rows - ONE
                _fill_row(net, k, port)


@inlined
def _fill_row(net: Net, k: int, port: int) -> None:
    z = net.z[0]
    row, first = row_of(net, k, port), net.c[k].first
    r = net.r[row]
    for w in range(r.words):
        senders = net.slot_bits[r.bits + w, LIVE] & net.free_bits[FREE, r.word + w]
        while senders != ZERO:
            sender = 64 * (r.word + w) + lowest(senders)
            senders &= senders - ONE
            rate = min(net.free[sender], net.free[port])
            take(net, sender, rate)
            take(net, port, rate)
            g = net.g[z.grants]
            z.grants += 1
            g.flow = flow_of(net, row, sender)
            g.row = row
            g.sender = first + net.peer[g.flow]
            g.coflow = k
            g.rate = rate
            if net.free[port] == 0.0:
                return
