"""Move coflows on by whole quanta while their rates stand.

Between two recomputations every reducer evolves on its own: it is taken in jumps over which
none of its flows ends, and in single quanta around the ends.
"""

from __future__ import annotations

import numpy as np

from core.coflowsim.attained import ascend_log
from core.coflowsim.exact import descend, descend_row
from core.coflowsim.state import GONE, ZERO, State
from core.jit import kernel

_ULP = 2.3e-16


@kernel
def quiet_quanta(s: State, r: int, most: float) -> float:
    """Quanta ≤ most in which no flow of reducer r ends, nor the reducer; 0 if not known.

    The margin of an ulp a quantum and of one whole quantum covers what rounding can do.
    """
    quiet = most
    first, last = s.first_flow[r], s.first_flow[r + 1]
    for i in range(first, last):
        b = s.step[i]
        if b > 0:
            x = s.remaining[i]
            if x - ZERO < (quiet + 1.0) * (b + x * _ULP):
                quiet = min(quiet, np.floor((x - ZERO) / (b + x * _ULP)) - 1.0)
    if s.done[r] != 0:
        # What the flows still hold takes `left` below 0: too rare to jump over.
        return min(quiet, 0.0)
    x = s.left[r]
    grain = x * _ULP * (last - first) + s.inflow[r] * 1.000000001
    if x - ZERO < (quiet + 1.0) * grain:
        quiet = min(quiet, np.floor((x - ZERO) / grain) - 1.0)
    return max(quiet, 0.0)


@kernel
def jump(s: State, r: int, quanta: float, tally: bool) -> None:
    """Move reducer r on by quanta in which nothing ends."""
    first, last = s.first_flow[r], s.first_flow[r + 1]
    for i in range(first, last):
        b = s.step[i]
        if b > 0:
            s.remaining[i] = descend(s.remaining[i], b, quanta)
            s.full[i] += quanta
    s.left[r] = descend_row(s.left[r], s.step, first, last, quanta)
    if tally and s.tally[r] > 0:
        if s.tally[r] > (quanta + 1.0) * (s.inflow[r] * 1.000000001 + s.tally[r] * 1e-12):
            s.tally[r] = descend_row(s.tally[r], s.step, first, last, quanta)
        else:
            _lower_tally(s, r, quanta)


@kernel
def _lower_tally(s: State, r: int, quanta: float) -> None:
    """Lower the second tally, whose floor is 0, quantum by quantum."""
    while quanta > 0 and s.tally[r] > 0:
        x = s.tally[r]
        for i in range(s.first_flow[r], s.first_flow[r + 1]):
            x = max(0.0, x - s.step[i])
        if x == s.tally[r]:
            return
        s.tally[r] = x
        quanta -= 1.0


@kernel
def single_quantum(s: State, r: int, tally: bool) -> bool:
    """Move reducer r on by one quantum, flow by flow; True if it completed.

    The reducer is looked at after each flow: what later flows move in the same quantum takes
    `left`, 0 by then, below 0.
    """
    inflow = 0.0
    completed = False
    for i in range(s.first_flow[r], s.first_flow[r + 1]):
        if s.remaining[i] < 0:
            continue
        b = s.step[i]
        moved = min(b, s.remaining[i])
        s.remaining[i] -= moved
        s.left[r] -= moved
        if tally:
            s.tally[r] = max(0.0, s.tally[r] - moved)
        if moved == b:
            s.full[i] += 1.0
        else:
            s.part[i] = moved
        if s.remaining[i] <= ZERO:
            s.remaining[i] = GONE
            s.step[i] = 0.0
            s.live[r] -= 1
        else:
            inflow += b
        if s.done[r] == 0 and (s.left[r] <= ZERO or s.live[r] == 0):
            s.done[r] = 1
            s.left[r] = 0.0
            completed = True
    s.inflow[r] = inflow
    return completed


@kernel
def moves(s: State, r: int) -> bool:
    """Whether a flow of reducer r has a rate, or the reducer would complete as it is."""
    for i in range(s.first_flow[r], s.first_flow[r + 1]):
        if s.step[i] > 0:
            return True
    return s.done[r] == 0 and (s.left[r] <= ZERO or s.live[r] == 0)


@kernel
def advance_reducer(s: State, r: int, quanta: float, tally: bool) -> float:
    """Move reducer r on; return the quantum in which it completed, or 0."""
    completed = 0.0
    t = 0.0
    while t < quanta and moves(s, r):
        quiet = quiet_quanta(s, r, quanta - t)
        if quiet >= 1.0:
            jump(s, r, quiet, tally)
            t += quiet
        else:
            t += 1.0
            if single_quantum(s, r, tally):
                completed = t
    return completed


@kernel
def advance(s: State, k: int, quanta: float, attained: bool, tally: bool) -> bool:
    """Move coflow k on by whole quanta; True if it completed."""
    first, last = s.first_reducer[k], s.first_reducer[k + 1]
    if attained:
        s.full[s.first_flow[first] : s.first_flow[last]] = 0.0
        s.part[s.first_flow[first] : s.first_flow[last]] = 0.0
    for r in range(first, last):
        if s.done[r] != 2 and advance_reducer(s, r, quanta, tally) > 0:
            s.open[k] -= 1
    if attained:
        a, b = s.first_flow[first], s.first_flow[last]
        s.attained[k] = ascend_log(s.attained[k], s.rate[a:b], s.full[a:b], s.part[a:b], quanta)
    return s.open[k] == 0


@kernel
def due(s: State, k: int) -> float:
    """Lower bound (≥ 1) on the quanta until coflow k completes; infinite if it never does.

    A reducer is complete when its bytes are: their sum over the sum of its steps bounds both
    ways of completing from below, up to the noise that subtractions leave in the sum.
    """
    latest = 1.0
    for r in range(s.first_reducer[k], s.first_reducer[k + 1]):
        if s.done[r] == 0 and s.left[r] > ZERO and s.live[r] > 0:
            spare = s.left[r] - ZERO - s.noise[r]
            if not moves(s, r):
                return np.inf
            if spare > 0:
                latest = max(latest, np.floor(spare / (s.inflow[r] * 1.000000001)))
    return latest
