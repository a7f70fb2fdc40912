"""The reference's two per-flow schedulers: per-flow fairness and pFabric's ideal."""

from __future__ import annotations

import numpy as np

from core.coflowsim.advance import jump, quiet_quanta, single_quantum
from core.coflowsim.loop import epoch_of
from core.coflowsim.sizes import MB
from core.coflowsim.state import EPOCH_MS, QUANTUM_MS, ZERO, State
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
            if before > 0:
                if single_quantum(s, r, False):
                    s.open[k] -= 1
                ended |= s.live[r] < before
    return 1.0, ended


@kernel
def unlist(s: State, order: Ints, listed: int) -> int:
    """Take coflows without live flows off the list; return how many stay.

    Flows of a complete coflow stay until they have moved what rounding left them.
    """
    kept = 0
    for i in range(listed):
        k = order[i]
        live = s.open[k] > 0
        if not live:
            for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
                live |= s.live[r] > 0
        if live:
            order[kept] = k
            kept += 1
    return kept


@kernel
def stamp(s: State, order: Ints, finish: Floats, now: float) -> int:
    """Stamp the coflows that have just completed; return how many."""
    count = 0
    for k in order:
        if s.open[k] == 0 and finish[k] < 0:
            finish[k] = now
            count += 1
    return count


@kernel
def simulate_fair(s: State, arrival_ms: Floats) -> tuple[Floats, Floats, int]:
    """Per-flow fairness; return start and finish [ms] per coflow and the recomputations."""
    n = len(arrival_ms)
    start, finish = np.full(n, -1.0), np.full(n, -1.0)
    order = np.empty(n, np.int64)
    listed, active, admitted, events = 0, 0, 0, 0
    now = 0.0
    while admitted < n or active > 0:
        if admitted < n:
            now = epoch_of(arrival_ms[admitted], now)
            while admitted < n and arrival_ms[admitted] <= now + EPOCH_MS:
                start[admitted] = now
                order[listed] = admitted
                admitted += 1
                listed += 1
                active += 1
        until = epoch_of(arrival_ms[admitted], now + EPOCH_MS) if admitted < n else np.inf
        changed = True
        while active > 0 and now < until:
            if changed:
                fair_steps(s, order[:listed])
                events += 1
            passed, changed = fair_advance(s, order[:listed], (until - now) / QUANTUM_MS)
            now += passed * QUANTUM_MS
            if changed:
                active -= stamp(s, order[:listed], finish, now)
                listed = unlist(s, order, listed)
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
            quanta = min(quanta, s.remaining[i] / MB)
    return quanta


@kernel
def move_matched(
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
        s.left[r] -= quanta * MB
        if s.remaining[i] <= ZERO:
            s.live[r] -= 1
            before, at = -1, head[d]
            while at != i:
                before, at = at, following[at]
            if before < 0:
                head[d] = following[i]
            else:
                following[before] = following[i]


@kernel
def complete_chosen(s: State, chosen: Ints, reducer_of: Ints, coflow_of: Ints) -> bool:
    """Complete the reducers of the chosen flows that have nothing left; True if a coflow ended."""
    ended = False
    for d in range(len(chosen)):
        if chosen[d] >= 0:
            r = reducer_of[chosen[d]]
            if s.done[r] == 0 and (s.left[r] <= ZERO or s.live[r] == 0):
                s.done[r] = 1
                s.open[coflow_of[r]] -= 1
                ended |= s.open[coflow_of[r]] == 0
    return ended


@kernel
def simulate_matching(
    s: State, arrival_ms: Floats, reducer_of: Ints, coflow_of: Ints
) -> tuple[Floats, Floats, int]:
    """pFabric's ideal; return start and finish [ms] per coflow and the recomputations."""
    n, ports = len(arrival_ms), len(s.free_src)
    start, finish = np.full(n, -1.0), np.full(n, -1.0)
    everyone = np.arange(n)
    head, following = np.full(ports, -1), np.full(len(reducer_of), -1)
    chosen = np.full(ports, -1)
    active, admitted, events = 0, 0, 0
    now = 0.0
    while admitted < n or active > 0:
        if admitted < n:
            now = epoch_of(arrival_ms[admitted], now)
            while admitted < n and arrival_ms[admitted] <= now + EPOCH_MS:
                start[admitted] = now
                list_flows(s, admitted, head, following)
                admitted += 1
                active += 1
        until = epoch_of(arrival_ms[admitted], now + EPOCH_MS) if admitted < n else np.inf
        while active > 0 and now < until:
            quanta = match(s, head, following, chosen)
            for d in range(ports):
                # A reducer without bytes completes at once: look after one quantum.
                if chosen[d] >= 0 and s.left[reducer_of[chosen[d]]] <= ZERO:
                    quanta = min(quanta, 1.0)
            quanta = min(quanta, (until - now) / QUANTUM_MS)
            move_matched(s, head, following, chosen, reducer_of, quanta)
            events += 1
            now += quanta * QUANTUM_MS
            if complete_chosen(s, chosen, reducer_of, coflow_of):
                active -= stamp(s, everyone[:admitted], finish, now)
        if admitted < n:
            now = until
    return start, finish, events
