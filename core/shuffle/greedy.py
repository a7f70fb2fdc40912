"""List scheduling: each item in turn to the bucket with the least load."""

from __future__ import annotations

import numpy as np

from core.jit import kernel
from core.shuffle.draws import Floats, Ints


def least_loaded(sizes: Floats, loads: Floats) -> Ints:
    """Return the bucket of each item, placed in the order given; of equal loads the first.

    Parameters
    ----------
    sizes : array of float64, shape (items,)
    loads : array of float64, shape (n,)
        Loads to start from.

    >>> least_loaded(np.array([3.0, 2.0, 2.0]), np.zeros(2)).tolist()
    [0, 1, 1]
    """
    out = np.empty(len(sizes), np.int64)
    _assign(sizes, loads, np.lexsort((np.arange(len(loads)), loads)), out)
    return out


@kernel
def _assign(sizes: Floats, loads: Floats, heap: Ints, out: Ints) -> None:
    """Keep the buckets in a heap by (load, number); `heap` comes sorted."""
    load = loads.copy()
    for i in range(len(sizes)):
        bucket = heap[0]
        out[i] = bucket
        load[bucket] += sizes[i]
        at = 0
        while 2 * at + 1 < len(heap):
            child = 2 * at + 1
            if child + 1 < len(heap):
                a, b = heap[child], heap[child + 1]
                if load[b] < load[a] or (load[b] == load[a] and b < a):
                    child += 1
            below = heap[child]
            if load[bucket] < load[below] or (load[bucket] == load[below] and bucket < below):
                break
            heap[at] = below
            at = child
        heap[at] = bucket
