"""Numbers with their nouns, and times in words."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "point"), count(2, "point")
    ('1 point', '2 points')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def duration(seconds: float) -> str:
    """Return a time in words.

    >>> duration(0.2), duration(75), duration(7260), duration(86400)
    ('1 s', '75 s', '121 min', '24.0 h')
    """
    if seconds < 120:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3 * 3600 else f"{seconds / 3600:.1f} h"


def between(low: float, high: float) -> str:
    """Return a range of times in words, or one time where both read the same.

    >>> between(75, 75.2), between(240, 420), between(60, 420)
    ('75 s', '4–7 min', '60 s – 7 min')
    """
    first, second = duration(low), duration(high)
    if first == second:
        return second
    (number, unit), (_, last_unit) = first.split(), second.split()
    return f"{number}–{second}" if unit == last_unit else f"{first} – {second}"
