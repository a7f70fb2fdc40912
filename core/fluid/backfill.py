"""Backfill: what is free goes to live flows in order, so that no flow has both ports free."""

from __future__ import annotations

import numpy as np

from core.fluid.bits import flow_of_sender, overlaps, row_of_receiver, slot_of_sender, take
from core.fluid.state import LIVE, Net
from core.fluid.words import ONE, ZERO, lowest
from core.jit import inner


@inner
def backfill(net: Net) -> None:
    """Grant min(free at sender, free at receiver) flow by flow: each grant fills a port.

    Coflows in order; inside a coflow by receiver, then sender. Only flows with both ports free
    are looked at, so the work does not grow with the flows that wait.
    """
    z = net.z[0]
    words = len(net.free_bits) // 2
    for i in range(z.active):
        k = net.order[i]
        if not overlaps(net, k, 0, words):
            continue
        for w in range(words):
            rows = net.port_bits[k, LIVE, words + w] & net.free_bits[words + w]
            while rows != ZERO:
                host = 64 * w + lowest(rows)
                rows &= rows - ONE
                _fill_row(net, k, row_of_receiver(net, k, host))


@inner
def _fill_row(net: Net, k: int, row: int) -> None:
    z = net.z[0]
    r = net.s[row]
    port = r.port
    for w in range(r.words):
        word = r.word + w
        senders = net.slot_bits[r.bits + w] & net.free_bits[word]
        while senders != ZERO:
            host = 64 * word + lowest(senders)
            senders &= senders - ONE
            rate = min(net.p[host].free, net.p[port].free)
            take(net, host, rate)
            take(net, port, rate)
            at = z.grants
            z.grants += 1
            net.g[at].flow = flow_of_sender(net, row, host)
            net.g[at].row = row
            net.g[at].sender = slot_of_sender(net, k, host)
            net.g[at].coflow = k
            net.g[at].rate = rate
            net.g[at].end = np.inf
            if net.p[port].free == 0.0:
                return
