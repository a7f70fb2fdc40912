"""Per-flow fairness as the reference has it: the smaller equal share of a flow's two ports.

Shares change with every flow that ends, but most flows keep theirs: a reducer is moved on only
when one of its steps changes or one of its flows may end; until then its quanta are pending.
"""

from __future__ import annotations

import numpy as np

from core.coflowsim.advance import advance_reducer
from core.coflowsim.due import quiet_quanta
from core.coflowsim.loop import epoch_of
from core.coflowsim.state import EPOCH_MS, LINK, QUANTUM_MS, State
from core.jit import inner, kernel
from core.trace import Floats, Ints


@inner
def count(s: State, r: int, sign: float) -> None:
    """Add reducer r's live flows to the counts of their ports, or take them off."""
    d = s.reducer[r]
    s.port[d.rack].sum_dst += sign * d.live
    for i in range(d.first, d.last):
        if s.remaining[i] >= 0:
            s.port[s.src[i]].sum_src += sign


@inner
def steps_differ(s: State, r: int) -> bool:
    """Whether a flow of reducer r has another share than the step it moves with."""
    d = s.reducer[r]
    most = s.port[d.rack].share_dst
    for i in range(d.first, d.last):
        if s.remaining[i] >= 0 and s.step[i] != min(most, s.port[s.src[i]].share_src):
            return True
    return False


@inner
def set_steps(s: State, r: int) -> None:
    """Let the live flows of reducer r move their shares."""
    d = s.reducer[r]
    most = s.port[d.rack].share_dst
    total = 0.0
    for i in range(d.first, d.last):
        if s.remaining[i] >= 0:
            s.step[i] = min(most, s.port[s.src[i]].share_src)
            total += s.step[i]
    d.inflow = total


@inner
def settle_marked(s: State, order: Ints, mark: Ints, pending: Floats) -> bool:
    """Move the marked reducers on by the quanta that are pending; True if something ended."""
    ended = False
    for k in order:
        for r in range(s.coflow[k].first, s.coflow[k].last):
            if mark[r] and pending[r] > 0:
                live, done = s.reducer[r].live, s.reducer[r].done
                count(s, r, -1.0)
                advance_reducer(s, k, r, pending[r], False, False)
                count(s, r, 1.0)
                pending[r] = 0.0
                ended |= s.reducer[r].live < live or s.reducer[r].done > done
    return ended


@inner
def mark_changes(s: State, order: Ints, mark: Ints, quiet: Floats) -> None:
    """Mark reducers that were just moved, or with a new share, 1 MB / the flows of a port."""
    for p in range(len(s.port)):
        s.port[p].share_src = LINK / max(s.port[p].sum_src, 1.0)
        s.port[p].share_dst = LINK / max(s.port[p].sum_dst, 1.0)
    for k in order:
        for r in range(s.coflow[k].first, s.coflow[k].last):
            mark[r] = s.reducer[r].live > 0 and (quiet[r] < 0 or steps_differ(s, r))


@inner
def pass_quanta(
    s: State, order: Ints, mark: Ints, pending: Floats, quiet: Floats, most: float
) -> float:
    """Let quanta pass up to the first in which a flow may end; mark the reducers that have such."""
    for k in order:
        for r in range(s.coflow[k].first, s.coflow[k].last):
            if s.reducer[r].live > 0:
                if mark[r]:
                    set_steps(s, r)
                    quiet[r] = quiet_quanta(s, r)
                most = min(most, max(quiet[r], 1.0))
    for k in order:
        for r in range(s.coflow[k].first, s.coflow[k].last):
            if s.reducer[r].live > 0:
                mark[r] = quiet[r] < most
                pending[r] += most
                quiet[r] -= most
    return most


@inner
def unlist(s: State, order: Ints, now: float) -> tuple[int, int]:
    """Stamp coflows that have just completed, take those without live flows off the list.

    Return how many stay and how many completed. Flows of a complete coflow stay until they have
    moved what rounding left them.
    """
    kept, completed = 0, 0
    for k in order:
        c = s.coflow[k]
        if c.open == 0 and c.finish < 0:
            c.finish = now
            completed += 1
        live = False
        for r in range(c.first, c.last):
            live |= s.reducer[r].live > 0
        if live:
            order[kept] = k
            kept += 1
    return kept, completed


@kernel
def simulate_fair(s: State) -> int:
    """Run to the end; set start and finish [ms] per coflow and return the recomputations."""
    n = len(s.coflow)
    order = np.empty(n, np.int64)
    pending, quiet = np.zeros(len(s.reducer)), np.zeros(len(s.reducer))
    mark = np.zeros(len(s.reducer), np.int64)
    listed, active, admitted, events = 0, 0, 0, 0
    now = 0.0
    while admitted < n or active > 0:
        if admitted < n:
            now = epoch_of(s.coflow[admitted].arrival, now)
            while admitted < n and s.coflow[admitted].arrival <= now + EPOCH_MS:
                c = s.coflow[admitted]
                c.start = now
                for r in range(c.first, c.last):
                    count(s, r, 1.0)
                order[listed] = admitted
                admitted += 1
                listed += 1
                active += 1
        until = np.inf
        if admitted < n:
            until = epoch_of(s.coflow[admitted].arrival, now + EPOCH_MS)
        changed = True
        while active > 0 and now < until:
            if changed:
                mark_changes(s, order[:listed], mark, quiet)
                settle_marked(s, order[:listed], mark, pending)
                events += 1
            passed = pass_quanta(
                s, order[:listed], mark, pending, quiet, (until - now) / QUANTUM_MS
            )
            now += passed * QUANTUM_MS
            changed = settle_marked(s, order[:listed], mark, pending)
            if changed:
                listed, completed = unlist(s, order[:listed], now)
                active -= completed
        if admitted < n:
            now = until
    return events
