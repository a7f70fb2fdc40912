"""Attained service: the bytes that a coflow has sent, summed as the reference sums them.

CoflowSim adds every move of every flow to one double, quantum by quantum, in the order of the
flows. A-SEBF and Aalo compare that double with their thresholds, so its last bit counts. An
advance logs per flow how many whole steps it moved and what it moved last; here the log is added
up, a binade of the sum at a time (see `core.coflowsim.exact`).
"""

from __future__ import annotations

import numpy as np

from core.coflowsim.exact import binade, steps_inside
from core.jit import kernel
from core.trace import Floats


@kernel
def logged(
    rate: Floats, full: Floats, part: Floats, low: float, t: float, until: float
) -> tuple[float, bool]:
    """Bytes logged in quanta t…until, each move rounded to the binade's ulp; is that safe?"""
    total = 0.0
    safe = True
    half = low * 2.0**-53
    for i in range(len(rate)):
        steps = min(full[i], until) - t
        if steps > 0:
            b = rate[i] * 2.0**-10
            amount = (b + low) - low
            total += steps * amount
            safe &= (b < low) & (abs(b - amount) != half)
        if part[i] > 0 and t <= full[i] < until:
            b = part[i]
            amount = (b + low) - low
            total += amount
            safe &= (b < low) & (abs(b - amount) != half)
    return total, safe


@kernel
def log_step(x: float, rate: Floats, full: Floats, part: Floats, t: float) -> float:
    """Add what was moved in quantum t (from 0), flow after flow."""
    for i in range(len(rate)):
        if full[i] > t:
            x += rate[i] * 2.0**-10
        elif full[i] == t:
            x += part[i]
    return x


@kernel
def next_change(full: Floats, t: float, until: float) -> float:
    """First quantum after t from which on other flows move than in quantum t."""
    for i in range(len(full)):
        if full[i] > t:
            until = min(until, full[i])
        elif full[i] == t:
            until = min(until, t + 1.0)
    return until


@kernel
def crossing(x: float, rate: Floats, full: Floats, part: Floats, t: float, quanta: float) -> float:
    """Last quantum up to which x stays in its binade; found by bisection."""
    low = binade(x)
    below, above = t, quanta
    while above - below > 1.0:
        middle = np.floor(0.5 * (below + above))
        if x + logged(rate, full, part, low, t, middle)[0] < 2.0 * low:
            below = middle
        else:
            above = middle
    return below


@kernel
def ascend_log(x: float, rate: Floats, full: Floats, part: Floats, quanta: float) -> float:
    """Add everything logged to x in the order of quanta and flows, to the last bit."""
    t = 0.0
    while t < quanta:
        if x > 0:
            low = binade(x)
            total, safe = logged(rate, full, part, low, t, quanta)
            if total == 0.0 and safe:
                return x
            if safe:
                reach = quanta
                if x + total >= 2.0 * low:
                    reach = crossing(x, rate, full, part, t, quanta)
                if reach > t:
                    x += logged(rate, full, part, low, t, reach)[0]
                    t = reach
                    continue
            change = next_change(full, t, quanta)
            if change - t > 3.0:
                once = log_step(x, rate, full, part, t)
                twice = log_step(once, rate, full, part, t + 1.0)
                x = twice
                t += 2.0
                if twice < 2.0 * low:
                    steps = steps_inside(2.0 * low - x, twice - once, change - t)
                    x += steps * (twice - once)
                    t += steps
                continue
        x = log_step(x, rate, full, part, t)
        t += 1.0
    return x
