"""Backfill: what is free goes to live flows in order, so that no flow has both ports free."""

from __future__ import annotations

from core.fluid.kernels.bit_ops import ONE, ZERO, lowest
from core.fluid.kernels.port_bits import NOTHING, flow_of, overlaps, row_of, take
from core.fluid.state import FREE, LIVE, FluidState
from core.jit import inlined


@inlined
def backfill(net: FluidState) -> None:
    """Grant min(free at sender, free at receiver) flow by flow: each grant fills a port.

    Coflows in order; inside a coflow by receiver, then sender. Only flows with both ports free
    are looked at, so the work does not grow with the flows that wait.
    """
    clock = net.clock[0]
    words = net.free_bits.shape[1]
    for i in range(clock.active):
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
def _fill_row(net: FluidState, k: int, port: int) -> None:
    clock, c = net.clock[0], net.coflow[k]
    row = row_of(net, k, port)
    r = net.row[row]
    full = r.width == c.middle - c.first  # then the senders lie in the row as in the slots
    here, grants = net.free[port], clock.grant_count
    for w in range(r.words):
        senders = net.slot_bits[r.bits + w, LIVE] & net.free_bits[FREE, r.word + w]
        while senders != ZERO and here > 0.0:
            sender = 64 * (r.word + w) + lowest(senders)
            senders &= senders - ONE
            rate = min(net.free[sender], here)
            here -= rate
            if here <= NOTHING * net.capacity[port]:
                here = 0.0
            take(net, sender, rate)
            flow = flow_of(net, row, sender)
            g = net.grant[grants]
            grants += 1
            g.flow = flow
            g.row = row
            g.sender = c.first + (flow - r.flow if full else net.peer[flow])
            g.coflow = k
            g.rate = rate
            g.last = net.left[flow]
    clock.grant_count = grants
    take(net, port, net.free[port] - here)
