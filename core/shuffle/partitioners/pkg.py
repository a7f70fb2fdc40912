"""Partial key grouping: two hashes a key, each record to the less loaded of their buckets."""

from __future__ import annotations

import numpy as np

from core.jit import kernel
from core.parameters import Values
from core.shuffle._base import Partitioner
from core.shuffle.draws import Floats, Ints
from core.shuffle.hashes import bucket_of, murmur3
from core.shuffle.keys import KeyCounts
from core.shuffle.partition import Partition, gather

UPDATES = 2e8
"""Most steps of the balance: seconds."""
TOLERANCE = 1e-7
"""Share of the mean load by which nothing moves any more."""


@kernel
def _balance(
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
    """Return the share of each key that its first bucket gets, once the loads have settled.

    Where each record goes to the less loaded of two buckets and records of all keys come mixed
    at random, the loads tend to the most even ones that the pairs allow: a pair with records on
    both sides has equal loads. Keys with the same two buckets are alike.

    Parameters
    ----------
    one, other : array of int64, shape (K,)
        The two buckets of each key; may be the same.
    records : array of int64, shape (K,)
    buckets : int
    """
    low, high = np.minimum(one, other), np.maximum(one, other)
    pair, at = np.unique(low * buckets + high, return_inverse=True)
    weight = np.bincount(at, records, len(pair)).astype(np.float64, copy=False)
    low, high = pair // buckets, pair % buckets
    on_low = weight / 2
    ends = np.concatenate((low, high))
    load = np.bincount(ends, np.tile(on_low, 2), buckets).astype(np.float64, copy=False)
    two = np.flatnonzero(low != high)
    part = on_low[two]
    sweeps = int(UPDATES / max(len(two), 1))
    _balance(low[two], high[two], weight[two], part, load, sweeps, TOLERANCE * load.mean())
    on_low[two] = part
    of_low = (on_low / np.maximum(weight, 1))[at]
    return np.where(one < other, of_low, 1 - of_low)


def rule(data: KeyCounts, buckets: int, values: Values, rng: np.random.Generator) -> Partition:
    """Divide each key by its share, rounded at random."""
    keys = np.flatnonzero(data.total)
    hashes = data.keys.sql[keys]
    one = bucket_of(hashes, buckets)
    other = bucket_of(murmur3(np.ones(len(keys), np.int32), hashes), buckets)
    records = data.total[keys]
    share = shares(one, other, records, buckets)
    first = np.minimum((records * share + rng.random(len(keys))).astype(np.int64), records)
    return gather(data, buckets, [(keys, one, first), (keys, other, records - first)])


PARTITIONER = Partitioner(
    name="pkg",
    summary="two hashes a key, each record to the less loaded bucket; keys are merged later",
    source="Nasir, De Francisci Morales, García-Soriano, Kourtellis, Serafini, ICDE 2015",
    rule=rule,
)
