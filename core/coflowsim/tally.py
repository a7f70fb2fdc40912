"""What a row of flows moves, added up as the reference adds it up: move by move, to the last bit.

CoflowSim adds every move of every flow to the coflow's attained bytes, and subtracts it from what
is left of the reducer, quantum by quantum, in the order of the flows. Queues compare the one with
their thresholds and completions hang on the other, so their last bits count. An advance logs the
flows that end; from the log a tally is taken on a binade at a time (see `core.coflowsim.exact`).
"""

from __future__ import annotations

from core.coflowsim.exact import binade, row_amount, steps_inside
from core.coflowsim.state import UNTIL_END, State
from core.jit import inner
from core.trace import Ints

_HALF_ULP = 2.0**-53


@inner
def move_in(step: float, remaining: float, full: float, part: float, t: float) -> float:
    """Return what a flow moved in quantum t (from 0) of the advance."""
    if full == UNTIL_END:
        return step
    if full > t:
        return -remaining
    return part if full == t else 0.0


@inner
def tally_quantum(s: State, x: float, sign: float, first: int, last: int, t: float) -> float:
    """Add to x what flows first:last moved in quantum t, flow after flow."""
    for i in range(first, last):
        x += sign * move_in(s.step[i], s.remaining[i], s.full[i], s.part[i], t)
    return x


@inner
def sort_by_end(s: State, ended: Ints) -> None:
    """Sort flows that ended by the quantum in which they did (Shell's sort)."""
    gap = len(ended)
    while gap > 0:
        for i in range(gap, len(ended)):
            flow, j = ended[i], i
            while j >= gap and s.full[ended[j - gap]] > s.full[flow]:
                ended[j] = ended[j - gap]
                j -= gap
            ended[j] = flow
        gap = 1 if gap == 2 else (5 * gap - 1) // 11


@inner
def ended_amount(s: State, ended: Ints, low: float) -> tuple[float, bool]:
    """Sum of the last steps of flows that ended, each rounded, and whether that is safe to use."""
    total = 0.0
    safe = True
    half = low * _HALF_ULP
    for i in ended:
        b, part = -s.remaining[i], s.part[i]
        amount = (b + low) - low
        total += amount
        safe &= (b < low) & (abs(b - amount) != half)
        safe &= abs(part - ((part + low) - low)) != half
    return total, safe


@inner
def walk(
    s: State, ended: Ints, alive: float, low: float, room: float, t: float, until: float
) -> tuple[float, float]:
    """Go on from quantum t while the rounded moves add up to less than `room`.

    `alive` is what the flows that have not ended move in a quantum; `ended` are the others that
    still move, sorted. Return the quantum reached and the sum; both stay where rounding could
    differ from move to move.
    """
    moving, safe = ended_amount(s, ended, low)
    if not safe:
        return t, 0.0
    used, at = 0.0, 0
    while t < until:
        change = until
        if at < len(ended):
            change = min(until, s.full[ended[at]])
        if t < change:
            steps = steps_inside(room - used, alive + moving, change - t)
            used += steps * (alive + moving)
            t += steps
            if t < change or t == until:
                break
        parts = 0.0
        here = at
        while here < len(ended) and s.full[ended[here]] == t:
            i = ended[here]
            parts += (s.part[i] + low) - low
            moving -= (low - s.remaining[i]) - low
            here += 1
        if used + (alive + moving + parts) >= room:
            break
        used += alive + moving + parts
        t += 1.0
        at = here
    return t, used


@inner
def take_on(
    s: State,
    x: float,
    sign: float,
    ended: Ints,
    first: int,
    last: int,
    inflow: float,
    t: float,
    until: float,
) -> float:
    """Return the tally x after quanta t…until of an advance, `sign` times each move added.

    The moves are those of flows first:last; `ended` lists those that ended, sorted; `inflow` is
    the sum of the steps of the others, rounded somehow. Taken down, x must stay above 0.
    """
    steps = s.step[first:last]
    at = 0
    while t < until:
        while at < len(ended) and s.full[ended[at]] + (s.part[ended[at]] > 0) <= t:
            at += 1
        low = binade(x)
        alive, safe = row_amount(steps, inflow, low)
        if safe:
            room = 2.0 * low - x if sign > 0 else x - low
            reached, used = walk(s, ended[at:], alive, low, room, t, until)
            if reached > t:
                x += sign * used
                t = reached
                continue
        change = until
        if at < len(ended):
            change = min(until, s.full[ended[at]])
        once = tally_quantum(s, x, sign, first, last, t)
        t += 1.0
        if low == 0.0 or change - t <= 2.0:
            x = once
            continue
        x = tally_quantum(s, once, sign, first, last, t)
        t += 1.0
        if binade(once) == low and binade(x) == low:
            room = 2.0 * low - x if sign > 0 else x - low
            amount = abs(x - once)
            steps_on = steps_inside(room, amount, change - t)
            x += sign * (steps_on * amount)
            t += steps_on
    return x
