"""The reference's loop: admissions in epochs, recomputation at admissions and completions."""

from __future__ import annotations

import numpy as np

from core.coflowsim.advance import advance
from core.coflowsim.due import due, due_by_flow
from core.coflowsim.rates import dclas, madd_passes, sort_by
from core.coflowsim.state import EPOCH_MS, QUANTUM_MS, State
from core.jit import inner, kernel
from core.trace import Floats, Ints

QUEUES = 0
LIST = 1
LIST_BY_TALLY = 2


@inner
def epoch_of(arrival_ms: float, earliest: float) -> float:
    """Start of the epoch that admits an arrival, not before `earliest` [ms]."""
    return float(max(earliest, np.ceil(arrival_ms / EPOCH_MS - 1.0) * EPOCH_MS))


@inner
def tally_of(s: State, k: int) -> float:
    """Sum of coflow k's second tally over its reducers, in order [B]."""
    total = 0.0
    for r in range(s.coflow[k].first, s.coflow[k].last):
        total += s.reducer[r].tally
    return total


@inner
def insert(s: State, mode: int, order: Ints, active: int, k: int) -> None:
    """Put coflow k at the end of queue 0, or before the first whose key is strictly greater."""
    key = tally_of(s, k) if mode == LIST_BY_TALLY else s.coflow[k].key
    at = 0
    while at < active:
        other = order[at]
        if mode == QUEUES:
            passes = s.coflow[other].queue > 0
        elif mode == LIST_BY_TALLY:
            passes = tally_of(s, other) > key
        else:
            passes = s.coflow[other].key > key
        if passes:
            break
        at += 1
    for i in range(active, at, -1):
        order[i] = order[i - 1]
    order[at] = k


@inner
def demote(s: State, limits: Floats, order: Ints) -> None:
    """Move coflows past their queue's limit to the end of the next queue, queue by queue.

    `order` lists the coflows queue by queue. A queue is scanned after those that move into it
    have come, so a coflow may move on, and inside a queue those from the nearest one come first.
    """
    rank = np.empty(len(order))
    for i in range(len(order)):
        c = s.coflow[order[i]]
        before = c.queue
        while c.queue < len(limits) and c.attained / c.weight > limits[c.queue]:
            c.queue += 1
        rank[i] = c.queue * (len(limits) + 1.0) - before
    sort_by(order, rank)


@inner
def freeze(s: State, order: Ints) -> None:
    """Let what flows of completed reducers still hold move no more."""
    for k in order:
        for r in range(s.coflow[k].first, s.coflow[k].last):
            if s.reducer[r].done == 1:
                s.reducer[r].done = 2


@inner
def recompute(s: State, mode: int, order: Ints, limits: Floats, now: float) -> None:
    """Give every active coflow its rates."""
    if mode == QUEUES:
        # The queues lay out what moves at every recomputation, the lists at admissions only.
        freeze(s, order)
        demote(s, limits, order)
        dclas(s, order)
    else:
        madd_passes(s, order, now)


@inner
def run_until_completion(s: State, mode: int, order: Ints, horizon: float) -> float:
    """Advance all coflows to the first completion or the horizon; return the quanta passed.

    Coflows are independent while rates stand: only those that may complete next are taken on
    step by step, the others once.
    """
    queues, tally = mode == QUEUES, mode == LIST_BY_TALLY
    clock, next_due = np.zeros(len(order)), np.empty(len(order))
    tight = np.zeros(len(order), np.bool_)
    for i in range(len(order)):
        next_due[i] = due(s, order[i])
    passed = horizon
    while True:
        i = int(np.argmin(next_due))
        if next_due[i] > passed or next_due[i] == np.inf:
            break
        if not tight[i]:
            next_due[i] = max(next_due[i], clock[i] + due_by_flow(s, order[i]))
            tight[i] = True
            continue
        complete = advance(s, order[i], next_due[i] - clock[i], queues, tally)
        clock[i] = next_due[i]
        if complete:
            passed = clock[i]
        if complete or clock[i] == passed:
            next_due[i] = np.inf
        else:
            next_due[i] = clock[i] + due(s, order[i])
            tight[i] = False
    if passed == np.inf:
        return passed
    for i in range(len(order)):
        if clock[i] < passed:
            advance(s, order[i], passed - clock[i], queues, tally)
    return passed


@inner
def remove_complete(s: State, order: Ints, now: float) -> int:
    """Stamp the coflows that are complete and take them off the list; return how many stay."""
    kept = 0
    for k in order:
        if s.coflow[k].open == 0:
            s.coflow[k].finish = now
        else:
            order[kept] = k
            kept += 1
    return kept


@kernel
def simulate(s: State, mode: int, limits: Floats) -> int:
    """Run to the end; set start and finish [ms] per coflow and return the recomputations.

    A finish of −1 marks a coflow that can never complete.
    """
    n = len(s.coflow)
    order = np.empty(n, np.int64)
    active, admitted, events = 0, 0, 0
    now = 0.0
    while admitted < n or active > 0:
        if admitted < n:
            now = epoch_of(s.coflow[admitted].arrival, now)
            freeze(s, order[:active])
            while admitted < n and s.coflow[admitted].arrival <= now + EPOCH_MS:
                s.coflow[admitted].start = now
                insert(s, mode, order, active, admitted)
                admitted += 1
                active += 1
        recompute(s, mode, order[:active], limits, now)
        events += 1
        until = np.inf
        if admitted < n:
            until = epoch_of(s.coflow[admitted].arrival, now + EPOCH_MS)
        while active > 0 and now < until:
            passed = run_until_completion(s, mode, order[:active], (until - now) / QUANTUM_MS)
            if passed == np.inf:
                return events
            now += passed * QUANTUM_MS
            kept = remove_complete(s, order[:active], now)
            if kept < active:
                active = kept
                recompute(s, mode, order[:active], limits, now - QUANTUM_MS)
                events += 1
        if admitted < n:
            now = until
    return events
