"""A trace as the fabric carries it, and the slots at which its coflows meet the ports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from core.trace import Floats, Ints, Ports, Trace


class Slots(NamedTuple):
    """One slot for each port that a coflow uses: those of a coflow together, senders first."""

    first: Ints
    """Slots of coflow k are first[k] … last[k] − 1, shape (n,)."""
    middle: Ints
    """First slot of a receiver, shape (n,)."""
    last: Ints
    coflow: Ints
    """Coflow of each slot."""
    port: Ints
    """Port of each slot, receivers counted on behind the senders."""
    of_sender: Ints
    """Slot of the sender of each flow, shape (F,)."""
    of_receiver: Ints
    load: Floats
    """Bytes at each slot."""


@dataclass(frozen=True, eq=False)
class Demand:
    """A trace as the fabric carries it: flows without bytes, or free ones, are left out.

    Attributes
    ----------
    ports : int
        Hosts in use: arrays by port do not grow with the hosts that no flow uses.
    hosts : array of int64, shape (ports,)
        Which hosts of the trace these are, ascending; `src` and `dst` are indices into it.
    flow : array of int64, shape (F,)
        Index in the trace of each flow.
    capacity : array of float64, shape (2 ports,)
        Of the hosts in use, senders first [B/s].
    fabric_bps : array of float64, shape (2P,)
        Of all hosts, senders first [B/s].
    """

    ports: int
    hosts: Ints
    flow: Ints
    arrival_s: Floats
    coflow_id: Ints
    first_flow: Ints
    src: Ports
    dst: Ports
    size_bytes: Floats
    capacity: Floats
    fabric_bps: Floats
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
        gamma = np.zeros(len(self))
        np.maximum.at(gamma, self.slots.coflow, self.slots.load / self.capacity[self.slots.port])
        return gamma

    @cached_property
    def slots(self) -> Slots:
        """Slots of all coflows."""
        n, ports = len(self), self.ports
        senders, of_sender = _distinct(self.coflow * ports + self.src, n * ports)
        receivers, of_receiver = _distinct(self.coflow * ports + self.dst, n * ports)
        sending, receiving = senders // ports, receivers // ports
        n_senders, n_receivers = (np.bincount(side, minlength=n) for side in (sending, receiving))
        last = np.cumsum(n_senders + n_receivers)
        sender_slot = np.arange(len(senders)) + (last - n_receivers - np.cumsum(n_senders))[sending]
        row = np.arange(len(receivers)) + (last - np.cumsum(n_receivers))[receiving]
        coflow, port = np.zeros((2, len(senders) + len(receivers)), np.int64)
        coflow[sender_slot], coflow[row] = sending, receiving
        port[sender_slot], port[row] = senders % ports, ports + receivers % ports
        of_sender, of_receiver = sender_slot[of_sender], row[of_receiver]
        load = np.bincount(of_sender, self.size_bytes, len(port)).astype(np.float64)
        load += np.bincount(of_receiver, self.size_bytes, len(port))
        first = last - n_senders - n_receivers
        return Slots(first, last - n_receivers, last, coflow, port, of_sender, of_receiver, load)


def demand(trace: Trace, capacity: Floats, local_is_free: bool) -> Demand:
    """Leave out flows that need no port, and hosts without flows; `capacity` has shape (2P,)."""
    kept = trace.size_bytes > 0
    if local_is_free:
        kept &= trace.src != trace.dst
    first = np.concatenate(([0], np.cumsum(kept)))[trace.first_flow]
    src, dst = trace.src[kept], trace.dst[kept]
    hosts = np.unique(np.concatenate((src, dst, [0] if len(src) == 0 else []))).astype(np.int64)
    return Demand(
        ports=len(hosts),
        hosts=hosts,
        flow=np.flatnonzero(kept),
        arrival_s=trace.arrival_s,
        coflow_id=trace.coflow_id,
        first_flow=first.astype(np.int64),
        src=np.searchsorted(hosts, src).astype(np.int32),
        dst=np.searchsorted(hosts, dst).astype(np.int32),
        size_bytes=trace.size_bytes[kept],
        capacity=capacity[np.concatenate((hosts, trace.ports + hosts))],
        fabric_bps=capacity,
        trace=trace,
    )


def _distinct(cell: Ints, cells: int) -> tuple[Ints, Ints]:
    """Return the distinct values, ascending, and the index among them of each value."""
    if cells > 2**20 + 8 * len(cell):
        distinct, index = np.unique(cell, return_inverse=True)
        return distinct, index
    used = np.zeros(cells, np.bool_)
    used[cell] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[cell]
