"""Max-min inside a coflow by water-filling."""

from __future__ import annotations

import numpy as np

from core.fluid.kernels.bit_ops import ONE, ZERO, lowest
from core.fluid.kernels.port_bits import NOTHING
from core.fluid.state import LIVE, FluidState
from core.jit import inlined


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
