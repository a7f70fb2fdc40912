"""Sets of ports as bits, what is free at the ports, and where a port's slot or flow lies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.fluid.state import ALL, LIVE, Net
from core.fluid.words import ONE, ZERO, popcount
from core.jit import inner, kernel

NOTHING = 1e-12
"""Share of a port's capacity that counts as nothing."""


@kernel
def rounded(value: float) -> float:
    """Round to 30 bits, so that values that are equal but for their rounding compare as equal."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(np.rint(mantissa * 1073741824.0), exponent - 30)


@inner
def bit(host: int) -> Any:
    """Return the bit of a host in its word."""
    return ONE << np.uint64(host & 63)


@inner
def _below(host: int) -> Any:
    """Return the bits below a host's in its word."""
    return bit(host) - ONE


@inner
def slot_of_sender(net: Net, k: int, host: int) -> int:
    """Slot of a sender of coflow k."""
    slot = net.c[k].first
    for w in range(host >> 6):
        slot += popcount(net.port_bits[k, ALL, w])
    return int(slot + popcount(net.port_bits[k, ALL, host >> 6] & _below(host)))


@inner
def row_of_receiver(net: Net, k: int, host: int) -> int:
    """Row of a receiver of coflow k."""
    words = len(net.free_bits) // 2
    row = net.c[k].middle
    for w in range(words, words + (host >> 6)):
        row += popcount(net.port_bits[k, ALL, w])
    return int(row + popcount(net.port_bits[k, ALL, words + (host >> 6)] & _below(host)))


@inner
def flow_of_sender(net: Net, row: int, host: int) -> int:
    """Flow from a host, in a row that has it and no ended flows."""
    r = net.s[row]
    flow = r.flow
    last = r.bits + (host >> 6) - r.word
    for w in range(r.bits, last):
        flow += popcount(net.slot_bits[w])
    return int(flow + popcount(net.slot_bits[last] & _below(host)))


@inner
def overlaps(net: Net, k: int, low: int, high: int) -> bool:
    """Whether coflow k has live flows at a free port, in the words low … high − 1."""
    shared = ZERO
    for w in range(low, high):
        shared |= net.port_bits[k, LIVE, w] & net.free_bits[w]
    return bool(shared != ZERO)


@inner
def all_free(net: Net, k: int) -> bool:
    """Whether all ports at which coflow k has live flows are free."""
    taken = ZERO
    for w in range(len(net.free_bits)):
        taken |= net.port_bits[k, LIVE, w] & ~net.free_bits[w]
    return bool(taken == ZERO)


@inner
def take(net: Net, port: int, rate: float) -> None:
    """Take a rate from what is free at a port; a trace of the capacity counts as nothing."""
    net.p[port].free -= rate
    if net.p[port].free <= NOTHING * net.p[port].capacity:
        net.p[port].free = 0.0
        _mark(net, port, False)


@inner
def give_back(net: Net, share: float) -> None:
    """Add a share of the capacity of every port to what is free there."""
    for port in range(len(net.p)):
        net.p[port].free += share * net.p[port].capacity
        _mark(net, port, True)


@inner
def free_all(net: Net, share: float) -> None:
    """Free a share of every port, 0 or 1."""
    for port in range(len(net.p)):
        net.p[port].free = share * net.p[port].capacity
        _mark(net, port, share > 0.0)


@inner
def _mark(net: Net, port: int, free: bool) -> None:
    ports = len(net.p) // 2
    host, w = port, port >> 6
    if port >= ports:
        host -= ports
        w = (len(net.free_bits) // 2) + (host >> 6)
    if free:
        net.free_bits[w] |= bit(host)
    else:
        net.free_bits[w] &= ~bit(host)
