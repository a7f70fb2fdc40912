"""Smallest remaining flow first; a flow has both its ports whole or waits (pFabric's ideal).

The matching that this order gives is the one in which no waiting flow is smaller than those that
hold its two ports. It stays that way while flows shrink, so a decision only repairs it from the
ports where flows have ended or arrived.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.fluid.kernels.clock import DECIDE, DONE, PATIENCE, STALLED, horizon
from core.fluid.kernels.flow_state import Pairs, admit, end_flow, insert, is_due, next_time
from core.jit import inlined, kernel
from core.trace import Floats, Ints


class Hold(NamedTuple):
    """Flows that hold the ports, and ports that look for a flow; senders are counted first."""

    holder: Ints
    """Flow that holds each port, −1 if it is free, shape (2P,)."""
    end: Floats
    """End of the flow that holds each port, ∞ if it is free, shape (2P,) [s]."""
    rate: Floats
    """Rate of that flow, shape (2P,) [B/s]."""
    first: Floats
    """Smallest value that waits for each pair, by receiver and by sender, shape (2, P, P)."""
    queue: Ints
    """Ports that look for a flow; the last entry counts them, shape (2P + 1,)."""
    listed: Ints
    """1 for the ports in `queue`, 2 for those that have lost their flow to a smaller one; (2P,)."""
    grain: float
    """Remaining bytes are compared in multiples of this: what a port moves in 1 ns [B]."""
    wanted: Ints
    """Best flow that each of those can get, −1 if there is none, shape (2P,)."""


def new_hold(capacity: Floats) -> Hold:
    """All ports are free."""
    ports = len(capacity) // 2
    return Hold(
        holder=np.full(2 * ports, -1),
        end=np.full(2 * ports, np.inf),
        rate=np.ones(2 * ports),
        first=np.full((2, ports, ports), np.inf),
        queue=np.zeros(2 * ports + 1, np.int64),
        listed=np.zeros(2 * ports, np.int64),
        grain=1e-9 * float(capacity.min()),
        wanted=np.zeros(2 * ports, np.int64),
    )


@kernel
def simulate(net: Pairs, hold: Hold, pause: bool) -> int:
    """Run to the end, or to the next decision; return DECIDE at a pause, DONE or STALLED."""
    clock = net.clock[0]
    ports = len(net.head)
    while True:
        now = np.inf
        for i in range(ports):
            now = min(now, hold.end[i])
        now = next_time(net, now)
        if now == np.inf:
            return DONE
        clock.now = now
        until = horizon(now)
        due = False
        for i in range(ports):
            if hold.end[i] <= until:
                flow = hold.holder[i]
                due = end_flow(net, flow, now) or due
                _release(net, hold, flow)
        due = admit(net, until) or due
        if is_due(net, due, now, until):
            if clock.stalled > PATIENCE:
                return STALLED
            while clock.listed < clock.admitted:
                for flow in range(net.first_flow[clock.listed], net.first_flow[clock.listed + 1]):
                    _wait(net, hold, flow, net.left[flow])
                    _list(hold, net.src[flow])
                    _list(hold, ports + net.dst[flow])
                clock.listed += 1
            _repair(net, hold, now)
            if pause:
                return DECIDE


@inlined
def _list(hold: Hold, port: int) -> None:
    """Note a port that looks for a flow."""
    if hold.listed[port] == 0:
        hold.listed[port] = 1
        hold.queue[hold.queue[-1]] = port
        hold.queue[-1] += 1


@inlined
def _wait(net: Pairs, hold: Hold, flow: int, left: float) -> None:
    """Put a flow into its pair's list."""
    net.left[flow] = left
    net.value[flow] = np.rint(left / hold.grain)
    insert(net, flow)
    _note_first(net, hold, net.dst[flow], net.src[flow])


@inlined
def _note_first(net: Pairs, hold: Hold, j: int, i: int) -> None:
    flow = net.head[j, i]
    hold.first[0, j, i] = hold.first[1, i, j] = net.value[flow] if flow >= 0 else np.inf


@inlined
def _release(net: Pairs, hold: Hold, flow: int) -> None:
    """Take a flow off its ports; both look for another."""
    i, j = net.src[flow], len(net.head) + net.dst[flow]
    hold.holder[i] = hold.holder[j] = -1
    hold.end[i] = hold.end[j] = np.inf
    _list(hold, i)
    _list(hold, j)


@inlined
def _repair(net: Pairs, hold: Hold, now: float) -> None:
    """Give ports to waiting flows until none is smaller than the holders of both its ports.

    The smallest flow that any port looking can get comes first, so that what is given is kept.
    """
    looked = 0  # ports of the queue up to here know what they can get
    while True:
        while looked < hold.queue[-1]:
            port = hold.queue[looked]
            hold.wanted[port] = _best(net, hold, now, port)
            looked += 1
        at = _smallest(net, hold)
        if at < 0:
            break
        port = hold.queue[at]
        flow = hold.wanted[port]
        if _can_get(net, hold, now, flow):
            i, j = net.src[flow], len(net.head) + net.dst[flow]
            losers = hold.holder[i], hold.holder[j]
            _give(net, hold, now, flow)
            for loser in losers:
                if loser >= 0:
                    for other in (net.src[loser], len(net.head) + net.dst[loser]):
                        hold.listed[other] = 2
                        hold.wanted[other] = _best(net, hold, now, other)
            hold.wanted[i] = hold.wanted[j] = -1
        else:
            hold.wanted[port] = _best(net, hold, now, port)
    for at in range(hold.queue[-1]):
        hold.listed[hold.queue[at]] = 0
    hold.queue[-1] = 0


@inlined
def _smallest(net: Pairs, hold: Hold) -> int:
    """Index in the queue of the port that can get the smallest flow, −1 if none can get any."""
    index, best = -1, -1
    for at in range(hold.queue[-1]):
        flow = hold.wanted[hold.queue[at]]
        if flow >= 0 and (
            best < 0
            or net.value[flow] < net.value[best]
            or (net.value[flow] == net.value[best] and flow < best)
        ):
            index, best = at, flow
    return index


@inlined
def _give(net: Pairs, hold: Hold, now: float, flow: int) -> None:
    """Give a waiting flow, the first of its pair, its ports; who held them waits."""
    i, j = net.src[flow], len(net.head) + net.dst[flow]
    net.head[net.dst[flow], i] = net.following[flow]
    _note_first(net, hold, net.dst[flow], i)
    for side in range(2):
        loser = hold.holder[i if side == 0 else j]
        if loser >= 0:
            left = (hold.end[net.src[loser]] - now) * hold.rate[net.src[loser]]
            _release(net, hold, loser)
            _wait(net, hold, loser, left)
    hold.holder[i] = hold.holder[j] = flow
    hold.rate[i] = hold.rate[j] = min(net.capacity[i], net.capacity[j])
    hold.end[i] = hold.end[j] = now + net.left[flow] / hold.rate[i]


@inlined
def _value(hold: Hold, now: float, port: int) -> float:
    """Value of the flow that holds a port, ∞ if it is free."""
    return float(np.rint((hold.end[port] - now) * hold.rate[port] / hold.grain))


@inlined
def _yields(hold: Hold, now: float, port: int, value: float, flow: int) -> bool:
    """Whether a port is free or its holder comes after a waiting flow."""
    theirs = _value(hold, now, port)
    return bool(theirs > value or (theirs == value and hold.holder[port] > flow))


@inlined
def _can_get(net: Pairs, hold: Hold, now: float, flow: int) -> bool:
    """Whether a waiting flow is the first of its pair and smaller than both holders."""
    i, j = net.src[flow], net.dst[flow]
    value = net.value[flow]
    return bool(
        net.head[j, i] == flow
        and _yields(hold, now, i, value, flow)
        and _yields(hold, now, len(net.head) + j, value, flow)
    )


@inlined
def _best(net: Pairs, hold: Hold, now: float, port: int) -> int:
    """Smallest waiting flow at a port that is smaller than the holders of both its ports."""
    ports = len(net.head)
    best = hold.holder[port]
    least = np.inf if best < 0 else _value(hold, now, port)
    choice = -1
    side, host, across = (1, port, ports) if port < ports else (0, port - ports, 0)
    for other in range(ports):
        value = hold.first[side, host, other]
        if value > least or value == np.inf or _value(hold, now, across + other) < value:
            continue
        flow = net.head[other, host] if side == 1 else net.head[host, other]
        if side == 1 and hold.listed[port] == 1 and hold.listed[across + other] == 1:
            continue  # the receiver looks, too
        if (value < least or flow < best) and _yields(hold, now, across + other, value, flow):
            choice = best = flow
            least = value
    return choice
