"""Attained service: the bytes that a coflow has sent, summed as the reference sums them.

CoflowSim adds every move of every flow to one double, quantum by quantum, in the order of the
flows. A-SEBF and Aalo compare that double with their thresholds, so its last bit counts. An
advance logs the flows that end; here its quanta are added up, a binade of the sum at a time (see
`core.coflowsim.exact`).
"""

from __future__ import annotations

import numpy as np

from core.coflowsim.exact import binade, row_amount, steps_inside
from core.coflowsim.state import UNTIL_END, State
from core.jit import inner
from core.trace import Floats, Ints


@inner
def logged(s: State, ended: Ints, low: float, t: float, until: float) -> tuple[float, bool]:
    """Bytes that the flows that ended moved in quanta t…until, rounded move by move; safe?"""
    total = 0.0
    safe = True
    half = low * 2.0**-53
    for i in ended:
        steps = min(s.full[i], until) - t
        if steps > 0:
            b = -s.remaining[i]
            amount = (b + low) - low
            total += steps * amount
            safe &= (b < low) & (abs(b - amount) != half)
        if s.part[i] > 0 and t <= s.full[i] < until:
            b = s.part[i]
            amount = (b + low) - low
            total += amount
            safe &= (b < low) & (abs(b - amount) != half)
    return total, safe


@inner
def add_quantum(s: State, x: float, first: int, last: int, t: float) -> float:
    """Add what flows first:last moved in quantum t (from 0), flow after flow."""
    for i in range(first, last):
        if s.full[i] == UNTIL_END:
            x += s.step[i]
        elif s.full[i] > t:
            x -= s.remaining[i]
        elif s.full[i] == t:
            x += s.part[i]
    return x


@inner
def next_change(full: Floats, ended: Ints, t: float, until: float) -> float:
    """First quantum after t from which on other flows move than in quantum t."""
    for i in ended:
        if full[i] > t:
            until = min(until, full[i])
        elif full[i] == t:
            until = min(until, t + 1.0)
    return until


@inner
def inside(
    s: State, ended: Ints, x: float, alive: float, low: float, t: float, quanta: float
) -> tuple[float, bool]:
    """Last quantum up to which x stays in its binade, by bisection, and whether that is exact.

    `alive` is what the flows that have not ended add in a quantum.
    """
    total, safe = logged(s, ended, low, t, quanta)
    if x + (alive * (quanta - t) + total) < 2.0 * low:
        return quanta, safe
    below, above = t, quanta
    while above - below > 1.0:
        middle = np.floor(0.5 * (below + above))
        total = logged(s, ended, low, t, middle)[0]
        if x + (alive * (middle - t) + total) < 2.0 * low:
            below = middle
        else:
            above = middle
    return below, safe


@inner
def attain(s: State, k: int, quanta: float, first: int, last: int, inflow: float) -> None:
    """Add to coflow k's attained bytes what its flows first:last moved in an advance.

    `inflow` is the sum of the steps of the flows that have not ended.
    """
    ended = s.ended[first : first + s.coflow[k].ended]
    steps = s.step[first:last]
    x = s.coflow[k].attained
    t = 0.0
    while t < quanta:
        low = binade(x)
        alive, safe = row_amount(steps, inflow, low)
        if x > 0 and safe:
            reach, safe = inside(s, ended, x, alive, low, t, quanta)
            if safe and reach > t:
                x += alive * (reach - t) + logged(s, ended, low, t, reach)[0]
                t = reach
                continue
        change = next_change(s.full, ended, t, quanta)
        once = add_quantum(s, x, first, last, t)
        t += 1.0
        if x > 0 and change - t > 2.0:
            x = add_quantum(s, once, first, last, t)
            t += 1.0
            if x < 2.0 * low:
                steps_on = steps_inside(2.0 * low - x, x - once, change - t)
                x += steps_on * (x - once)
                t += steps_on
        else:
            x = once
    for i in ended:
        s.full[i] = UNTIL_END
    s.coflow[k].ended = 0
    s.coflow[k].attained = x
