"""Coflows in a total order, each with the rates that let all its flows end together (MADD).

Under MADD all flows of a coflow shrink by one factor, so the remaining bytes are kept as
`scale` · `left` and a decision touches ports, never flows; only the few flows that the backfill
serves change on their own.
"""

from __future__ import annotations

import numpy as np

from core.fluid.backfill import backfill
from core.fluid.bits import free_all, rounded, take, within
from core.fluid.events import DECIDE, TINY, advance, compact, spend_grants
from core.fluid.state import Net
from core.jit import kernel
from core.trace import Floats

GIVEN, LENGTH, SIZE, GAMMA = 0, 1, 2, 3
"""Keys: as handed over, or recomputed from the remaining bytes at each decision."""


@kernel
def simulate(net: Net, code: int, key: Floats) -> int:
    """Run to the end; coflows with the smallest key come first. Returns DONE or STALLED."""
    while True:
        state = advance(net, False)
        if state != DECIDE:
            return state
        settle_all(net)
        decide(net, code, key)


@kernel
def settle_all(net: Net) -> None:
    """Bring the remaining bytes of all active coflows up to date."""
    dt = net.z.now[0] - net.z.decided[0]
    for i in range(net.z.active[0]):
        k = net.order[i]
        if net.c.gamma[k] < np.inf:
            net.c.scale[k] = max(net.c.scale[k] * (1.0 - dt / net.c.gamma[k]), TINY)
    spend_grants(net, net.z.now[0])
    for i in range(net.z.active[0]):
        if net.c.dirty[net.order[i]] == 1:
            compact(net, net.order[i])


@kernel
def decide(net: Net, code: int, key: Floats) -> None:
    """Order the active coflows and give them their rates."""
    z = net.z
    z.decided[0] = z.now[0]
    z.events[0] += 1
    if code != GIVEN:
        for i in range(z.active[0]):
            key[net.order[i]] = rounded(remaining(net, net.order[i], code))
    sort(net, key)
    free_all(net, 1.0)
    for i in range(z.active[0]):
        _madd(net, net.order[i])
    if z.backfill[0] == 1:
        backfill(net)
        for i in range(z.grants[0]):
            k = net.g.coflow[i]
            left = net.left[net.g.flow[i]] * net.c.scale[k]
            net.g.end[i] = z.now[0] + left / (left / net.c.gamma[k] + net.g.rate[i])


@kernel
def remaining(net: Net, k: int, code: int) -> float:
    """Longest flow [B], all flows [B] or Γ [s] of what is left of a coflow."""
    value = 0.0
    if code == GAMMA:
        for slot in range(net.c.first[k], net.c.last[k]):
            value = max(value, net.s.load[slot] / net.p.capacity[net.s.port[slot]])
    elif code == SIZE:
        for row in range(net.c.middle[k], net.c.last[k]):
            value += net.s.load[row]
    else:
        for row in range(net.c.middle[k], net.c.last[k]):
            first = net.s.flow[row]
            for f in range(first, first + net.s.live[row]):
                value = max(value, net.left[f])
    return value * net.c.scale[k]


@kernel
def sort(net: Net, key: Floats) -> None:
    """Sort the active coflows by key; those with equal keys by their place in the trace."""
    order = net.order
    for i in range(1, net.z.active[0]):
        k = order[i]
        at = i
        while at > 0 and (
            key[k] < key[order[at - 1]] or (key[k] == key[order[at - 1]] and k < order[at - 1])
        ):
            order[at] = order[at - 1]
            at -= 1
        order[at] = k


@kernel
def _madd(net: Net, k: int) -> None:
    net.c.gamma[k] = np.inf
    net.c.end[k] = np.inf
    if not within(net.port_bits[k], net.free_bits):
        return
    busiest = 0.0
    for slot in range(net.c.first[k], net.c.last[k]):
        if net.s.live[slot] > 0:
            busiest = max(busiest, net.s.load[slot] / net.p.free[net.s.port[slot]])
    for slot in range(net.c.first[k], net.c.last[k]):
        if net.s.live[slot] > 0:
            take(net, net.s.port[slot], net.s.load[slot] / busiest)
    net.c.gamma[k] = busiest * net.c.scale[k]
    net.c.end[k] = net.z.now[0] + net.c.gamma[k]
