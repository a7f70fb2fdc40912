"""Coflows in a total order, each with the rates that let all its flows end together (MADD).

Under MADD all flows of a coflow shrink by one factor, so the remaining bytes are kept as
`scale` · `left` and a decision touches ports, never flows; only the few flows that the backfill
serves change on their own.
"""

from __future__ import annotations

import numpy as np

from core.fluid.backfill import backfill
from core.fluid.bits import all_free, free_all, rounded, take
from core.fluid.events import DECIDE, TINY, advance, compact, spend_grants
from core.fluid.state import Net
from core.jit import inner, kernel
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
    z = net.z[0]
    dt = z.now - z.decided
    for i in range(z.active):
        k = net.order[i]
        if net.c[k].gamma < np.inf:
            net.c[k].scale = max(net.c[k].scale * (1.0 - dt / net.c[k].gamma), TINY)
    spend_grants(net, z.now)
    for i in range(z.active):
        if net.c[net.order[i]].dirty == 1:
            compact(net, net.order[i])


@kernel
def decide(net: Net, code: int, key: Floats) -> None:
    """Order the active coflows and give them their rates."""
    z = net.z[0]
    z.decided = z.now
    z.events += 1
    if code != GIVEN:
        for i in range(z.active):
            key[net.order[i]] = rounded(remaining(net, net.order[i], code))
    sort(net, key)
    free_all(net, 1.0)
    for i in range(z.active):
        _madd(net, net.order[i])
    if z.backfill == 1:
        backfill(net)
        for i in range(z.grants):
            k = net.g[i].coflow
            left = net.left[net.g[i].flow] * net.c[k].scale
            net.g[i].end = z.now + left / (left / net.c[k].gamma + net.g[i].rate)
        if z.per_flow == 0:
            _end_by_grants(net)


@inner
def _end_by_grants(net: Net) -> None:
    """Find the ends of coflows all of whose flows are served by the backfill.

    With this, ends of flows need no events of their own where they trigger nothing.
    """
    z = net.z[0]
    low = 0
    while low < z.grants:
        k, last, high = net.g[low].coflow, 0.0, low  # the grants of a coflow lie together
        while high < z.grants and net.g[high].coflow == k:
            last = max(last, net.g[high].end)
            high += 1
        if high - low == net.c[k].live:
            net.c[k].end = min(net.c[k].end, last)
        low = high


@kernel
def remaining(net: Net, k: int, code: int) -> float:
    """Longest flow [B], all flows [B] or Γ [s] of what is left of a coflow."""
    c = net.c[k]
    value = 0.0
    if code == GAMMA:
        for slot in range(c.first, c.last):
            value = max(value, net.s[slot].load / net.p[net.s[slot].port].capacity)
    elif code == SIZE:
        for row in range(c.middle, c.last):
            value += net.s[row].load
    else:
        for row in range(c.middle, c.last):
            first = net.s[row].flow
            for f in range(first, first + net.s[row].live):
                value = max(value, net.left[f])
    return float(value * c.scale)


@inner
def sort(net: Net, key: Floats) -> None:
    """Sort the active coflows by key; those with equal keys by their place in the trace."""
    z = net.z[0]
    order = net.order
    for i in range(1, z.active):
        k = order[i]
        at = i
        while at > 0 and (
            key[k] < key[order[at - 1]] or (key[k] == key[order[at - 1]] and k < order[at - 1])
        ):
            order[at] = order[at - 1]
            at -= 1
        order[at] = k


@inner
def _madd(net: Net, k: int) -> None:
    z = net.z[0]
    c = net.c[k]
    c.gamma = np.inf
    c.end = np.inf
    if not all_free(net, k):
        return
    busiest = 0.0
    for slot in range(c.first, c.last):
        if net.s[slot].live > 0:
            busiest = max(busiest, net.s[slot].load / net.p[net.s[slot].port].free)
    for slot in range(c.first, c.last):
        if net.s[slot].live > 0:
            take(net, net.s[slot].port, net.s[slot].load / busiest)
    c.gamma = busiest * c.scale
    c.end = z.now + c.gamma
