"""Sets of ports as bits, what is free at the ports, and where a port's row or flow lies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.fluid.kernels.bit_ops import ONE, ZERO, popcount
from core.fluid.state import ALL, EVERY, FREE, LIVE, FluidState
from core.jit import inlined

NOTHING = 1e-12
"""Share of a port's capacity that counts as nothing."""


@inlined
def rounded(value: float) -> float:
    """Round to 30 bits, so that values that are equal but for their rounding compare as equal."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(np.rint(mantissa * 1073741824.0), exponent - 30)


@inlined
def bit(port: int) -> Any:
    """Return the bit of a port in its word."""
    return ONE << np.uint64(port & 63)


@inlined
def row_of(net: FluidState, k: int, port: int) -> int:
    """Row of a receiver of coflow k."""
    row = net.coflow[k].middle
    last = port >> 6
    for w in range(net.port_bits.shape[2] >> 1, last):
        row += popcount(net.port_bits[k, ALL, w])
    return int(row + popcount(net.port_bits[k, ALL, last] & (bit(port) - ONE)))


@inlined
def flow_of(net: FluidState, row: int, port: int) -> int:
    """Flow from a sender that has a place in the row."""
    r = net.row[row]
    flow = r.flow
    last = r.bits + (port >> 6) - r.word
    for w in range(r.bits, last):
        flow += popcount(net.slot_bits[w, ALL])
    return int(flow + popcount(net.slot_bits[last, ALL] & (bit(port) - ONE)))


@inlined
def overlaps(net: FluidState, k: int) -> bool:
    """Whether coflow k has live flows at free ports on both sides."""
    words = net.free_bits.shape[1]
    senders, receivers = ZERO, ZERO
    for w in range(words >> 1):
        senders |= net.port_bits[k, LIVE, w] & net.free_bits[FREE, w]
    for w in range(words >> 1, words):
        receivers |= net.port_bits[k, LIVE, w] & net.free_bits[FREE, w]
    return bool(senders != ZERO and receivers != ZERO)


@inlined
def take(net: FluidState, port: int, rate: float) -> None:
    """Take a rate from what is free at a port; a trace of the capacity counts as nothing."""
    left = net.free[port] - rate
    if left <= NOTHING * net.capacity[port]:
        left = 0.0
        net.free_bits[FREE, port >> 6] &= ~bit(port)
    net.free[port] = left


@inlined
def give(net: FluidState, share: float, kept: float) -> None:
    """Add a share of the capacity of every port to what was free there (`kept`: 0 or 1)."""
    for port in range(len(net.free)):
        net.free[port] = kept * net.free[port] + share * net.capacity[port]
    for w in range(net.free_bits.shape[1]):
        net.free_bits[FREE, w] = net.free_bits[EVERY, w]
