"""Rates at a recomputation: MADD in three passes, and D-CLAS's equal split."""

from __future__ import annotations

import numpy as np

from core.coflowsim.state import LINK, ZERO, State
from core.jit import kernel
from core.trace import Floats, Ints

_BYTES_PER_QUANTUM = 2.0**-10
"""rate / 8 · (8 / 1024): powers of two, so exact."""


@kernel
def free_all(s: State) -> None:
    """Give every port its whole capacity."""
    s.free_src[:] = LINK
    s.free_dst[:] = LINK


@kernel
def stop(s: State, k: int) -> None:
    """Set every rate of coflow k to 0."""
    first, last = s.first_reducer[k], s.first_reducer[k + 1]
    s.rate[s.first_flow[first] : s.first_flow[last]] = 0.0
    s.step[s.first_flow[first] : s.first_flow[last]] = 0.0
    s.inflow[first:last] = 0.0
    s.moving[k] = 0


@kernel
def steps_from_rates(s: State, k: int) -> None:
    """Turn the rates of coflow k's live flows into bytes a quantum; frozen flows do not move."""
    s.moving[k] = 0
    for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
        total = 0.0
        for i in range(s.first_flow[r], s.first_flow[r + 1]):
            step = s.rate[i] * _BYTES_PER_QUANTUM
            if s.remaining[i] < 0 or s.done[r] == 2 or not step > 0:
                step = 0.0
            s.step[i] = step
            total += step
        s.inflow[r] = total
        if total > 0:
            s.moving[k] = 1


@kernel
def subtract_used(s: State) -> None:
    """Take what was added up in the port sums off the free capacities."""
    for p in range(len(s.free_src)):
        s.free_src[p] -= s.port_src[p]
        s.free_dst[p] -= s.port_dst[p]


@kernel
def count_eligible(s: State, k: int) -> int:
    """Add coflow k's live flows with capacity at both ends to the port sums."""
    found = 0
    for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
        d = s.rack[r]
        if s.live[r] == 0 or s.free_dst[d] <= ZERO:
            continue
        for i in range(s.first_flow[r], s.first_flow[r + 1]):
            p = s.src[i]
            if s.remaining[i] >= 0 and s.free_src[p] > ZERO:
                s.port_src[p] += 1.0
                s.port_dst[d] += 1.0
                found += 1
    return found


@kernel
def share(s: State, k: int, used_src: Floats, used_dst: Floats) -> None:
    """Give coflow k's eligible flows min(free / n) of their two ports, n from the port sums."""
    for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
        d = s.rack[r]
        if s.live[r] == 0 or s.free_dst[d] <= ZERO:
            continue
        for i in range(s.first_flow[r], s.first_flow[r + 1]):
            p = s.src[i]
            if s.remaining[i] >= 0 and s.free_src[p] > ZERO:
                rate = min(s.free_src[p] / s.port_src[p], s.free_dst[d] / s.port_dst[d])
                if rate <= ZERO:
                    rate = 0.0
                s.rate[i] = rate
                used_src[p] += rate
                used_dst[d] += rate


@kernel
def equal_split(s: State, coflows: Ints) -> bool:
    """Split what is free equally among all live flows of some coflows; False if none can move."""
    s.port_src[:] = 0.0
    s.port_dst[:] = 0.0
    found = 0
    for k in coflows:
        found += count_eligible(s, k)
    if found == 0:
        return False
    used_src, used_dst = np.zeros_like(s.free_src), np.zeros_like(s.free_dst)
    for k in coflows:
        share(s, k, used_src, used_dst)
    s.port_src[:] = used_src
    s.port_dst[:] = used_dst
    subtract_used(s)
    return True


@kernel
def dclas(s: State, order: Ints) -> None:
    """One pass over the queues: equal split coflow by coflow, no backfill."""
    free_all(s)
    for at in range(len(order)):
        k = order[at]
        if s.moving[k]:
            stop(s, k)
        if equal_split(s, order[at : at + 1]):
            steps_from_rates(s, k)


@kernel
def effective_bottleneck(s: State, k: int) -> float:
    """Online α of coflow k on what is free [s of 1024 ms]; −1 if it has to be skipped.

    Sums run over flows by reducer, then mapper. A negative rest over a negative free capacity
    counts as the positive quotient that it is.
    """
    s.port_src[:] = 0.0
    alpha = 0.0
    for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
        for i in range(s.first_flow[r], s.first_flow[r + 1]):
            if s.remaining[i] >= 0:
                s.port_src[s.src[i]] += s.remaining[i]
        left, free = s.left[r], s.free_dst[s.rack[r]]
        if left > 0 and free <= ZERO:
            return -1.0
        if free != 0:
            alpha = max(alpha, 8.0 * left / free)
    for p in range(len(s.port_src)):
        size, free = s.port_src[p], s.free_src[p]
        if size > 0 and free <= ZERO:
            return -1.0
        if free != 0:
            alpha = max(alpha, 8.0 * size / free)
    return alpha


@kernel
def madd(s: State, k: int, alpha: float) -> None:
    """Give coflow k's flows 8·remaining/α, cut to what is free; subtract at the end."""
    s.port_src[:] = 0.0
    s.port_dst[:] = 0.0
    for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
        d = s.rack[r]
        if s.free_dst[d] <= ZERO:
            continue
        for i in range(s.first_flow[r], s.first_flow[r + 1]):
            if s.remaining[i] >= 0:
                p = s.src[i]
                rate = 8.0 * s.remaining[i] / alpha
                if rate > s.free_src[p] or rate > s.free_dst[d]:
                    rate = min(s.free_src[p], s.free_dst[d])
                s.rate[i] = rate
                s.port_src[p] += rate
                s.port_dst[d] += rate
    subtract_used(s)


@kernel
def backfill(s: State, k: int) -> None:
    """Give each of coflow k's live flows in turn all that its two ports have left."""
    for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
        d = s.rack[r]
        if s.free_dst[d] <= ZERO:
            continue
        for i in range(s.first_flow[r], s.first_flow[r + 1]):
            if s.remaining[i] >= 0:
                p = s.src[i]
                extra = min(s.free_src[p], s.free_dst[d])
                if extra > ZERO:
                    s.rate[i] += extra
                    s.free_src[p] -= extra
                    s.free_dst[d] -= extra


@kernel
def madd_passes(s: State, order: Ints, slack: Floats) -> None:
    """Three passes: MADD in list order, the skipped coflows together, backfill by slack."""
    free_all(s)
    skipped = np.empty(len(order), np.int64)
    n = 0
    for k in order:
        stop(s, k)
        alpha = effective_bottleneck(s, k)
        if alpha < 0:
            skipped[n] = k
            n += 1
        elif alpha > 0:
            madd(s, k, alpha)
    equal_split(s, skipped[:n])
    for at in np.argsort(slack, kind="mergesort"):
        backfill(s, order[at])
    for k in order:
        steps_from_rates(s, k)
