"""Repeated subtraction and addition in doubles, many steps at once, to the last bit.

CoflowSim subtracts what a flow moved quantum by quantum, and the rounding noise of millions of
subtractions decides in which quantum a flow ends. Inside one binade ``[low, 2·low)`` of the
accumulator all doubles are multiples of one ulp, so subtracting b removes b rounded to that ulp:
always the same amount, unless b lies exactly half-way between two multiples. Then the first step
ends on an even multiple, and from there on the amount is constant again. So a binade is crossed
in one multiplication, and only the step that leaves it is carried out as such.
"""

from __future__ import annotations

import numpy as np

from core.jit import kernel
from core.trace import Floats

_EXPONENT = 0x7FF0000000000000
_HALF_ULP = 2.0**-53


@kernel
def binade(x: float) -> float:
    """Largest power of two ≤ x, for a normal x > 0."""
    return np.int64(np.float64(x).view(np.int64) & _EXPONENT).view(np.float64)  # type: ignore


@kernel
def steps_inside(room: float, amount: float, most: float) -> float:
    """Largest whole number of steps ≤ most that take up strictly less than the room."""
    if room <= 0:
        return 0.0
    if amount * most < room:
        return most
    steps = np.floor(room / amount)
    while steps > 0 and steps * amount >= room:
        steps -= 1.0
    return steps


@kernel
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


@kernel
def row_amount(step: Floats, first: int, last: int, low: float) -> tuple[float, bool]:
    """Sum of the steps, each rounded to the ulp of the binade, and whether that is safe to use.

    Not safe where a step is as large as the binade or lies half-way between two multiples.
    """
    total = 0.0
    safe = True
    half = low * _HALF_ULP
    for i in range(first, last):
        b = step[i]
        amount = (b + low) - low
        total += amount
        safe &= (b < low) & (abs(b - amount) != half)
    return total, safe


@kernel
def row_step(x: float, step: Floats, first: int, last: int) -> float:
    """One quantum as it is: subtract the steps one after the other, in order."""
    for i in range(first, last):
        x -= step[i]
    return x


@kernel
def descend_row(x: float, step: Floats, first: int, last: int, n: float) -> float:
    """Return x after n quanta in each of which all steps of a row are subtracted in order.

    No step may take x to 0 or below.
    """
    while n > 0:
        low = binade(x)
        amount, safe = row_amount(step, first, last, low)
        jump = 0.0
        if safe:
            jump = steps_inside(x - low, amount, n)
        elif n > 2:
            once = row_step(x, step, first, last)
            twice = row_step(once, step, first, last)
            if twice > low:
                x = twice
                n -= 2.0
                amount = once - twice
                jump = steps_inside(x - low, amount, n)
        if jump > 0:
            x -= jump * amount
            n -= jump
        else:
            once = row_step(x, step, first, last)
            if once == x:
                return x
            x = once
            n -= 1.0
    return x
