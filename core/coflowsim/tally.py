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
def sort_by_end(s: State, begin: int, end: int) -> None:
    """Sort entries begin:end of the log by the quanta that the flows moved whole (Shell's sort)."""
    gap = end - begin
    while gap > 0:
        for i in range(begin + gap, end):
            flow, j = s.ended[i], i
            while j - gap >= begin and s.full[s.ended[j - gap]] > s.full[flow]:
                s.ended[j] = s.ended[j - gap]
                j -= gap
            s.ended[j] = flow
        gap = 1 if gap == 2 else (5 * gap - 1) // 11


@inner
def ended_amount(s: State, begin: int, end: int, low: float) -> tuple[float, bool]:
    """Sum of the last steps of flows that ended, each rounded, and whether that is safe to use."""
    total = 0.0
    safe = True
    half = low * _HALF_ULP
    for at in range(begin, end):
        i = s.ended[at]
        b, part = -s.remaining[i], s.part[i]
        amount = (b + low) - low
        total += amount
        safe &= (b < low) & (abs(b - amount) != half)
        safe &= abs(part - ((part + low) - low)) != half
    return total, safe


@inner
def walk(
    s: State, begin: int, end: int, alive: float, low: float, room: float, t: float, until: float
) -> tuple[float, float]:
    """Go on from quantum t while the rounded moves add up to less than `room`.

    `alive` is what the flows that have not ended move in a quantum; `ended` are the others that
    still move, sorted. Return the quantum reached and the sum; a sum of −1 where rounding could
    differ from move to move.
    """
    moving, safe = ended_amount(s, begin, end, low)
    if not safe:
        return t, -1.0
    used, at = 0.0, begin
    while t < until:
        change = until
        if at < end:
            change = min(until, s.full[s.ended[at]])
        if t < change:
            steps = steps_inside(room - used, alive + moving, change - t)
            used += steps * (alive + moving)
            t += steps
            if t < change or t == until:
                break
        parts = 0.0
        here = at
        while here < end and s.full[s.ended[here]] == t:
            i = s.ended[here]
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
    begin: int,
    end: int,
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
    while t < until:
        while begin < end and s.full[s.ended[begin]] + (s.part[s.ended[begin]] > 0) <= t:
            begin += 1
        low = binade(x)
        alive, safe = row_amount(s.step, first, last, inflow, low)
        if safe:
            room = 2.0 * low - x if sign > 0 else x - low
            reached, used = walk(s, begin, end, alive, low, room, t, until)
            if reached > t:
                x += sign * used
                t = reached
                continue
            safe = used >= 0
        change = until
        if begin < end:
            change = min(until, s.full[s.ended[begin]])
        once = tally_quantum(s, x, sign, first, last, t)
        t += 1.0
        if safe or low == 0.0 or change - t <= 2.0:
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
