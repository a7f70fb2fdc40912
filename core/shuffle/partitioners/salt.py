"""Salting: every key becomes several, so that none is too heavy; the parts are merged later."""

from __future__ import annotations

from typing import cast

import numpy as np

from core.parameters import Parameter, Values
from core.shuffle._base import Partitioner
from core.shuffle.draws import Ints
from core.shuffle.hashes import Hashes, bucket_of, murmur3
from core.shuffle.keys import KeyCounts
from core.shuffle.parameters import HASH
from core.shuffle.partition import Partition, gather

SALTS = Parameter(
    "shuffle.salts", int, 8, "number of parts that each key is salted into", minimum=1, maximum=64
)


def salted(hashes: Hashes, salt: int, which: str) -> Hashes:
    """Hash the pair (key, salt), given the keys' hashes.

    Spark SQL's ``hash(key, salt)`` takes the key's hash as the seed for the salt; in Java it is
    ``Objects.hash(key, salt)``, 31 · (31 + key's) + salt.
    """
    if which == "murmur3":
        return murmur3(np.full(len(hashes), salt, np.int32), hashes)
    wide = 31 * (31 + hashes.astype(np.int64)) + salt
    return wide.astype(np.uint64).astype(np.uint32).view(np.int32)


def rule(data: KeyCounts, buckets: int, values: Values, rng: np.random.Generator) -> Partition:
    """Give each record one of the salts at random, and hash key and salt."""
    which, salts = str(values["shuffle.hash"]), cast(int, values[SALTS.key])
    hashes = data.keys.hashed(which)
    keys = np.flatnonzero(data.total)
    left = data.total[keys]
    parts: list[tuple[Ints, Ints, Ints]] = []
    for salt in range(salts):
        taken = rng.binomial(left, 1 / (salts - salt)).astype(np.int64)
        left -= taken
        parts.append((keys, bucket_of(salted(hashes[keys], salt, which), buckets), taken))
    return gather(data, buckets, parts)


PARTITIONER = Partitioner(
    name="salt",
    summary="a random salt is hashed with each record's key; parts of a key are merged later",
    source="common practice",
    rule=rule,
    parameters=(HASH, SALTS),
)
