"""Repeated subtraction and addition in doubles, many steps at once, to the last bit.

CoflowSim subtracts what a flow moved quantum by quantum, and the rounding noise of millions of
subtractions decides in which quantum a flow ends. Inside one binade ``[low, 2·low)`` of the
accumulator all doubles are multiples of one ulp, so subtracting b removes b rounded to that ulp:
always the same amount, unless b lies exactly half-way between two multiples. Then the first step
ends on an even multiple, and from there on the amount is constant again. So a binade is crossed
in one multiplication, and only the step that leaves it is carried out as such.

Sums of such amounts are taken in whole ulps: the bits of a double count them, and integers may be
added in any order, so the compiler can use vector instructions where doubles forbid it.
"""

from __future__ import annotations

import numpy as np

from core.jit import inner
from core.trace import Floats

_EXPONENT = 0x7FF0000000000000
_HALF_ULP = 2.0**-53
_ULP = 2.0**-52


@inner
def binade(x: float) -> float:
    """Largest power of two ≤ x, for a normal x > 0."""
    return np.int64(np.float64(x).view(np.int64) & _EXPONENT).view(np.float64)


@inner
def steps_inside(room: float, amount: float, most: float) -> float:
    """Largest whole number of steps ≤ most that take up strictly less than the room."""
    if room <= 0:
        return 0.0
    if amount * most < room:
        return most
    steps = float(np.floor(room / amount))
    while steps > 0 and steps * amount >= room:
        steps -= 1.0
    return steps


@inner
def descend(x: float, b: float, n: float) -> float:
    """Return x after n times ``x -= b``; no step may take x to 0 or below."""
    while n > 0:
        low = binade(x)
        amount = (b + low) - low
        jump = 0.0
        if b < low and abs(b - amount) != low * _HALF_ULP:
            jump = steps_inside(x - low, amount, n)
        elif b < low and n > 2:
            once = x - b
            twice = once - b
            if twice > low:
                x = twice
                n -= 2.0
                amount = once - twice
                jump = steps_inside(x - low, amount, n)
        if jump > 0:
            x -= jump * amount
            n -= jump
        elif x - b == x:
            return x
        else:
            x -= b
            n -= 1.0
    return x


@inner
def all_inside(x: Floats, b: Floats, n: float, floor: float) -> bool:
    """Whether n steps leave each x above its binade's low end, that above a floor, without ties.

    Where b is 0, x may be anything.
    """
    outside = np.int64(0)
    for i in range(len(x)):
        low = np.int64(np.float64(x[i]).view(np.int64) & _EXPONENT).view(np.float64)
        amount = (b[i] + low) - low
        leaves = x[i] - n * amount <= low
        tie = abs(b[i] - amount) == low * _HALF_ULP
        outside |= np.int64((b[i] > 0) & (leaves | tie | (low < floor)))
    return bool(outside == 0)


@inner
def descend_inside(x: Floats, b: Floats, n: float) -> None:
    """Take n steps in each x, all of which stay in their binades."""
    for i in range(len(x)):
        low = np.int64(np.float64(x[i]).view(np.int64) & _EXPONENT).view(np.float64)
        x[i] -= n * ((b[i] + low) - low)


@inner
def row_amount(steps: Floats, total: float, low: float) -> tuple[float, bool]:
    """Sum of the steps, each rounded to the ulp of the binade, and whether that is safe to use.

    `total` is the sum of the steps, rounded somehow. Not safe where the steps together are as
    large as the binade or one of them lies half-way between two multiples.
    """
    if total >= low:
        return total, False
    zero = np.float64(low).view(np.int64)
    half = low * _HALF_ULP
    ulps, ties = np.int64(0), np.int64(0)
    for i in range(len(steps)):
        above = steps[i] + low
        ulps += np.float64(above).view(np.int64) - zero
        ties |= np.int64(abs(steps[i] - (above - low)) == half)
    return ulps * (low * _ULP), ties == 0
