"""Smallest remaining flow first; a flow has both its ports whole or waits (pFabric's ideal).

The matching that this order gives is the one in which no waiting flow is smaller than those that
hold its two ports. It stays that way while flows shrink, so a decision only repairs it from the
ports where flows have ended or arrived.
"""

from __future__ import annotations

import numpy as np

from core.fluid.bits import rounded
from core.fluid.events import DONE, PATIENCE, STALLED, horizon
from core.fluid.pairs import Pairs, admit, end_flow, insert, is_due, next_time
from core.jit import kernel
from core.trace import Floats, Ints


@kernel
def simulate(net: Pairs) -> int:
    """Run to the end. Returns DONE or STALLED."""
    z = net.z[0]
    ports = len(net.head)
    holder = np.zeros(2 * ports, np.int64)  # flow that holds each port
    end = np.zeros(ports)  # its end, by sender
    queue = np.zeros(2 * ports, np.int64)  # ports to look at, and whether they are listed
    listed = np.zeros(2 * ports + 1, np.int64)
    first = np.zeros((2, ports, ports))  # smallest value of each pair, by receiver and by sender
    for i in range(ports):
        holder[i] = holder[ports + i] = -1
        end[i] = np.inf
        for j in range(ports):
            first[0, i, j] = first[1, i, j] = np.inf
    known = 0
    while True:
        now = np.inf
        for i in range(ports):
            now = min(now, end[i])
        now = next_time(net, now)
        if now == np.inf:
            return DONE
        z.now = now
        until = horizon(now)
        due = False
        for i in range(ports):
            if end[i] <= until:
                flow = holder[i]
                due = end_flow(net, flow, now) or due
                _release(net, flow, holder, end, queue, listed)
        due = admit(net, until) or due
        if is_due(net, due, now, until):
            if z.stalled > PATIENCE:
                return STALLED
            while known < z.admitted:
                for flow in range(net.first_flow[known], net.first_flow[known + 1]):
                    net.value[flow] = rounded(net.left[flow])
                    insert(net, flow)
                    _note_first(net, first, net.dst[flow], net.src[flow])
                    _list(queue, listed, net.src[flow])
                    _list(queue, listed, ports + net.dst[flow])
                known += 1
            _repair(net, now, holder, end, first, queue, listed)


@kernel
def _list(queue: Ints, listed: Ints, port: int) -> None:
    """Note a port to look at; the last entry of `listed` counts them."""
    if listed[port] == 0:
        listed[port] = 1
        queue[listed[-1]] = port
        listed[-1] += 1


@kernel
def _release(net: Pairs, flow: int, holder: Ints, end: Floats, queue: Ints, listed: Ints) -> None:
    i, j = net.src[flow], len(net.head) + net.dst[flow]
    holder[i] = holder[j] = -1
    end[i] = np.inf
    _list(queue, listed, i)
    _list(queue, listed, j)


@kernel
def _repair(
    net: Pairs, now: float, holder: Ints, end: Floats, first: Floats, queue: Ints, listed: Ints
) -> None:
    """Give ports to the smallest waiting flows until none is smaller than its ports' holders."""
    while listed[-1] > 0:
        port = queue[listed[-1] - 1]
        flow = _best(net, now, port, holder, end, first)
        if flow < 0:
            listed[-1] -= 1
            listed[port] = 0
            continue
        i, j = net.src[flow], len(net.head) + net.dst[flow]
        net.head[net.dst[flow], i] = net.following[flow]
        _note_first(net, first, net.dst[flow], i)
        for taken in (i, j):
            loser = holder[taken]
            if loser >= 0:
                net.left[loser] = _left(net, now, loser, end)
                net.value[loser] = rounded(net.left[loser])
                _release(net, loser, holder, end, queue, listed)
                insert(net, loser)
                _note_first(net, first, net.dst[loser], net.src[loser])
        rate = min(net.capacity[i], net.capacity[j])
        holder[i] = holder[j] = flow
        end[i] = now + net.left[flow] / rate


@kernel
def _left(net: Pairs, now: float, flow: int, end: Floats) -> float:
    """Remaining bytes of a flow that holds its ports."""
    i, j = net.src[flow], len(net.head) + net.dst[flow]
    return (end[i] - now) * min(net.capacity[i], net.capacity[j])


@kernel
def _note_first(net: Pairs, first: Floats, j: int, i: int) -> None:
    """Note the value of the first flow that waits for a pair, ∞ if none does."""
    flow = net.head[j, i]
    first[0, j, i] = first[1, i, j] = net.value[flow] if flow >= 0 else np.inf


@kernel
def _best(net: Pairs, now: float, port: int, holder: Ints, end: Floats, first: Floats) -> int:
    """Smallest waiting flow at a port that is smaller than the holders of both its ports."""
    ports = len(net.head)
    best = holder[port]
    least = np.inf if best < 0 else rounded(_left(net, now, best, end))
    found = -1
    side, own, across = (1, port, ports) if port < ports else (0, port - ports, 0)
    for other in range(ports):
        value = first[side, own, other]
        if value > least or value == np.inf:
            continue
        flow = net.head[other, own] if side == 1 else net.head[own, other]
        if (value < least or flow < best) and _yields(net, now, holder[across + other], end, flow):
            found = best = flow
            least = value
    return found


@kernel
def _yields(net: Pairs, now: float, rival: int, end: Floats, flow: int) -> bool:
    """Whether the holder of a port, −1 if it is free, comes after a waiting flow."""
    if rival < 0:
        return True
    value = net.value[flow]
    theirs = _left(net, now, rival, end)
    if abs(theirs - value) > 1e-8 * value:
        return bool(theirs > value)
    theirs = rounded(theirs)
    return bool(theirs > value or (theirs == value and rival > flow))
