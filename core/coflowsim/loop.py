"""The reference's loop: admissions in epochs, recomputation at admissions and completions."""

from __future__ import annotations

import numpy as np

from core.coflowsim.advance import advance, due
from core.coflowsim.rates import dclas, madd_passes
from core.coflowsim.state import EPOCH_MS, QUANTUM_MS, State
from core.jit import kernel
from core.trace import Floats, Ints

QUEUES = 0
LIST = 1
LIST_BY_TALLY = 2


@kernel
def epoch_of(arrival_ms: float, earliest: float) -> float:
    """Start of the epoch that admits an arrival, not before `earliest` [ms]."""
    return max(earliest, np.ceil(arrival_ms / EPOCH_MS - 1.0) * EPOCH_MS)


@kernel
def tally_of(s: State, k: int) -> float:
    """Sum of coflow k's second tally over its reducers, in order [B]."""
    total = 0.0
    for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
        total += s.tally[r]
    return total


@kernel
def insert(s: State, mode: int, key: Floats, order: Ints, queue: Ints, active: int, k: int) -> None:
    """Put coflow k at the end of queue 0, or before the first whose key is strictly greater."""
    own = tally_of(s, k) if mode == LIST_BY_TALLY else key[k]
    at = 0
    while at < active:
        other = order[at]
        if mode == QUEUES:
            passes = queue[other] > 0
        elif mode == LIST_BY_TALLY:
            passes = tally_of(s, other) > own
        else:
            passes = key[other] > own
        if passes:
            break
        at += 1
    order[at + 1 : active + 1] = order[at:active].copy()
    order[at] = k


@kernel
def demote(s: State, weight: Floats, limits: Floats, order: Ints, queue: Ints) -> None:
    """Move coflows past their queue's limit to the end of the next queue, queue by queue.

    `order` lists the coflows queue by queue and is rewritten in place; metric = attained/weight.
    """
    listed = order.copy()
    carried = np.empty_like(order)
    carry, read, write = 0, 0, 0
    for q in range(len(limits) + 1):
        here = np.empty_like(order)
        n = 0
        while read < len(listed) and queue[listed[read]] == q:
            here[n] = listed[read]
            n += 1
            read += 1
        here[n : n + carry] = carried[:carry]
        n += carry
        carry = 0
        for i in range(n):
            k = here[i]
            if q < len(limits) and s.attained[k] / weight[k] > limits[q]:
                carried[carry] = k
                carry += 1
            else:
                order[write] = k
                write += 1
        for i in range(carry):
            # Set after the scan: the listed coflows of queue q + 1 come first.
            queue[carried[i]] = -q - 2
    for k in order:
        if queue[k] < 0:
            queue[k] = -queue[k] - 1


@kernel
def slack_ms(start: Floats, deadline: Floats, order: Ints, now: float) -> Floats:
    """Whole ms until each listed coflow's deadline, rounded towards 0."""
    return np.trunc(start[order] + deadline[order] - now)


@kernel
def recompute(
    s: State,
    mode: int,
    order: Ints,
    queue: Ints,
    key: Floats,
    limits: Floats,
    start: Floats,
    deadline: Floats,
    now: float,
) -> None:
    """Give every active coflow its rates."""
    if mode == QUEUES:
        # The queues lay out what moves at every recomputation, the lists at admissions only.
        freeze(s, order)
        demote(s, key, limits, order, queue)
        dclas(s, order)
    else:
        madd_passes(s, order, slack_ms(start, deadline, order, now))


@kernel
def run_until_completion(s: State, mode: int, order: Ints, horizon: float) -> float:
    """Advance all coflows to the first completion or the horizon; return the quanta passed.

    Coflows are independent while rates stand: only those that may complete next are taken on
    step by step, the others once.
    """
    attained, tally = mode == QUEUES, mode == LIST_BY_TALLY
    clock = np.zeros(len(order))
    next_due = np.empty(len(order))
    for i in range(len(order)):
        next_due[i] = due(s, order[i])
    passed = horizon
    while True:
        i = np.argmin(next_due)
        if next_due[i] > passed or next_due[i] == np.inf:
            break
        k = order[i]
        complete = advance(s, k, next_due[i] - clock[i], attained, tally)
        clock[i] = next_due[i]
        if complete:
            passed = clock[i]
            next_due[i] = np.inf
        elif clock[i] == passed:
            next_due[i] = np.inf
        else:
            next_due[i] = clock[i] + due(s, k)
    if passed == np.inf:
        return passed
    for i in range(len(order)):
        if clock[i] < passed:
            advance(s, order[i], passed - clock[i], attained, tally)
    return passed


@kernel
def freeze(s: State, order: Ints) -> None:
    """What flows of completed reducers still hold moves no more."""
    for k in order:
        for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
            if s.done[r] == 1:
                s.done[r] = 2


@kernel
def simulate(
    s: State,
    mode: int,
    arrival_ms: Floats,
    key: Floats,
    limits: Floats,
    deadline: Floats,
) -> tuple[Floats, Floats, int]:
    """Run to the end; return start and finish [ms] per coflow and the recomputations.

    `key` orders the list or, with queues, divides the attained bytes; `deadline` [ms] orders
    the backfill. A finish of −1 marks a coflow that can never complete.
    """
    n = len(arrival_ms)
    start, finish = np.full(n, -1.0), np.full(n, -1.0)
    order, queue = np.empty(n, np.int64), np.zeros(n, np.int64)
    active, admitted, events = 0, 0, 0
    now = 0.0
    while admitted < n or active > 0:
        if admitted < n:
            now = epoch_of(arrival_ms[admitted], now)
            freeze(s, order[:active])
            while admitted < n and arrival_ms[admitted] <= now + EPOCH_MS:
                start[admitted] = now
                insert(s, mode, key, order, queue, active, admitted)
                admitted += 1
                active += 1
        recompute(s, mode, order[:active], queue, key, limits, start, deadline, now)
        events += 1
        until = epoch_of(arrival_ms[admitted], now + EPOCH_MS) if admitted < n else np.inf
        while active > 0 and now < until:
            passed = run_until_completion(s, mode, order[:active], (until - now) / QUANTUM_MS)
            if passed == np.inf:
                return start, finish, events
            now += passed * QUANTUM_MS
            kept = 0
            for i in range(active):
                k = order[i]
                if s.open[k] == 0:
                    finish[k] = now
                else:
                    order[kept] = k
                    kept += 1
            if kept < active:
                active = kept
                before = now - QUANTUM_MS
                recompute(s, mode, order[:active], queue, key, limits, start, deadline, before)
                events += 1
        if admitted < n:
            now = until
    return start, finish, events
