"""Sizes as CoflowSim sees them: whole megabytes, spread evenly over the mappers.

Each reducer record is cut to whole bytes and rounded up to a whole MB, records in one rack are
added, and the sum is rounded up to a multiple of m MB, m being the number of distinct mapper
racks. Flows of a reducer without bytes still carry one MB each: the reducer is complete at its
first move, its flows go on. A trace that has no mapper and reducer records keeps its flows, each
rounded up in the same way: on meshes of whole MB both give the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from core.trace import Floats, Ints, Ports, Trace

MB = 1048576.0
"""Bytes of a CoflowSim megabyte: what a link carries in one quantum."""


@dataclass(frozen=True, eq=False)
class RoundedDemand:
    """Flows grouped by reducer, reducers grouped by coflow; sizes in bytes.

    Hosts are those in use, counted through: `ports` is their number, `src` and `rack` are below
    it, so that arrays by port do not grow with the hosts that no flow uses.

    Reducers of coflow k are ``first_reducer[k]:first_reducer[k + 1]``; flows of reducer r are
    ``first_flow[r]:first_flow[r + 1]``, ascending by sender. `moved_bytes` (F,) differs from
    `flow_bytes` for reducers without bytes. `tally_bytes` (R,) is the reducer before the rounding
    to a multiple of m MB.
    """

    ports: int
    first_reducer: Ints
    first_flow: Ints
    src: Ports
    rack: Ports
    flow_bytes: Floats
    moved_bytes: Floats
    reducer_bytes: Floats
    tally_bytes: Floats
    senders: Ints
    receivers: Ints

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __len__(self) -> int:
        return len(self.first_reducer) - 1

    @cached_property
    def flows(self) -> Ints:
        """Flows per coflow, shape (n,)."""
        return np.diff(self.first_flow[self.first_reducer]).astype(np.int64)

    @cached_property
    def length_bytes(self) -> Floats:
        """Largest flow per coflow [B], shape (n,)."""
        first = self.first_flow[self.first_reducer[:-1]]
        return np.maximum.reduceat(self.flow_bytes, first)

    @cached_property
    def size_bytes(self) -> Floats:
        """Total per coflow [B], shape (n,)."""
        return np.add.reduceat(self.reducer_bytes, self.first_reducer[:-1])

    @cached_property
    def gamma_bytes(self) -> Floats:
        """α: bytes at the busiest port of each coflow [B], shape (n,)."""
        coflow = np.repeat(np.arange(len(self)), self.flows)
        cell, index = np.unique(coflow * self.ports + self.src, return_inverse=True)
        busiest = np.maximum.reduceat(self.reducer_bytes, self.first_reducer[:-1])
        np.maximum.at(busiest, cell // self.ports, np.bincount(index, weights=self.flow_bytes))
        return busiest


@lru_cache(maxsize=2)
def demand(trace: Trace) -> RoundedDemand:
    """Return the trace's coflows in CoflowSim's sizes; kept for the next point of the trace."""
    coflow = trace.coflow_of_flow
    starts = np.flatnonzero(np.diff(coflow * trace.ports + trace.dst, prepend=-1))
    first_flow = np.append(starts, len(trace.src)).astype(np.int64)
    owner = coflow[starts]
    receivers = np.bincount(owner, minlength=len(trace)).astype(np.int64)
    senders = trace.distinct_ports(trace.src)
    if trace.records is None:
        flow_bytes = _whole_mb(trace.size_bytes / trace.mb_bytes) * MB
        reducer_bytes = np.add.reduceat(flow_bytes, starts)
        tally = reducer_bytes
    else:
        tally_mb = _record_mb(trace, owner, trace.dst[starts])
        per_flow_mb = np.ceil(tally_mb / senders[owner])
        flow_bytes = np.repeat(per_flow_mb * MB, np.diff(first_flow))
        reducer_bytes = per_flow_mb * senders[owner] * MB
        tally = tally_mb * MB
    hosts, index = np.unique(np.concatenate((trace.src, trace.dst)), return_inverse=True)
    src, dst = np.split(index.astype(np.int32), 2)
    empty = np.repeat(reducer_bytes == 0, np.diff(first_flow))
    return RoundedDemand(
        ports=len(hosts),
        first_reducer=np.concatenate(([0], np.cumsum(receivers))).astype(np.int64),
        first_flow=first_flow,
        src=src,
        rack=dst[starts],
        flow_bytes=flow_bytes,
        moved_bytes=np.where(empty, MB, flow_bytes),
        reducer_bytes=reducer_bytes,
        tally_bytes=tally,
        senders=senders,
        receivers=receivers,
    )


def _record_mb(trace: Trace, owner: Ints, rack: Ports) -> Floats:
    """Whole MB of each merged reducer: every record rounded up on its own, then added."""
    records = trace.records
    assert records is not None
    coflow = np.repeat(np.arange(len(trace)), np.diff(records.first_reducer))
    cell, which = np.unique(coflow * trace.ports + records.reducer, return_inverse=True)
    assert np.array_equal(cell, owner * trace.ports + rack)
    whole = _whole_mb(records.reducer_mb)
    return np.bincount(which, weights=whole).astype(np.float64, copy=False)


def _whole_mb(mb: Floats) -> Floats:
    """Cut sizes to whole bytes, then round them up to whole MB."""
    return np.ceil(np.floor(mb * MB) / MB)
