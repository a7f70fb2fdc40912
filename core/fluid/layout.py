"""Kernels that lay out the slots of all coflows, and sum up bytes at their ports."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.fluid.words import ONE, popcount
from core.jit import kernel
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
        c.first[k] = slots
        for w in range(words):
            slots += popcount(own_bits[k, w])
        c.middle[k] = slots
        for w in range(words, 2 * words):
            slots += popcount(own_bits[k, w])
        c.last[k] = slots
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
        at = c.first[k]
        for port in range(2 * ports):
            if own_bits[k, port >> 6] & (ONE << np.uint64(port & 63)) != 0:
                s.port[at] = port
                slot[port] = at
                at += 1
        for f in range(first_flow[k], first_flow[k + 1]):
            sender, row = slot[src[f]], slot[ports + dst[f]]
            _widen(s, sender, dst[f] >> 6, size[f])
            if s.live[row] == 0:
                s.flow[row] = f
            _widen(s, row, src[f] >> 6, size[f])
        for at in range(c.first[k], c.last[k]):
            s.bits[at] = total
            total += s.words[at]
    return total


@kernel
def _widen(s: Any, slot: int, word: int, size: float) -> None:
    if s.live[slot] == 0:
        s.word[slot] = word
    s.live[slot] += 1
    s.words[slot] = max(s.words[slot], word - s.word[slot] + 1)
    s.load[slot] += size


@kernel
def fill_bits(src: Ports, ports: int, own_bits: Any, c: Any, s: Any, slot_bits: Any) -> None:
    """Note the partners of each slot; count ports through from senders to receivers."""
    padded = 64 * (own_bits.shape[1] // 2)
    slot = np.zeros(padded, np.int64)
    for k in range(len(c)):
        for sender in range(c.first[k], c.middle[k]):
            slot[s.port[sender]] = sender
        for row in range(c.middle[k], c.last[k]):
            host = s.port[row] - padded
            s.port[row] = ports + host
            for f in range(s.flow[row], s.flow[row] + s.live[row]):
                i = src[f]
                slot_bits[s.bits[row] + (i >> 6) - s.word[row]] |= ONE << np.uint64(i & 63)
                sender = slot[i]
                at = s.bits[sender] + (host >> 6) - s.word[sender]
                slot_bits[at] |= ONE << np.uint64(host & 63)
