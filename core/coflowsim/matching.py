"""pFabric's ideal as the reference has it: one flow a port at a time, the smallest first."""

from __future__ import annotations

import numpy as np

from core.coflowsim.loop import epoch_of
from core.coflowsim.sizes import MB
from core.coflowsim.state import EPOCH_MS, QUANTUM_MS, ZERO, State
from core.jit import inner, kernel
from core.trace import Ints


@inner
def list_flows(s: State, k: int, head: Ints, following: Ints) -> None:
    """Insert coflow k's flows at their receivers, before the first with more bytes remaining."""
    for r in range(s.coflow[k].first, s.coflow[k].last):
        d, first = s.reducer[r].rack, s.reducer[r].first
        before, at = -1, head[d]
        for i in range(first, s.reducer[r].last):
            # Flows of a mesh are equal: each goes right behind the one before.
            if i == first or s.remaining[i] < s.remaining[i - 1]:
                before, at = -1, head[d]
            while at >= 0 and s.remaining[at] <= s.remaining[i]:
                before, at = at, following[at]
            following[i] = at
            if before < 0:
                head[d] = i
            else:
                following[before] = i
            before = i


@inner
def match(s: State, head: Ints, following: Ints, chosen: Ints) -> float:
    """Choose per receiver the first listed flow with an idle sender; quanta until one ends."""
    for p in range(len(s.port)):
        s.port[p].sum_src = 0.0
    quanta = np.inf
    for d in range(len(head)):
        i = head[d]
        while i >= 0 and s.port[s.src[i]].sum_src > 0:
            i = following[i]
        chosen[d] = i
        if i >= 0:
            s.port[s.src[i]].sum_src = 1.0
            quanta = min(quanta, s.remaining[i] / MB)
    return quanta


@inner
def move_chosen(
    s: State, head: Ints, following: Ints, chosen: Ints, reducer_of: Ints, quanta: float
) -> None:
    """Move the chosen flows on by whole megabytes and unlist those that end.

    Sizes are whole MB, so all sums are exact. A reducer without bytes completes when the first
    of its flows is chosen; the others still take their turn.
    """
    for d in range(len(chosen)):
        i = chosen[d]
        if i < 0:
            continue
        r = reducer_of[i]
        s.remaining[i] -= quanta * MB
        s.reducer[r].left -= quanta * MB
        if s.remaining[i] <= ZERO:
            s.reducer[r].live -= 1
            before, at = -1, head[d]
            while at != i:
                before, at = at, following[at]
            if before < 0:
                head[d] = following[i]
            else:
                following[before] = following[i]


@inner
def complete_chosen(s: State, chosen: Ints, reducer_of: Ints, coflow_of: Ints, now: float) -> int:
    """Complete the reducers of the chosen flows that have nothing left; coflows that ended."""
    ended = 0
    for d in range(len(chosen)):
        if chosen[d] >= 0:
            r = reducer_of[chosen[d]]
            reducer, c = s.reducer[r], s.coflow[coflow_of[r]]
            if reducer.done == 0 and (reducer.left <= ZERO or reducer.live == 0):
                reducer.done = 1
                c.open -= 1
                if c.open == 0:
                    c.finish = now
                    ended += 1
    return ended


@kernel
def simulate_matching(s: State, reducer_of: Ints, coflow_of: Ints) -> int:
    """Run to the end; set start and finish [ms] per coflow and return the recomputations."""
    n, ports = len(s.coflow), len(s.port)
    head, following = np.full(ports, -1), np.full(len(reducer_of), -1)
    chosen = np.full(ports, -1)
    active, admitted, events = 0, 0, 0
    now = 0.0
    while admitted < n or active > 0:
        if admitted < n:
            now = epoch_of(s.coflow[admitted].arrival, now)
            while admitted < n and s.coflow[admitted].arrival <= now + EPOCH_MS:
                s.coflow[admitted].start = now
                list_flows(s, admitted, head, following)
                admitted += 1
                active += 1
        until = np.inf
        if admitted < n:
            until = epoch_of(s.coflow[admitted].arrival, now + EPOCH_MS)
        while active > 0 and now < until:
            quanta = match(s, head, following, chosen)
            for d in range(ports):
                # A reducer without bytes completes at once: look after one quantum.
                if chosen[d] >= 0 and s.reducer[reducer_of[chosen[d]]].left <= ZERO:
                    quanta = min(quanta, 1.0)
            quanta = min(quanta, (until - now) / QUANTUM_MS)
            move_chosen(s, head, following, chosen, reducer_of, quanta)
            events += 1
            now += quanta * QUANTUM_MS
            active -= complete_chosen(s, chosen, reducer_of, coflow_of, now)
        if admitted < n:
            now = until
    return events
