"""Kernels that lay out the slots of all coflows, and sum up bytes at their ports."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.fluid.words import ONE, popcount
from core.jit import inner, kernel
from core.trace import Floats, Ints, Ports


@kernel
def gammas(first_flow: Ints, src: Ports, dst: Ports, size: Floats, capacity: Floats) -> Floats:
    """Γ of each coflow alone [s], shape (n,)."""
    n, ports = len(first_flow) - 1, len(capacity) // 2
    gamma, load = np.zeros(n), np.zeros(2 * ports)
    for k in range(n):
        for f in range(first_flow[k], first_flow[k + 1]):
            load[src[f]] += size[f]
            load[ports + dst[f]] += size[f]
        for f in range(first_flow[k], first_flow[k + 1]):
            for port in (np.int64(src[f]), np.int64(ports + dst[f])):
                gamma[k] = max(gamma[k], load[port] / capacity[port])
                load[port] = 0.0
    return gamma


@kernel
def count_slots(first_flow: Ints, src: Ports, dst: Ports, own_bits: Any, c: Any) -> int:
    """Note the ports of each coflow and where its slots lie; return the number of slots."""
    words = own_bits.shape[1] // 2
    slots = 0
    for k in range(len(c)):
        for f in range(first_flow[k], first_flow[k + 1]):
            own_bits[k, src[f] >> 6] |= ONE << np.uint64(src[f] & 63)
            own_bits[k, words + (dst[f] >> 6)] |= ONE << np.uint64(dst[f] & 63)
        c[k].first = slots
        for w in range(words):
            slots += popcount(own_bits[k, w])
        c[k].middle = slots
        for w in range(words, 2 * words):
            slots += popcount(own_bits[k, w])
        c[k].last = slots
    return slots


@kernel
def fill_slots(
    first_flow: Ints, src: Ports, dst: Ports, size: Floats, own_bits: Any, c: Any, s: Any
) -> int:
    """Fill in ports, counts, loads and the place of their bits; return how many words those take.

    A slot's words reach from its first partner's to its last one's.
    """
    ports = 64 * (own_bits.shape[1] // 2)
    slot, total = np.zeros(2 * ports, np.int64), 0
    for k in range(len(c)):
        at = c[k].first
        for port in range(2 * ports):
            if own_bits[k, port >> 6] & (ONE << np.uint64(port & 63)) != 0:
                s[at].port = port
                slot[port] = at
                at += 1
        for f in range(first_flow[k], first_flow[k + 1]):
            sender, row = slot[src[f]], slot[ports + dst[f]]
            _widen(s, sender, dst[f] >> 6, size[f])
            if s[row].live == 0:
                s[row].flow = f
            _widen(s, row, src[f] >> 6, size[f])
        for at in range(c[k].first, c[k].last):
            s[at].bits = total
            total += s[at].words
    return total


@inner
def _widen(s: Any, slot: int, word: int, size: float) -> None:
    if s[slot].live == 0:
        s[slot].word = word
    s[slot].live += 1
    s[slot].words = max(s[slot].words, word - s[slot].word + 1)
    s[slot].load += size


@kernel
def fill_bits(src: Ports, ports: int, own_bits: Any, c: Any, s: Any, slot_bits: Any) -> None:
    """Note the partners of each slot; count ports through from senders to receivers."""
    padded = 64 * (own_bits.shape[1] // 2)
    slot = np.zeros(padded, np.int64)
    for k in range(len(c)):
        for sender in range(c[k].first, c[k].middle):
            slot[s[sender].port] = sender
        for row in range(c[k].middle, c[k].last):
            host = s[row].port - padded
            s[row].port = ports + host
            for f in range(s[row].flow, s[row].flow + s[row].live):
                i = src[f]
                slot_bits[s[row].bits + (i >> 6) - s[row].word] |= ONE << np.uint64(i & 63)
                sender = slot[i]
                at = s[sender].bits + (host >> 6) - s[sender].word
                slot_bits[at] |= ONE << np.uint64(host & 63)
