"""Move coflows on by whole quanta while their rates stand.

Between two recomputations every flow evolves on its own, and every reducer: first its flows are
taken on, those that end are logged, then its tallies follow from the log. Only around the end of
a reducer the quanta are carried out one by one.
"""

from __future__ import annotations

import numpy as np

from core.coflowsim.exact import all_inside, descend, descend_inside
from core.coflowsim.state import MORE, ULP, UNTIL_END, ZERO, State
from core.coflowsim.tally import move_in, sort_by_end, take_on
from core.jit import inner


@inner
def idle(s: State, r: int) -> bool:
    """Whether nothing of reducer r moves, nor would it complete as it is."""
    d = s.reducer[r]
    return d.done == 2 or (not d.inflow > 0 and (d.done == 1 or d.left > ZERO))


@inner
def drift(s: State, r: int) -> float:
    """Bound on what rounding adds in a quantum to left − what the flows of reducer r hold [B]."""
    return float(s.reducer[r].left * ULP * (s.reducer[r].last - s.reducer[r].first + 1))


@inner
def run_flow(x: float, b: float, quanta: float) -> tuple[float, float, float]:
    """Move a flow that holds x on by b a quantum, to its end if that comes first.

    Return what it holds then, the quanta in which it moved b, and what it moved in the next.
    """
    t = 0.0
    while t < quanta and x > ZERO:
        grain = b + x * ULP
        # A quantum less than would fit: the margin for what rounding can do.
        quiet = quanta - t
        if x - ZERO < (quiet + 1.0) * grain:
            quiet = float(np.floor((x - ZERO) / grain)) - 1.0
        if quiet >= 1.0:
            x = descend(x, b, quiet)
            t += quiet
        elif x < b:
            return 0.0, t, x
        else:
            x -= b
            t += 1.0
    return x, t, 0.0


@inner
def run_flows(s: State, k: int, r: int, quanta: float) -> int:
    """Move the flows of reducer r on; log those that end and return how many."""
    c, d = s.coflow[k], s.reducer[r]
    at = s.reducer[c.first].first + c.ended
    inflow, count = 0.0, 0
    x, b, after, full, part = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(d.first, d.last):
        if not s.step[i] > 0:
            continue
        if s.remaining[i] != x or s.step[i] != b:  # most flows of a reducer are equal
            x, b = s.remaining[i], s.step[i]
            after, full, part = run_flow(x, b, quanta)
        if after > ZERO:
            s.remaining[i] = after
            inflow += b
        else:
            s.remaining[i] = -b
            s.step[i] = 0.0
            s.full[i] = full
            s.part[i] = part
            s.ended[at + count] = i
            count += 1
    d.inflow = inflow
    d.live -= count
    sort_by_end(s, at, at + count)
    return count


@inner
def held_before(s: State, r: int, begin: int, end: int, t: float) -> float:
    """Bytes that the flows of reducer r held before quantum t of the advance; a lower bound."""
    total = 0.0
    for i in range(s.reducer[r].first, s.reducer[r].last):
        if s.full[i] == UNTIL_END:
            total += max(s.remaining[i], 0.0)
    for at in range(begin, end):
        i = s.ended[at]
        total += max((s.full[i] - t) * -s.remaining[i] + s.part[i], 0.0)
    return total * (1.0 - 1e-9)


@inner
def last_quantum(s: State, begin: int, end: int, quanta: float) -> float:
    """Quanta up to which a flow of a reducer may still have moved."""
    latest = 0.0
    for at in range(begin, end):
        i = s.ended[at]
        latest = max(latest, s.full[i] + (s.part[i] > 0))
    return min(latest, quanta)


@inner
def open_until(s: State, r: int, begin: int, end: int, quanta: float) -> float:
    """Quanta (≤ some) after which reducer r is not complete for certain."""
    d = s.reducer[r]
    if d.done != 0 or d.left <= ZERO:
        return 0.0
    margin = d.noise + (quanta + 1.0) * drift(s, r) + ZERO * (d.last - d.first + 2)
    if held_before(s, r, begin, end, quanta) > margin:
        return quanta
    t = last_quantum(s, begin, end, quanta)
    back = 1.0
    while t > back and not held_before(s, r, begin, end, t - back) > margin:
        back *= 2.0
    return max(t - back, 0.0)


@inner
def finish_reducer(s: State, k: int, r: int, begin: int, end: int, t: float, quanta: float) -> None:
    """Carry out quanta t… of an advance one by one and complete reducer r when it is.

    The reducer is looked at after each flow: what later flows move, in the same quantum and after
    it, takes `left`, 0 by then, below 0.
    """
    d = s.reducer[r]
    live = d.live
    for at in range(begin, end):
        i = s.ended[at]
        live += s.full[i] + (s.part[i] > 0) > t
    while t < quanta:
        moving = False
        for i in range(d.first, d.last):
            if s.remaining[i] < 0 and s.full[i] == UNTIL_END:
                continue  # ended in an earlier advance
            moved = move_in(s.step[i], s.remaining[i], s.full[i], s.part[i], t)
            d.left -= moved
            moving |= moved > 0
            if s.full[i] + (s.part[i] > 0) == t + 1.0:
                live -= 1
            if d.done == 0 and (d.left <= ZERO or live == 0) and not s.full[i] < t:
                d.done = 1
                d.left = 0.0
                s.coflow[k].open -= 1
        if not moving:
            return
        t += 1.0


@inner
def lower_tally(s: State, r: int, begin: int, end: int, quanta: float) -> None:
    """Take what reducer r moved off its second tally, whose floor is 0."""
    d = s.reducer[r]
    t = 0.0
    while t < quanta and d.tally > 0:
        most = d.inflow
        for at in range(begin, end):
            i = s.ended[at]
            if s.full[i] + (s.part[i] > 0) > t:
                most -= s.remaining[i]
        if not most > 0:
            return
        grain = most * MORE + d.tally * ULP * (d.last - d.first + 1)
        far = min(quanta, t + np.floor(d.tally / grain) - 1.0)
        if far > t:
            d.tally = take_on(s, d.tally, -1.0, begin, end, d.first, d.last, d.inflow, t, far)
            t = far
            continue
        before = d.tally
        for i in range(d.first, d.last):
            moved = move_in(s.step[i], s.remaining[i], s.full[i], s.part[i], t)
            d.tally = max(0.0, d.tally - moved)
        t += 1.0
        if d.tally == before:
            return


@inner
def glides(s: State, r: int, quanta: float) -> bool:
    """Whether in some quanta no flow of reducer r leaves its binade, ties aside, nor may r end."""
    d = s.reducer[r]
    if d.done != 0 or d.left - ZERO < (quanta + 1.0) * (d.inflow * MORE + drift(s, r)):
        return False
    return all_inside(s.remaining, s.step, d.first, d.last, quanta, 2.0 * ZERO)


@inner
def advance_reducer(s: State, k: int, r: int, quanta: float, log: bool, tally: bool) -> None:
    """Move reducer r of coflow k on; keep the log of its flows that ended if asked to."""
    d = s.reducer[r]
    begin = s.reducer[s.coflow[k].first].first + s.coflow[k].ended
    end, t = begin, quanta
    if glides(s, r, quanta):
        descend_inside(s.remaining, s.step, d.first, d.last, quanta)
    else:
        end += run_flows(s, k, r, quanta)
        t = open_until(s, r, begin, end, quanta)
    d.noise += quanta * drift(s, r)
    if tally:
        lower_tally(s, r, begin, end, quanta)
    d.left = take_on(s, d.left, -1.0, begin, end, d.first, d.last, d.inflow, 0.0, t)
    if t < quanta:
        finish_reducer(s, k, r, begin, end, t, quanta)
    if log:
        s.coflow[k].ended += end - begin
    else:
        for at in range(begin, end):
            s.full[s.ended[at]] = UNTIL_END


@inner
def attain(s: State, k: int, quanta: float) -> None:
    """Add what coflow k moved in an advance to its attained bytes."""
    c = s.coflow[k]
    first, last = s.reducer[c.first].first, s.reducer[c.last - 1].last
    end = first + c.ended
    sort_by_end(s, first, end)
    inflow = 0.0
    for r in range(c.first, c.last):
        inflow += s.reducer[r].inflow
    c.attained = take_on(s, c.attained, 1.0, first, end, first, last, inflow, 0.0, quanta)
    for at in range(first, end):
        s.full[s.ended[at]] = UNTIL_END
    c.ended = 0


@inner
def advance(s: State, k: int, quanta: float, queues: bool, tally: bool) -> bool:
    """Move coflow k on by whole quanta; True if it completed."""
    c = s.coflow[k]
    log = queues and c.queue < c.lowest
    moving = False
    for r in range(c.first, c.last):
        if not idle(s, r):
            moving = True
            advance_reducer(s, k, r, quanta, log, tally)
    if log and moving:
        attain(s, k, quanta)
    return bool(c.open == 0)
