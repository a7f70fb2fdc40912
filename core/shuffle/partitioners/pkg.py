"""Partial key grouping: two hashes a key, each record to the less loaded of their buckets."""

from __future__ import annotations

import numpy as np

from core.parameters import Values
from core.shuffle._base import Partitioner
from core.shuffle.hashes import bucket_of, murmur3
from core.shuffle.keys import KeyCounts
from core.shuffle.partition import Partition, gather
from core.shuffle.settle import shares


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
