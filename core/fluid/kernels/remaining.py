"""Bytes that a coflow has left at each port and in its largest flow; MADD depends on them."""

from __future__ import annotations

from core.fluid.kernels.bit_ops import ONE, ZERO, lowest
from core.fluid.kernels.port_bits import flow_of, row_of
from core.fluid.state import LIVE, FluidState
from core.jit import inlined

GIVEN, LENGTH, SIZE, GAMMA = 0, 1, 2, 3
"""Keys: as handed over, or recomputed from the remaining bytes at each decision."""


@inlined
def refresh(net: FluidState, k: int, slot: int) -> None:
    """Add up the load at a port afresh before rounding can be felt."""
    s = net.slot[slot]
    if s.live == 0:
        s.load = 0.0
    elif s.load < 0.5 * s.summed:
        s.load = s.summed = _sum(net, k, slot)


@inlined
def _sum(net: FluidState, k: int, slot: int) -> float:
    """Sum up what the flows at a port have left."""
    total = 0.0
    r, port = net.row[slot], net.slot[slot].port
    if slot >= net.coflow[k].middle:
        for f in range(r.flow, r.flow + r.width):
            total += net.left[f]
        return total
    for w in range(r.words):
        partners = net.slot_bits[r.bits + w, LIVE]
        while partners != ZERO:
            row = row_of(net, k, 64 * (r.word + w) + lowest(partners))
            partners &= partners - ONE
            total += net.left[flow_of(net, row, port)]
    return total


@inlined
def remaining(net: FluidState, k: int, code: int) -> float:
    """Longest flow [B], all flows [B] or Γ [s] of what is left of a coflow."""
    c = net.coflow[k]
    value = 0.0
    if code == GAMMA:
        for slot in range(c.first, c.last):
            value = max(value, net.slot[slot].load / net.capacity[net.slot[slot].port])
    elif code == SIZE:
        for row in range(c.middle, c.last):
            value += net.slot[row].load
    else:
        for row in range(c.middle, c.last):
            if net.row[row].stale == 1:
                _look_up(net, row)
            value = max(value, net.row[row].most)
    return float(value * c.scale)


@inlined
def _look_up(net: FluidState, row: int) -> None:
    r = net.row[row]
    most = 0.0
    for f in range(r.flow, r.flow + r.width):
        most = max(most, net.left[f])
    r.most = most
    r.stale = 0
