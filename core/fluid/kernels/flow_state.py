"""The arrays of the flow-level kernels: flows by their pair of ports, coflows only for the CCT.

Flows of one pair wait in a list, smallest value first; what the value means is up to the kernel.
Pairs are cells of P × P arrays, by receiver, then sender.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.fluid.demand import Demand
from core.fluid.kernels.clock import tick_at
from core.fluid.state import CLOCK
from core.jit import inlined
from core.trace import Floats, Ints


class Pairs(NamedTuple):
    """State of one run; flows (F,), coflows (n,), pairs (P, P)."""

    clock: Any
    """Clock and switches, `CLOCK`, shape (1,)."""
    arrival: Floats
    finish: Floats
    first_flow: Ints
    live: Ints
    src: Ints
    dst: Ints
    coflow: Ints
    value: Floats
    """What the lists are sorted by, per flow."""
    left: Floats
    """Bytes of each flow, those left where a kernel says so."""
    following: Ints
    """Next flow of the pair's list, −1 at its end, per flow."""
    head: Ints
    """First flow of each pair, −1 if there is none."""
    capacity: Floats
    """Shape (2P,), senders first [B/s]."""


def new_pairs(d: Demand) -> Pairs:
    """Return the state before the first arrival."""
    clock = np.zeros(1, CLOCK).view(np.recarray)
    clock.tick[0] = np.inf
    return Pairs(
        clock=clock,
        arrival=d.arrival_s.copy(),
        finish=np.full(len(d), -1.0),
        first_flow=d.first_flow,
        live=np.diff(d.first_flow),
        src=d.src.astype(np.int64),
        dst=d.dst.astype(np.int64),
        coflow=d.coflow,
        value=d.size_bytes.copy(),
        left=d.size_bytes.copy(),
        following=np.full(len(d.src), -1),
        head=np.full((d.ports, d.ports), -1),
        capacity=d.capacity.copy(),
    )


@inlined
def insert(net: Pairs, flow: int) -> None:
    """Put a flow into its pair's list, before larger values; equal values by place in the trace."""
    j, i = net.dst[flow], net.src[flow]
    before, at = -1, net.head[j, i]
    while at >= 0 and (
        net.value[at] < net.value[flow] or (net.value[at] == net.value[flow] and at < flow)
    ):
        before, at = at, net.following[at]
    net.following[flow] = at
    if before < 0:
        net.head[j, i] = flow
    else:
        net.following[before] = flow


@inlined
def end_flow(net: Pairs, flow: int, now: float) -> bool:
    """End a flow; return whether that triggers a decision."""
    clock = net.clock[0]
    k = net.coflow[flow]
    net.live[k] -= 1
    if net.live[k] == 0:
        net.finish[k] = max(now, net.arrival[k])
        clock.active -= 1
        return True
    return bool(clock.per_flow == 1)


@inlined
def next_time(net: Pairs, now: float) -> float:
    """Time of the next event, given when the next flow ends [s]; ∞ if there is none."""
    clock = net.clock[0]
    if now == np.inf and clock.active > 0 and clock.tick == np.inf:
        # With nothing in motion nothing would ever happen again.
        clock.tick = tick_at(clock.now, clock.interval)
    if clock.admitted < len(net.arrival):
        now = min(now, net.arrival[clock.admitted])
    return float(max(min(now, clock.tick), clock.now))


@inlined
def admit(net: Pairs, until: float) -> bool:
    """Let coflows arrive; return whether any did."""
    clock = net.clock[0]
    first = clock.admitted
    k = first
    while k < len(net.arrival) and net.arrival[k] <= until:
        if net.live[k] == 0:
            net.finish[k] = net.arrival[k]
        else:
            clock.active += 1
        k += 1
    clock.admitted = k
    return bool(k > first)


@inlined
def is_due(net: Pairs, due: bool, now: float, until: float) -> bool:
    """Whether a decision takes place now, given whether something has triggered one."""
    clock = net.clock[0]
    if due and clock.tick == np.inf:
        clock.tick = tick_at(now, clock.interval)
    if clock.tick > until:
        return False
    clock.tick = np.inf
    clock.stalled = clock.stalled + 1 if now == clock.decided else 0
    clock.decided = now
    clock.events += 1
    return True
