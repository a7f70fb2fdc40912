"""The reference's two per-flow schedulers: per-flow fairness and pFabric's ideal."""

from __future__ import annotations

import numpy as np

from core.coflowsim.advance import jump, quiet_quanta, single_quantum
from core.coflowsim.loop import epoch_of
from core.coflowsim.sizes import MB
from core.coflowsim.state import EPOCH_MS, GONE, QUANTUM_MS, ZERO, State
from core.jit import kernel
from core.trace import Floats, Ints


@kernel
def count_ports(s: State, order: Ints) -> None:
    """Count the live flows at each port into the port sums."""
    s.port_src[:] = 0.0
    s.port_dst[:] = 0.0
    for k in order:
        for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
            if s.live[r] > 0:
                s.port_dst[s.rack[r]] += s.live[r]
                for i in range(s.first_flow[r], s.first_flow[r + 1]):
                    if s.remaining[i] >= 0:
                        s.port_src[s.src[i]] += 1.0


@kernel
def fair_steps(s: State, order: Ints) -> None:
    """Let each live flow move min(1 MB / n_dst, 1 MB / n_src) a quantum."""
    count_ports(s, order)
    share_src = MB / np.maximum(s.port_src, 1.0)
    for k in order:
        for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
            if s.live[r] == 0:
                continue
            share_dst = MB / s.port_dst[s.rack[r]]
            total = 0.0
            for i in range(s.first_flow[r], s.first_flow[r + 1]):
                if s.remaining[i] >= 0:
                    s.step[i] = min(share_dst, share_src[s.src[i]])
                    total += s.step[i]
            s.inflow[r] = total


@kernel
def fair_advance(s: State, order: Ints, quanta: float) -> tuple[float, bool]:
    """Advance until a flow ends, at most some quanta; return quanta passed and if one ended."""
    quiet = quanta
    for k in order:
        for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
            if quiet >= 1.0 and s.live[r] > 0:
                quiet = min(quiet, quiet_quanta(s, r, quiet))
    if quiet >= 1.0:
        for k in order:
            for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
                if s.live[r] > 0:
                    jump(s, r, quiet, False)
        return quiet, False
    ended = False
    for k in order:
        for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
            before = s.live[r]
            if before > 0 or s.done[r] == 0:
                if single_quantum(s, r, False):
                    s.open[k] -= 1
                ended |= s.live[r] < before
    return 1.0, ended


@kernel
def drop_complete(s: State, order: Ints, active: int, finish: Floats, now: float) -> int:
    """Stamp and unlist the coflows that have completed; return how many stay."""
    kept = 0
    for i in range(active):
        k = order[i]
        if s.open[k] == 0:
            finish[k] = now
        else:
            order[kept] = k
            kept += 1
    return kept


@kernel
def simulate_fair(s: State, arrival_ms: Floats) -> tuple[Floats, Floats, int]:
    """Per-flow fairness; return start and finish [ms] per coflow and the recomputations."""
    n = len(arrival_ms)
    start, finish = np.full(n, -1.0), np.full(n, -1.0)
    order = np.empty(n, np.int64)
    active, admitted, events = 0, 0, 0
    now = 0.0
    while admitted < n or active > 0:
        if admitted < n:
            now = epoch_of(arrival_ms[admitted], now)
            while admitted < n and arrival_ms[admitted] <= now + EPOCH_MS:
                start[admitted] = now
                order[active] = admitted
                admitted += 1
                active += 1
        until = epoch_of(arrival_ms[admitted], now + EPOCH_MS) if admitted < n else np.inf
        changed = True
        while active > 0 and now < until:
            if changed:
                fair_steps(s, order[:active])
                events += 1
            passed, changed = fair_advance(s, order[:active], (until - now) / QUANTUM_MS)
            now += passed * QUANTUM_MS
            kept = drop_complete(s, order, active, finish, now)
            changed |= kept < active
            active = kept
        if admitted < n:
            now = until
    return start, finish, events


@kernel
def list_flows(s: State, k: int, head: Ints, following: Ints) -> None:
    """Insert coflow k's flows at their receivers, before the first with more bytes remaining."""
    for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
        d = s.rack[r]
        before, at = -1, head[d]
        for i in range(s.first_flow[r], s.first_flow[r + 1]):
            # Flows of a mesh are equal: each goes right behind the one before.
            if i == s.first_flow[r] or s.remaining[i] < s.remaining[i - 1]:
                before, at = -1, head[d]
            while at >= 0 and s.remaining[at] <= s.remaining[i]:
                before, at = at, following[at]
            following[i] = at
            if before < 0:
                head[d] = i
            else:
                following[before] = i
            before = i


@kernel
def match(s: State, head: Ints, following: Ints, chosen: Ints) -> float:
    """Choose per receiver the first listed flow with an idle sender; quanta until one ends."""
    s.port_src[:] = 0.0
    quanta = np.inf
    for d in range(len(head)):
        i = head[d]
        while i >= 0 and s.port_src[s.src[i]] > 0:
            i = following[i]
        chosen[d] = i
        if i >= 0:
            s.port_src[s.src[i]] = 1.0
            quanta = min(quanta, max(1.0, np.ceil(s.remaining[i] / MB)))
    return quanta


@kernel
def unlist_gone(s: State, head: Ints, following: Ints, d: int, first_only: bool) -> None:
    """Take the flows that are gone off receiver d's list, or the first of them alone."""
    before, i = -1, head[d]
    while i >= 0:
        if s.remaining[i] < 0:
            if before < 0:
                head[d] = following[i]
            else:
                following[before] = following[i]
            if first_only:
                return
        else:
            before = i
        i = following[i]


@kernel
def move_matched(
    s: State, head: Ints, following: Ints, chosen: Ints, reducer_of: Ints, quanta: float
) -> bool:
    """Move the chosen flows on by whole megabytes; True if one ended."""
    ended = False
    for d in range(len(chosen)):
        i = chosen[d]
        if i >= 0:
            moved = min(quanta * MB, s.remaining[i])
            s.remaining[i] -= moved
            s.left[reducer_of[i]] -= moved
            if s.remaining[i] <= ZERO:
                s.remaining[i] = GONE
                s.live[reducer_of[i]] -= 1
                unlist_gone(s, head, following, d, True)
                ended = True
    return ended


@kernel
def settle(s: State, k: int, head: Ints, following: Ints) -> None:
    """Complete coflow k's reducers that have nothing left; unlist what a complete coflow lists."""
    first, last = s.first_reducer[k], s.first_reducer[k + 1]
    for r in range(first, last):
        if s.done[r] == 0 and (s.left[r] <= ZERO or s.live[r] == 0):
            s.done[r] = 1
            s.open[k] -= 1
    if s.open[k] == 0:
        for r in range(first, last):
            if s.live[r] > 0:
                s.remaining[s.first_flow[r] : s.first_flow[r + 1]] = GONE
                unlist_gone(s, head, following, s.rack[r], False)


@kernel
def settle_chosen(
    s: State, head: Ints, following: Ints, chosen: Ints, reducer_of: Ints, coflow_of: Ints
) -> bool:
    """Settle the coflows of the chosen flows that ended; True if a coflow completed."""
    complete = False
    for d in range(len(chosen)):
        i = chosen[d]
        if i >= 0 and s.remaining[i] < 0:
            r = reducer_of[i]
            if s.done[r] == 0 and (s.left[r] <= ZERO or s.live[r] == 0):
                settle(s, coflow_of[r], head, following)
                complete |= s.open[coflow_of[r]] == 0
    return complete


@kernel
def simulate_matching(
    s: State, arrival_ms: Floats, reducer_of: Ints, coflow_of: Ints
) -> tuple[Floats, Floats, int]:
    """pFabric's ideal; return start and finish [ms] per coflow and the recomputations.

    Sizes are whole MB and a matched flow moves one MB a quantum, so sums are exact. Reducers
    without bytes complete in their coflow's first quantum.
    """
    n, ports = len(arrival_ms), len(s.free_src)
    start, finish = np.full(n, -1.0), np.full(n, -1.0)
    order = np.empty(n, np.int64)
    head, following = np.full(ports, -1), np.full(len(reducer_of), -1)
    chosen = np.full(ports, -1)
    active, admitted, events = 0, 0, 0
    now = 0.0
    while admitted < n or active > 0:
        fresh = active
        if admitted < n:
            now = epoch_of(arrival_ms[admitted], now)
            while admitted < n and arrival_ms[admitted] <= now + EPOCH_MS:
                start[admitted] = now
                list_flows(s, admitted, head, following)
                order[active] = admitted
                admitted += 1
                active += 1
        until = epoch_of(arrival_ms[admitted], now + EPOCH_MS) if admitted < n else np.inf
        while active > 0 and now < until:
            quanta = min(match(s, head, following, chosen), (until - now) / QUANTUM_MS)
            if fresh < active:
                quanta = 1.0
            ended = move_matched(s, head, following, chosen, reducer_of, quanta)
            complete = ended and settle_chosen(
                s, head, following, chosen, reducer_of, coflow_of
            )
            for i in range(fresh, active):
                settle(s, order[i], head, following)
                complete |= s.open[order[i]] == 0
            events += 1
            now += quanta * QUANTUM_MS
            if complete:
                active = drop_complete(s, order, active, finish, now)
            fresh = active
        if admitted < n:
            now = until
    return start, finish, events
