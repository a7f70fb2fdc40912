"""The arrays of one run of the coflow-level kernels, and how they are laid out.

Sets of ports are bits of 64-bit words, W words a side, so ports are counted through with gaps:
host i sends through port i and receives through port 64 W + i. A coflow owns a run of *slots*, one
a port that it uses, senders first; the slot of a receiver is a *row* of flows that lie together,
by sender.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.fluid.demand import Demand
from core.trace import Floats, Ints, Ports

Words = npt.NDArray[np.uint64]

COFLOW = np.dtype(
    [
        ("arrival", np.float64),  # [s]
        ("finish", np.float64),  # [s], −1 while unfinished
        ("first", np.int64),  # its slots are first … last − 1
        ("middle", np.int64),  # the first row
        ("last", np.int64),
        ("live", np.int64),  # live flows
        ("moving", np.int64),  # shares: 0 if it stands still, apart from backfill; else a count
        ("scale", np.float64),  # MADD: remaining bytes = scale · `left`
        ("gamma", np.float64),  # MADD: time to the end under the standing rates [s]
        ("end", np.float64),  # next end of a flow, backfill apart [s]
        ("sent", np.float64),  # attained bytes at `since`
        ("since", np.float64),  # [s]
        ("speed", np.float64),  # total rate [B/s]
        ("queue", np.int64),
        ("limit", np.float64),  # attained bytes at which it leaves its queue
        ("leave", np.float64),  # when that will be [s]
        ("weight", np.float64),  # metric = attained bytes / weight
    ]
)
SLOT = np.dtype(
    [
        ("port", np.int32),
        ("live", np.int32),  # live flows
        ("load", np.float64),  # MADD: sum of `left` at the port
        ("summed", np.float64),  # MADD: what it was when it was last added up afresh
        ("seen", np.float64),  # shares: what was free when the rates were last computed [B/s]
        ("share", np.float64),  # shares: bound on the rate of each flow [B/s]
        ("used", np.float64),  # shares: what the coflow uses of the port [B/s]
        ("count", np.int32),  # shares: live flows with both ports free, −1 if unknown
    ]
)
ROW = np.dtype(
    [
        ("bits", np.int64),  # where the words of its partners start, how many they are,
        ("words", np.int32),
        ("word", np.int32),  # … and which word of all ports the first one is
        ("flow", np.int64),  # rows: first flow
        ("width", np.int32),  # rows: flows that lie in it
        ("stale", np.int32),  # rows: 1 if `most` has to be looked up
        ("most", np.float64),  # rows, MADD: largest `left`
        ("since", np.float64),  # rows, shares: `left` holds at this time [s]
        ("end", np.float64),  # rows, shares: next end of a flow, backfill apart [s]
    ]
)
FILLING = np.dtype(
    [
        ("level", np.float64),  # rate at which the port is full [B/s]
        ("left", np.float64),  # [B/s]
        ("count", np.int64),  # flows whose rate is open
    ]
)
GRANT = np.dtype(
    [
        ("flow", np.int64),
        ("row", np.int64),
        ("sender", np.int64),  # its slot
        ("coflow", np.int64),
        ("rate", np.float64),  # [B/s]
        ("end", np.float64),  # of the flow [s], ∞ once it has ended
        ("last", np.float64),  # its `left` when it was granted
    ]
)
CLOCK = np.dtype(
    [
        ("now", np.float64),  # [s]
        ("decided", np.float64),  # time of the last decision [s]
        ("tick", np.float64),  # time of the next decision, ∞ if none is due [s]
        ("interval", np.float64),  # Δ [s]
        ("soonest", np.float64),  # first end of a grant [s]
        ("per_flow", np.int64),  # 1: ends of flows trigger decisions
        ("backfill", np.int64),
        ("pending", np.int64),  # 1: everything is up to date for a decision
        ("admitted", np.int64),
        ("listed", np.int64),  # flow-level kernels: coflows whose flows are in the lists
        ("active", np.int64),
        ("grant_count", np.int64),  # grants that stand
        ("events", np.int64),
        ("stalled", np.int64),  # decisions in a row at one instant
    ]
)


ALL, LIVE, OPEN = 0, 1, 2
EVERY, FREE = 0, 1
BEFORE, SHARE, INVERSE, USED = 0, 1, 2, 3


class FluidState(NamedTuple):
    """Everything that the kernels share: records, then the arrays of all flows and bits."""

    coflow: Any
    """Coflows, `COFLOW`, shape (n,)."""
    slot: Any
    """Slots, `SLOT`: what is looked at again and again."""
    row: Any
    """Slots, `ROW`: the rest."""
    port: Any
    """Scratch of max-min by port, `FILLING`, shape (128 W,)."""
    grant: Any
    """Grants of the backfill, `GRANT`; each fills a port, so there are at most 2P."""
    clock: Any
    """Clock and switches, `CLOCK`, shape (1,)."""
    order: Ints
    """Active coflows, first served first, shape (n,)."""
    peer: Ports
    """Sender of each flow: its slot, counted from its coflow's first one, shape (F,)."""
    left: Floats
    """Remaining bytes; 0 once the flow has ended, shape (F,)."""
    capacity: Floats
    """Of each port, shape (128 W,) [B/s]."""
    free: Floats
    """What nobody uses of each port, shape (128 W,) [B/s]."""
    scratch: Floats
    """One coflow by sender, shape (4, P): share `BEFORE` and `SHARE` now, `INVERSE`, `USED`."""
    slot_bits: Words
    """Partners of each slot, receivers of a sender, senders of a row: `ALL` that have a flow in the
    row, and those of them that are `LIVE`; shape (…, 2)."""
    port_bits: Words
    """Ports of each coflow, shape (n, 3, 2W): `ALL`, ended flows included; `LIVE`, with live
    flows; `OPEN`, those of them that were free when last looked at."""
    free_bits: Words
    """Ports that have something `FREE`, and `EVERY` port; shape (2, 2W)."""


def new_fluid_state(d: Demand) -> FluidState:
    """Lay out the state before the first arrival."""
    n, words = len(d), (d.ports + 63) // 64
    slots = d.slots
    c = _records(COFLOW, n)
    c.arrival[:], c.finish[:], c.scale[:] = d.arrival_s, -1.0, 1.0
    c.first[:], c.middle[:], c.last[:] = slots.first, slots.middle, slots.last
    c.live[:] = np.diff(d.first_flow)
    for name in ("end", "gamma", "leave", "limit"):
        c[name][:] = np.inf
    s = _records(SLOT, len(slots.port))
    port = np.where(slots.port < d.ports, slots.port, slots.port + 64 * words - d.ports)
    s.port[:] = port
    s.load[:] = s.summed[:] = slots.load
    s.live[:] = np.bincount(slots.of_sender, minlength=len(s))
    s.live[:] += np.bincount(slots.of_receiver, minlength=len(s))
    clock = _records(CLOCK, 1)
    clock.tick[0] = clock.soonest[0] = np.inf
    r, slot_bits = _partners(d, port)
    capacity = np.zeros(128 * words)
    capacity[: d.ports], capacity[64 * words :][: d.ports] = np.split(d.capacity, 2)
    used_ports = np.zeros((n, 2 * words), np.uint64)
    np.add.at(used_ports.reshape(-1), slots.coflow * 2 * words + (port >> 6), _bit(port))
    free_bits = np.zeros((2, 2 * words), np.uint64)
    every = np.flatnonzero(capacity)
    np.add.at(free_bits[EVERY], every >> 6, _bit(every))
    return FluidState(
        coflow=c,
        slot=s,
        row=r,
        port=_records(FILLING, 128 * words),
        grant=_records(GRANT, 2 * d.ports),
        clock=clock,
        order=np.zeros(n, np.int64),
        peer=(slots.of_sender - slots.first[d.coflow]).astype(np.int32),
        left=d.size_bytes.copy(),
        capacity=capacity,
        free=np.zeros(128 * words),
        scratch=np.zeros((4, d.ports)),
        slot_bits=slot_bits,
        port_bits=np.stack((used_ports, used_ports, np.zeros_like(used_ports)), axis=1),
        free_bits=free_bits,
    )


def _partners(d: Demand, port: Ints) -> tuple[Any, Words]:
    """Lay out the bits of each slot's partners; its words reach from the first to the last one."""
    senders, rows = d.slots.of_sender, d.slots.of_receiver
    r = _records(ROW, len(port))
    r.end[:], r.stale[:] = np.inf, 1
    low, high = np.full(len(port), 2**20), np.zeros(len(port), np.int64)
    for slot, other in ((senders, port[rows]), (rows, port[senders])):
        np.minimum.at(low, slot, other >> 6)
        np.maximum.at(high, slot, other >> 6)
    words = high - low + 1
    start = np.cumsum(words) - words
    r.bits[:], r.word[:], r.words[:] = start, low, words
    bits = np.zeros(int(words.sum()), np.uint64)
    for slot, other in ((senders, port[rows]), (rows, port[senders])):
        np.add.at(bits, (start - low)[slot] + (other >> 6), _bit(other))
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    r.flow[rows[first]] = first
    r.width[:] = np.bincount(rows, minlength=len(port))
    return r, np.stack((bits, bits), axis=1)


def _bit(port: Ints) -> Words:
    return np.left_shift(np.uint64(1), (port & 63).astype(np.uint64))


def _records(kind: np.dtype[Any], n: int) -> Any:
    return np.zeros(n, kind).view(np.recarray)
