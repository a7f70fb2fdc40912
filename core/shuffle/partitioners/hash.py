"""The default of Spark and Hadoop: the key's hash modulo the number of buckets."""

from __future__ import annotations

import numpy as np

from core.parameters import Values
from core.shuffle._base import Partitioner
from core.shuffle.hashes import bucket_of
from core.shuffle.keys import KeyCounts
from core.shuffle.parameters import HASH
from core.shuffle.partition import Partition, gather


def rule(data: KeyCounts, buckets: int, values: Values, rng: np.random.Generator) -> Partition:
    """Put each key where its hash says."""
    hashed = bucket_of(data.keys.hashed(str(values["shuffle.hash"])), buckets)
    return gather(data, buckets, [(np.arange(data.keys.count), hashed, data.total)])


PARTITIONER = Partitioner(
    name="hash",
    summary="the key's hash modulo the number of buckets",
    source="Spark: HashPartitioner, and hash partitioning of Spark SQL",
    rule=rule,
    parameters=(HASH,),
)
