"""Backfill: what is free goes to live flows in order, so that no flow has both ports free."""

from __future__ import annotations

import numpy as np

from core.fluid.bits import flow_of_sender, overlaps, row_of_receiver, slot_of_sender, take
from core.fluid.state import Net
from core.fluid.words import ONE, ZERO, lowest
from core.jit import kernel


@kernel
def backfill(net: Net) -> None:
    """Grant min(free at sender, free at receiver) flow by flow: each grant fills a port.

    Coflows in order; inside a coflow by receiver, then sender. Only flows with both ports free
    are looked at, so the work does not grow with the flows that wait.
    """
    words = len(net.free_bits) // 2
    for i in range(net.z.active[0]):
        k = net.order[i]
        own = net.port_bits[k]
        if not overlaps(own, net.free_bits, 0, words):
            continue
        for w in range(words):
            rows = own[words + w] & net.free_bits[words + w]
            while rows != ZERO:
                host = 64 * w + lowest(rows)
                rows &= rows - ONE
                _fill_row(net, k, row_of_receiver(net, k, host))


@kernel
def _fill_row(net: Net, k: int, row: int) -> None:
    port = net.s.port[row]
    for w in range(net.s.words[row]):
        word = net.s.word[row] + w
        senders = net.slot_bits[net.s.bits[row] + w] & net.free_bits[word]
        while senders != ZERO:
            host = 64 * word + lowest(senders)
            senders &= senders - ONE
            rate = min(net.p.free[host], net.p.free[port])
            take(net, host, rate)
            take(net, port, rate)
            at = net.z.grants[0]
            net.z.grants[0] += 1
            net.g.flow[at] = flow_of_sender(net, row, host)
            net.g.row[at] = row
            net.g.sender[at] = slot_of_sender(net, k, host)
            net.g.coflow[at] = k
            net.g.rate[at] = rate
            net.g.end[at] = np.inf
            if net.p.free[port] == 0.0:
                return
