"""Move coflows on by whole quanta while their rates stand.

Between two recomputations every reducer evolves on its own: it is taken in jumps over which
none of its flows ends, and in single quanta around the ends.
"""

from __future__ import annotations

import numpy as np

from core.coflowsim.attained import attain
from core.coflowsim.exact import all_inside, descend, descend_inside, descend_row
from core.coflowsim.state import ZERO, State
from core.jit import inner
from core.trace import Floats

_ULP = 2.3e-16
"""A little more than the spacing of doubles, relative."""
_MORE = 1.0 + 1e-9
"""Covers the rounding of a sum of steps."""


@inner
def idle(s: State, r: int) -> bool:
    """Whether nothing of reducer r moves, nor would it complete as it is."""
    d = s.reducer[r]
    return not d.inflow > 0 and (d.done != 0 or d.left > ZERO)


@inner
def drift(s: State, r: int) -> float:
    """Bound on what rounding adds in a quantum to left − what the flows of reducer r hold [B]."""
    return s.reducer[r].left * _ULP * (s.reducer[r].last - s.reducer[r].first + 1)


@inner
def quiet_quanta(s: State, r: int, x: Floats, b: Floats, most: float) -> float:
    """Quanta ≤ most in which no flow of reducer r ends, nor the reducer; 0 if not known.

    `x` is what its flows hold, `b` their steps. The margin of an ulp a quantum and of one whole
    quantum covers what rounding can do.
    """
    if s.reducer[r].done != 0:
        # What the flows still hold takes `left` below 0: too rare to jump over.
        return 0.0
    grain = s.reducer[r].inflow * _MORE + drift(s, r)
    spare = s.reducer[r].left - ZERO
    quiet = most
    if spare < (quiet + 1.0) * grain:
        quiet = np.floor(spare / grain) - 1.0
    for i in range(len(x)):
        if b[i] > 0:
            spare, grain = x[i] - ZERO, b[i] + x[i] * _ULP
            if spare < (quiet + 1.0) * grain:
                quiet = np.floor(spare / grain) - 1.0
    return max(quiet, 0.0)


@inner
def glides(s: State, r: int, x: Floats, b: Floats, quanta: float) -> bool:
    """Whether in some quanta no flow of reducer r leaves its binade, ties aside, nor may r end."""
    d = s.reducer[r]
    if d.done != 0 or d.left - ZERO < (quanta + 1.0) * (d.inflow * _MORE + drift(s, r)):
        return False
    return all_inside(x, b, quanta, 2.0 * ZERO)


@inner
def lower_tally(s: State, r: int, b: Floats, quanta: float) -> None:
    """Take the steps `b` off the second tally of reducer r, whose floor is 0."""
    d = s.reducer[r]
    if d.tally > (quanta + 1.0) * (d.inflow * _MORE + d.tally * _ULP * (len(b) + 1)):
        d.tally = descend_row(d.tally, b, d.inflow, quanta)
        return
    before = np.inf
    while quanta > 0 and 0 < d.tally < before:
        before = d.tally
        for i in range(len(b)):
            d.tally = max(0.0, d.tally - b[i])
        quanta -= 1.0


@inner
def single_quantum(s: State, k: int, r: int, t: float, log: bool, tally: bool) -> None:
    """Move reducer r of coflow k on by one quantum, the t-th (from 0) of an advance.

    The reducer is looked at after each flow: what later flows move in the same quantum takes
    `left`, 0 by then, below 0.
    """
    d = s.reducer[r]
    inflow = 0.0
    d.noise += drift(s, r)
    for i in range(d.first, d.last):
        if s.remaining[i] < 0:
            continue
        b = s.step[i]
        moved = min(b, s.remaining[i])
        s.remaining[i] -= moved
        d.left -= moved
        if tally:
            d.tally = max(0.0, d.tally - moved)
        if s.remaining[i] <= ZERO:
            end_flow(s, k, r, i, t, moved, log)
        else:
            inflow += b
        if d.done == 0 and (d.left <= ZERO or d.live == 0):
            d.done = 1
            d.left = 0.0
            s.coflow[k].open -= 1
    d.inflow = inflow


@inner
def end_flow(s: State, k: int, r: int, i: int, t: float, moved: float, log: bool) -> None:
    """Take flow i out of reducer r and log what it moved in its last quantum t."""
    if log:
        whole = moved == s.step[i]
        s.full[i] = t + 1.0 if whole else t
        s.part[i] = 0.0 if whole else moved
        c = s.coflow[k]
        s.ended[s.reducer[c.first].first + c.ended] = i
        c.ended += 1
    s.remaining[i] = -s.step[i]
    s.step[i] = 0.0
    s.reducer[r].live -= 1


@inner
def advance_reducer(s: State, k: int, r: int, quanta: float, log: bool, tally: bool) -> None:
    """Move reducer r of coflow k on."""
    d = s.reducer[r]
    x, b = s.remaining[d.first : d.last], s.step[d.first : d.last]
    t = 0.0
    while t < quanta and not idle(s, r):
        quiet = quanta - t
        if glides(s, r, x, b, quiet):
            descend_inside(x, b, quiet)
        else:
            quiet = quiet_quanta(s, r, x, b, quiet)
            if quiet < 1.0:
                single_quantum(s, k, r, t, log, tally)
                t += 1.0
                continue
            for i in range(len(x)):
                if b[i] > 0:
                    x[i] = descend(x[i], b[i], quiet)
        d.noise += quiet * drift(s, r)
        d.left = descend_row(d.left, b, d.inflow, quiet)
        if tally:
            lower_tally(s, r, b, quiet)
        t += quiet


@inner
def advance(s: State, k: int, quanta: float, queues: bool, tally: bool) -> bool:
    """Move coflow k on by whole quanta; True if it completed."""
    c = s.coflow[k]
    log = queues and c.queue < c.lowest
    inflow = 0.0
    moving = False
    for r in range(c.first, c.last):
        if s.reducer[r].done != 2 and not idle(s, r):
            moving = True
            advance_reducer(s, k, r, quanta, log, tally)
            inflow += s.reducer[r].inflow
    if log and moving:
        attain(s, k, quanta, s.reducer[c.first].first, s.reducer[c.last - 1].last, inflow)
    return c.open == 0


@inner
def due(s: State, k: int) -> float:
    """Lower bound (≥ 1) on the quanta until coflow k completes; infinite if it never does.

    A reducer is complete when its bytes are, or when its flows have ended: its bytes over the sum
    of its steps bound both from below, up to ZERO a flow and the noise of subtractions.
    """
    latest = 1.0
    for r in range(s.coflow[k].first, s.coflow[k].last):
        d = s.reducer[r]
        if d.done == 0 and d.left > ZERO:
            if not d.inflow > 0:
                return np.inf
            spare = d.left - d.noise - ZERO * (d.last - d.first + 1)
            latest = max(latest, np.floor(spare / (d.inflow * _MORE + drift(s, r))))
    return latest


@inner
def due_by_flow(s: State, k: int) -> float:
    """Tighter bound than `due`: no reducer completes before its slowest flow ends."""
    latest = 1.0
    for r in range(s.coflow[k].first, s.coflow[k].last):
        d = s.reducer[r]
        if d.done == 0 and d.left > ZERO:
            margin = d.noise + ZERO * (d.last - d.first + 1)
            grain = drift(s, r)
            for i in range(d.first, d.last):
                spare = s.remaining[i] - margin
                if spare > latest * (s.step[i] * _MORE + grain):
                    if s.step[i] == 0:
                        return np.inf
                    latest = np.floor(spare / (s.step[i] * _MORE + grain))
    return latest
