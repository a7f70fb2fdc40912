"""Sets of ports as bits, and look-ups in sorted runs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.fluid.state import Net, Words
from core.jit import kernel
from core.trace import Ports

ZERO, ONE = np.uint64(0), np.uint64(1)
NOTHING = 1e-12
"""Share of a port's capacity that counts as nothing."""
_67 = np.uint64(67)
_BIT = np.zeros(67, np.int64)  # powers of 2 all differ modulo 67
for _i in range(64):
    _BIT[2**_i % 67] = _i


@kernel
def rounded(value: float) -> float:
    """Round to 30 bits, so that values that are equal but for their rounding compare as equal."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(np.rint(mantissa * 1073741824.0), exponent - 30)


@kernel
def lowest(word: Any) -> int:
    """Position of the lowest bit that is set; the word is not 0."""
    return int(_BIT[(word & (~word + ONE)) % _67])


@kernel
def bit(host: int) -> Any:
    """Return the bit of a host in its word."""
    return ONE << np.uint64(host & 63)


@kernel
def find_slot(s: Any, low: int, high: int, port: int) -> int:
    """Slot of a port among the slots low … high − 1, which are sorted by port and hold it."""
    while high - low > 1:
        middle = (low + high) >> 1
        if s.port[middle] <= port:
            low = middle
        else:
            high = middle
    return low


@kernel
def find_flow(peer: Ports, low: int, high: int, host: int) -> int:
    """Flow from a host among the flows low … high − 1 of a row, which holds it."""
    while high - low > 1:
        middle = (low + high) >> 1
        if peer[middle] <= host:
            low = middle
        else:
            high = middle
    return low


@kernel
def overlaps(a: Words, b: Words, low: int, high: int) -> bool:
    """Whether two sets share a port in the words low … high − 1."""
    for w in range(low, high):  # noqa: SIM110
        if a[w] & b[w] != ZERO:
            return True
    return False


@kernel
def within(a: Words, b: Words) -> bool:
    """Whether the first set is part of the second."""
    for w in range(len(a)):  # noqa: SIM110
        if a[w] & ~b[w] != ZERO:
            return False
    return True


@kernel
def has_sender(net: Net, row: int, host: int) -> bool:
    """Whether a row has a live flow from a host."""
    w = (host >> 6) - net.s.word[row]
    return bool(0 <= w < net.s.words[row] and net.row_bits[net.s.bits[row] + w] & bit(host) != ZERO)


@kernel
def take(net: Net, port: int, rate: float) -> None:
    """Take a rate from what is free at a port; a trace of the capacity counts as nothing."""
    net.p.free[port] -= rate
    if net.p.free[port] <= NOTHING * net.p.capacity[port]:
        net.p.free[port] = 0.0
        _mark(net, port, False)


@kernel
def give_back(net: Net, share: float) -> None:
    """Add a share of the capacity of every port to what is free there."""
    for port in range(len(net.p)):
        net.p.free[port] += share * net.p.capacity[port]
        _mark(net, port, True)


@kernel
def free_all(net: Net) -> None:
    """Nothing is used at any port."""
    for port in range(len(net.p)):
        net.p.free[port] = net.p.capacity[port]
        _mark(net, port, True)


@kernel
def _mark(net: Net, port: int, free: bool) -> None:
    ports, words = len(net.p) // 2, len(net.free_bits) // 2
    w, host = (port >> 6, port) if port < ports else (words + ((port - ports) >> 6), port - ports)
    if free:
        net.free_bits[w] |= bit(host)
    else:
        net.free_bits[w] &= ~bit(host)
