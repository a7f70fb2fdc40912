"""The arrays of one run of the coflow-level kernels, and how they are laid out.

Ports are counted through: host i sends through port i and receives through port P + i. A coflow
owns a run of *slots*, one a port that it uses, senders first; the slot of a receiver is a *row* of
flows that lie together, by sender. Flows that have ended leave their row at the next decision, so
the first `live` flows of a row are the live ones. Sets of ports are bits of 64-bit words.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.fluid.layout import count_slots, fill_bits, fill_slots, gammas
from core.trace import Floats, Ints, Ports, Trace

Words = npt.NDArray[np.uint64]

COFLOW = np.dtype(
    [
        ("arrival", np.float64),  # [s]
        ("finish", np.float64),  # [s], −1 while unfinished
        ("first", np.int64),  # its slots are first … last − 1
        ("middle", np.int64),  # the first row
        ("last", np.int64),
        ("live", np.int64),  # live flows
        ("dirty", np.int64),  # 1: flows have ended since its rows were compacted
        ("moving", np.int64),  # 0: stands still, apart from backfill; else counts corrections
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
        ("dirty", np.int32),  # 1: some of its flows have ended since it was compacted
        ("count", np.int32),  # shares: live flows with both ports free, −1 if unknown
        ("bits", np.int64),  # where its words of live partners start, how many they are,
        ("words", np.int32),
        ("word", np.int32),  # … and which word of all hosts the first one is
        ("load", np.float64),  # MADD: sum of `left` at the port
        ("seen", np.float64),  # shares: what was free when the rates were last computed [B/s]
        ("share", np.float64),  # shares: bound on the rate of each flow [B/s]
        ("used", np.float64),  # shares: what the coflow uses of the port [B/s]
        ("flow", np.int64),  # rows: first flow
        ("since", np.float64),  # rows: `left` holds at this time [s]
        ("end", np.float64),  # rows: next end of a flow, backfill apart [s]
    ]
)
PORT = np.dtype(
    [
        ("capacity", np.float64),  # [B/s]
        ("free", np.float64),  # [B/s]
        ("level", np.float64),  # scratch of max-min: rate at which the port is full [B/s]
        ("left", np.float64),  # scratch of max-min [B/s]
        ("count", np.int64),  # scratch of max-min: flows whose rate is open
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
    ]
)
CLOCK = np.dtype(
    [
        ("now", np.float64),  # [s]
        ("decided", np.float64),  # time of the last decision [s]
        ("tick", np.float64),  # time of the next decision, ∞ if none is due [s]
        ("interval", np.float64),  # Δ [s]
        ("per_flow", np.int64),  # 1: ends of flows trigger decisions
        ("backfill", np.int64),
        ("admitted", np.int64),
        ("active", np.int64),
        ("grants", np.int64),
        ("events", np.int64),
        ("stalled", np.int64),  # decisions in a row at one instant
    ]
)


ALL, LIVE, OPEN = 0, 1, 2


class Net(NamedTuple):
    """Everything that the kernels share: records, then the arrays of all flows and bits."""

    c: Any
    """Coflows, `COFLOW`, shape (n,)."""
    s: Any
    """Slots, `SLOT`."""
    p: Any
    """Ports, `PORT`, shape (2P,)."""
    g: Any
    """Grants of the backfill, `GRANT`; each fills a port, so there are at most 2P."""
    z: Any
    """Clock and switches, `CLOCK`, shape (1,)."""
    order: Ints
    """Active coflows, first served first, shape (n,)."""
    peer: Ports
    """Sender of each flow, shape (F,)."""
    left: Floats
    """Remaining bytes; 0 once the flow has ended, shape (F,)."""
    rate: Floats
    """Rates apart from backfill, shape (F,) with shares, unused with MADD [B/s]."""
    sender: Floats
    """Scratch for one coflow, shape (P, 3): its share at each sender, 1/share, what it uses."""
    slot_bits: Words
    """Live partners of each slot: receivers of a sender, senders of a row."""
    port_bits: Words
    """Ports of each coflow, shape (n, 3, 2W), senders, then receivers: `ALL`, ended flows
    included; `LIVE`, with live flows; `OPEN`, those of them that were free when last looked at."""
    free_bits: Words
    """Ports that have something free, shape (2W,)."""


@dataclass(frozen=True, eq=False)
class Demand:
    """A trace as the fabric carries it: flows without bytes, or free ones, are left out."""

    ports: int
    arrival_s: Floats
    coflow_id: Ints
    first_flow: Ints
    src: Ports
    dst: Ports
    size_bytes: Floats
    capacity: Floats
    trace: Trace

    def __len__(self) -> int:
        return len(self.arrival_s)

    @cached_property
    def coflow(self) -> Ints:
        """Coflow of each flow, shape (F,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first_flow))

    @cached_property
    def total_bytes(self) -> Floats:
        """Size of each coflow [B], shape (n,)."""
        return np.bincount(self.coflow, self.size_bytes, len(self)).astype(np.float64)

    @cached_property
    def length_bytes(self) -> Floats:
        """Largest flow of each coflow [B], shape (n,)."""
        longest = np.zeros(len(self))
        np.maximum.at(longest, self.coflow, self.size_bytes)
        return longest

    @cached_property
    def gamma_s(self) -> Floats:
        """Γ of each coflow alone [s], shape (n,)."""
        return gammas(self.first_flow, self.src, self.dst, self.size_bytes, self.capacity)


def demand(trace: Trace, capacity: Floats, local_is_free: bool) -> Demand:
    """Leave out what needs no port; `capacity` has shape (2P,) [B/s]."""
    kept = trace.size_bytes > 0
    if local_is_free:
        kept &= trace.src != trace.dst
    first = np.concatenate(([0], np.cumsum(kept)))[trace.first_flow]
    return Demand(
        ports=trace.ports,
        arrival_s=trace.arrival_s,
        coflow_id=trace.coflow_id,
        first_flow=first.astype(np.int64),
        src=trace.src[kept],
        dst=trace.dst[kept],
        size_bytes=trace.size_bytes[kept],
        capacity=capacity,
        trace=trace,
    )


def new_net(d: Demand, shares: bool) -> Net:
    """Lay out the state before the first arrival; rates are kept per flow for `shares` only."""
    n, words = len(d), (d.ports + 63) // 64
    own_bits = np.zeros((n, 2 * words), np.uint64)
    c = _records(COFLOW, n)
    slots = count_slots(d.first_flow, d.src, d.dst, own_bits, c)
    s = _records(SLOT, slots)
    size = fill_slots(d.first_flow, d.src, d.dst, d.size_bytes, own_bits, c, s)
    slot_bits = np.zeros(size, np.uint64)
    fill_bits(d.src, d.ports, own_bits, c, s, slot_bits)
    c.arrival[:] = d.arrival_s
    c.finish[:] = -1.0
    c.live[:] = np.diff(d.first_flow)
    c.scale[:] = 1.0
    for name in ("end", "gamma", "leave", "limit"):
        c[name][:] = np.inf
    s.end[:] = np.inf
    p = _records(PORT, 2 * d.ports)
    p.capacity[:] = d.capacity
    clock = _records(CLOCK, 1)
    clock.tick[0] = np.inf
    return Net(
        c=c,
        s=s,
        p=p,
        g=_records(GRANT, 2 * d.ports),
        z=clock,
        order=np.zeros(n, np.int64),
        peer=d.src.copy(),
        left=d.size_bytes.copy(),
        rate=np.zeros(len(d.src) if shares else 0),
        sender=np.zeros((d.ports, 3)),
        slot_bits=slot_bits,
        port_bits=np.stack((own_bits, own_bits, np.zeros_like(own_bits)), axis=1),
        free_bits=np.zeros(2 * words, np.uint64),
    )


def _records(kind: np.dtype[Any], n: int) -> Any:
    return np.zeros(n, kind).view(np.recarray)
