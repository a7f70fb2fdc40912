"""Rates at a recomputation: MADD in three passes, and D-CLAS's equal split.

Rates are steps: bytes a quantum. CoflowSim's bits per 1024 ms are 2^10 times that, so no bit
differs.
"""

from __future__ import annotations

import numpy as np

from core.coflowsim.state import LINK, ZERO_RATE, State
from core.jit import inner
from core.trace import Floats, Ints


@inner
def free_all(s: State) -> None:
    """Give every port its whole capacity."""
    for p in range(len(s.port)):
        s.port[p].free_src = LINK
        s.port[p].free_dst = LINK


@inner
def clear_sums(s: State) -> None:
    """Set the sums of every port to 0."""
    for p in range(len(s.port)):
        s.port[p].sum_src = 0.0
        s.port[p].sum_dst = 0.0


@inner
def subtract_sums(s: State) -> None:
    """Take what was added up in the port sums off the free capacities."""
    for p in range(len(s.port)):
        s.port[p].free_src -= s.port[p].sum_src
        s.port[p].free_dst -= s.port[p].sum_dst


@inner
def stop_reducer(s: State, r: int) -> None:
    """Set the rates of reducer r's flows to 0."""
    if s.reducer[r].inflow > 0:
        s.step[s.reducer[r].first : s.reducer[r].last] = 0.0
        s.reducer[r].inflow = 0.0


@inner
def stop(s: State, k: int) -> None:
    """Set every rate of coflow k to 0."""
    for r in range(s.coflow[k].first, s.coflow[k].last):
        stop_reducer(s, r)


@inner
def hold_frozen(s: State, k: int) -> None:
    """Stop flows of frozen reducers, whose claim on the rates has been counted."""
    for r in range(s.coflow[k].first, s.coflow[k].last):
        if s.reducer[r].done == 2:
            stop_reducer(s, r)


@inner
def count_eligible(s: State, k: int) -> bool:
    """Add coflow k's live flows with capacity at both ends to the port sums; True if any."""
    eligible = False
    for r in range(s.coflow[k].first, s.coflow[k].last):
        d = s.reducer[r]
        if d.live == 0 or s.port[d.rack].free_dst <= ZERO_RATE:
            continue
        count = 0.0
        for i in range(d.first, d.last):
            p = s.src[i]
            if s.remaining[i] >= 0 and s.port[p].free_src > ZERO_RATE:
                s.port[p].sum_src += 1.0
                count += 1.0
        s.port[d.rack].sum_dst += count
        eligible |= count > 0
    return eligible


@inner
def set_shares(s: State) -> None:
    """Turn counts in the port sums into equal shares, 0 where nothing is free; clear the sums."""
    for p in range(len(s.port)):
        port = s.port[p]
        port.share_src = port.free_src / port.sum_src if port.sum_src > 0 else 0.0
        port.share_dst = port.free_dst / port.sum_dst if port.sum_dst > 0 else 0.0
        port.sum_src = 0.0
        port.sum_dst = 0.0


@inner
def share(s: State, k: int) -> None:
    """Give coflow k's eligible flows the smaller share of their two ports; add up what they use."""
    for r in range(s.coflow[k].first, s.coflow[k].last):
        d = s.reducer[r]
        most = s.port[d.rack].share_dst
        if d.live == 0 or not most > 0:
            stop_reducer(s, r)
            continue
        used = s.port[d.rack].sum_dst
        total = 0.0
        for i in range(d.first, d.last):
            p = s.src[i]
            rate = min(s.port[p].share_src, most)
            if s.remaining[i] < 0 or rate <= ZERO_RATE:
                rate = 0.0
            s.step[i] = rate
            s.port[p].sum_src += rate
            used += rate
            total += rate
        s.port[d.rack].sum_dst = used
        d.inflow = total


@inner
def equal_split(s: State, coflows: Ints) -> bool:
    """Split what is free equally among all live flows of some coflows; False if none can move."""
    clear_sums(s)
    eligible = False
    for k in coflows:
        eligible |= count_eligible(s, k)
    if not eligible:
        return False
    set_shares(s)
    for k in coflows:
        share(s, k)
    subtract_sums(s)
    return True


@inner
def anything_free(s: State) -> bool:
    """Whether a flow could still get something between some two ports."""
    src, dst = False, False
    for p in range(len(s.port)):
        src |= s.port[p].free_src > ZERO_RATE
        dst |= s.port[p].free_dst > ZERO_RATE
    return src and dst


@inner
def dclas(s: State, order: Ints) -> None:
    """One pass over the queues: equal split coflow by coflow, no backfill."""
    free_all(s)
    for at in range(len(order)):
        k = order[at]
        if anything_free(s) and equal_split(s, order[at : at + 1]):
            hold_frozen(s, k)
        else:
            stop(s, k)


@inner
def effective_bottleneck(s: State, k: int) -> float:
    """Online α of coflow k on what is free, in 2^−10 of CoflowSim's; −1 if it has to be skipped.

    Sums run over flows by reducer, then mapper. A negative rest over a negative free capacity
    counts as the positive quotient that it is.
    """
    clear_sums(s)
    alpha = 0.0
    for r in range(s.coflow[k].first, s.coflow[k].last):
        d = s.reducer[r]
        free = s.port[d.rack].free_dst
        if d.left > 0 and free <= ZERO_RATE:
            return -1.0
        if free != 0:
            alpha = max(alpha, 8.0 * d.left / free)
        for i in range(d.first, d.last):
            if s.remaining[i] >= 0:
                s.port[s.src[i]].sum_src += s.remaining[i]
    for p in range(len(s.port)):
        size, free = s.port[p].sum_src, s.port[p].free_src
        if size > 0 and free <= ZERO_RATE:
            return -1.0
        if free != 0:
            alpha = max(alpha, 8.0 * size / free)
    return alpha


@inner
def madd(s: State, k: int, alpha: float) -> None:
    """Give coflow k's flows 8·remaining/α, cut to what is free; subtract at the end."""
    clear_sums(s)
    for r in range(s.coflow[k].first, s.coflow[k].last):
        d = s.reducer[r]
        free_dst = s.port[d.rack].free_dst
        if free_dst <= ZERO_RATE:
            continue
        used = s.port[d.rack].sum_dst
        for i in range(d.first, d.last):
            if s.remaining[i] >= 0:
                port = s.port[s.src[i]]
                rate = 8.0 * s.remaining[i] / alpha
                if rate > port.free_src or rate > free_dst:
                    rate = min(port.free_src, free_dst)
                s.step[i] = rate
                port.sum_src += rate
                used += rate
        s.port[d.rack].sum_dst = used
        d.inflow = used
    subtract_sums(s)


@inner
def backfill(s: State, k: int) -> None:
    """Give each of coflow k's live flows in turn all that its two ports have left."""
    for r in range(s.coflow[k].first, s.coflow[k].last):
        d = s.reducer[r]
        for i in range(d.first, d.last):
            if s.port[d.rack].free_dst <= ZERO_RATE:
                break
            if s.remaining[i] >= 0:
                extra = min(s.port[s.src[i]].free_src, s.port[d.rack].free_dst)
                if extra > ZERO_RATE:
                    s.step[i] += extra
                    d.inflow += extra
                    s.port[s.src[i]].free_src -= extra
                    s.port[d.rack].free_dst -= extra


@inner
def sort_by(order: Ints, rank: Floats) -> None:
    """Sort `order` by the rank of its entries, equal ones as they are; nearly sorted is fast."""
    for i in range(1, len(order)):
        k, rank_of_k = order[i], rank[i]
        j = i - 1
        while j >= 0 and rank[j] > rank_of_k:
            order[j + 1], rank[j + 1] = order[j], rank[j]
            j -= 1
        order[j + 1], rank[j + 1] = k, rank_of_k


@inner
def madd_passes(s: State, order: Ints, now: float) -> None:
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
    by_slack, slack = order.copy(), np.empty(len(order))
    for i in range(len(order)):
        c = s.coflow[order[i]]
        # Whole ms until the deadline, rounded towards 0.
        slack[i] = np.trunc(c.start + c.deadline - now)
    sort_by(by_slack, slack)
    for k in by_slack:
        backfill(s, k)
    for k in order:
        hold_frozen(s, k)
