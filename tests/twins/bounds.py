"""SRPT at one port, with exact fractions and nothing clever."""

from __future__ import annotations

from fractions import Fraction

Jobs = list[tuple[int, Fraction]]
"""Arrival and work of each job, in the same unit of time."""


def naive_srpt(jobs: Jobs) -> Fraction:
    """Total flow time: at every event, look at everything."""
    left = [work for _, work in jobs]
    now, total = Fraction(0), Fraction(0)
    while any(left):
        present = [j for j, (arrival, _) in enumerate(jobs) if left[j] > 0 and arrival <= now]
        later = [Fraction(arrival) for arrival, _ in jobs if arrival > now]
        if not present:
            now = min(later)
            continue
        shortest = min(present, key=lambda j: left[j])
        step = min([left[shortest], *(t - now for t in later)])
        left[shortest] -= step
        now += step
        total += step * len(present)
    return total
