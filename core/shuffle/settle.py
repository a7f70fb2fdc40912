"""Where loads settle when each record may go to one of two buckets, the less loaded one."""

from __future__ import annotations

import numpy as np

from core.jit import kernel
from core.shuffle.draws import Floats, Ints

ROUNDS = 100
"""Portions that the records of a pair of buckets come in."""
UPDATES = 2e8
"""Most steps of evening out: seconds."""
TOLERANCE = 1e-7
"""Share of the mean load by which nothing moves any more."""


@kernel
def _settle(
    one: Ints, other: Ints, weight: Floats, load: Floats, on_one: Floats, close: float
) -> None:
    """Send portions to the lesser load, then even out two buckets at a time until nothing moves."""
    for turn in range(ROUNDS):
        for i in range(len(weight)):
            e = i if turn % 2 == 0 else len(weight) - 1 - i
            portion = weight[e] / ROUNDS
            if load[one[e]] <= load[other[e]]:
                load[one[e]] += portion
                on_one[e] += portion
            else:
                load[other[e]] += portion
    for _ in range(int(UPDATES / max(len(weight), 1))):
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

    The model: all keys of two buckets are alike, their records come in small portions, in turn
    with those of the other pairs, each to the lesser load. Then the loads are made as even as
    the pairs allow, for portions are coarser than records: a pair with records on both sides
    ends with equal loads.

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
    weight = np.bincount(at, records, len(pair)).astype(np.float64, copy=False)
    on_low, load = np.zeros(len(pair)), np.zeros(buckets)
    close = TOLERANCE * float(weight.sum()) / buckets
    _settle(pair // buckets, pair % buckets, weight, load, on_low, close)
    of_low = (on_low / np.maximum(weight, 1))[at]
    return np.where(one <= other, of_low, 1 - of_low)
