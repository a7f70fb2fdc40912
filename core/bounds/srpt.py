"""Preemptive SRPT on one machine: no schedule has a smaller sum of completion times.

Source: L. Schrage, A Proof of the Optimality of the Shortest Remaining Processing Time
Discipline, Operations Research 1968.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.jit import inner, kernel
from core.trace import Floats, Ints


def srpt_flow_time(arrival_s: npt.ArrayLike, work_s: npt.ArrayLike) -> float:
    """Total time in the system under preemptive SRPT on one machine, in O(n log n).

    Parameters
    ----------
    arrival_s : array_like, shape (n,)
        [s], in any order.
    work_s : array_like, shape (n,)
        Processing times [s], ≥ 0.

    Examples
    --------
    The short job overtakes: 2 s for it, 1 + 2 + 9 s for the long one.

    >>> srpt_flow_time([0, 1], [10, 2])
    14.0
    """
    arrival, work = np.asarray(arrival_s, np.float64), np.asarray(work_s, np.float64)
    order = np.argsort(arrival, kind="stable")
    return float(total_flow_time(arrival[order], work[order], len(order), np.empty(len(order))))


@kernel
def total_flow_time(arrival: Floats, work: Floats, jobs: int, heap: Floats) -> float:
    """Total flow time [s] of the first `jobs` jobs, sorted by arrival.

    The time is added up as (jobs present) × (time passed): nothing large is subtracted.
    """
    total, now, present = 0.0, 0.0, 0
    for j in range(jobs + 1):
        until = arrival[j] if j < jobs else np.inf
        while present > 0:
            shortest = heap[0]
            if now + shortest > until:
                total += present * (until - now)
                heap[0] = max(shortest - (until - now), 0.0)
                break
            total += present * shortest
            now += shortest
            present -= 1
            _sift_down(heap, present)
        if j < jobs:
            now = until
            _sift_up(heap, present, work[j])
            present += 1
    return total


@inner
def _sift_up(heap: Floats, i: int, value: float) -> None:
    """Add `value` to a heap of i values."""
    while i > 0 and heap[(i - 1) // 2] > value:
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = value


@inner
def _sift_down(heap: Floats, n: int) -> None:
    """Remove the smallest of n + 1 values."""
    value, i, child = heap[n], 0, 1
    while child < n:
        if child + 1 < n and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[i] = heap[child]
        i, child = child, 2 * child + 1
    heap[i] = value


@kernel
def srpt_by_port(arrival: Floats, work: Floats, starts: Ints) -> Floats:
    """SRPT of each port's jobs [s]; jobs of port p are ``starts[p]:starts[p + 1]``."""
    total = np.zeros(len(starts) - 1)
    heap = np.empty(len(arrival))
    for p in range(len(total)):
        jobs = slice(starts[p], starts[p + 1])
        total[p] = total_flow_time(arrival[jobs], work[jobs], starts[p + 1] - starts[p], heap)
    return total
