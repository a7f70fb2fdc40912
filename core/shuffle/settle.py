"""Where loads settle when each record may go to one of two buckets, the less loaded one."""

from __future__ import annotations

import numpy as np

from core.jit import kernel
from core.shuffle.draws import Floats, Ints

UPDATES = 2e8
"""Most steps of evening out: seconds."""
TOLERANCE = 1e-7
"""Share of the mean load by which nothing moves any more."""


@kernel
def _even_out(
    one: Ints, other: Ints, weight: Floats, on_one: Floats, load: Floats, sweeps: int, close: float
) -> None:
    """Even out two buckets at a time, over all pairs again and again, until nothing moves."""
    for _ in range(sweeps):
        moved = 0.0
        for e in range(len(weight)):
            move = (load[other[e]] - load[one[e]]) / 2
            move = min(max(move, -on_one[e]), weight[e] - on_one[e])
            on_one[e] += move
            load[one[e]] += move
            load[other[e]] -= move
            moved = max(moved, abs(move))
        if moved <= close:
            break


def shares(one: Ints, other: Ints, records: Ints, buckets: int) -> Floats:
    """Return the share of each key that its first bucket gets, where records come well mixed.

    The loads tend to the most even ones that the pairs allow: where a pair of buckets has
    records on both sides, the two have equal loads. They are unique, and those of single records
    to a few per cent. How the pairs share in making them even is not: here all start from
    halves, and keys with the same two buckets are equivalent, so that the number of keys on two
    buckets is an estimate.

    Parameters
    ----------
    one, other : array of int64, shape (K,)
        The two buckets of each key; may be the same.
    records : array of int64, shape (K,)
    buckets : int
    """
    pair, at = np.unique(
        np.minimum(one, other) * buckets + np.maximum(one, other), return_inverse=True
    )
    low, high = pair // buckets, pair % buckets
    weight = np.bincount(at, records, len(pair)).astype(np.float64, copy=False)
    on_low = weight / 2
    ends = np.concatenate((low, high))
    load = np.bincount(ends, np.tile(on_low, 2), buckets).astype(np.float64, copy=False)
    sweeps = int(UPDATES / max(len(pair), 1))
    _even_out(low, high, weight, on_low, load, sweeps, TOLERANCE * float(load.mean()))
    of_low = (on_low / np.maximum(weight, 1))[at]
    return np.where(one <= other, of_low, 1 - of_low)
