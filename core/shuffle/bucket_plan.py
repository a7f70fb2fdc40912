"""Bucket plans: how many records of each sampled cluster each bucket is to get.

A plan is the matrix P of n buckets by K clusters, kept as its non-zero entries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.errors import ShuffleError
from core.jit import inner, kernel
from core.shuffle.balance import fos
from core.shuffle.draws import Floats, Ints

DENSE_CELLS = 2**24
_TOLERANCE = 1e-10
"""What is left of a bucket's room counts as nothing below this share of its capacity."""


@dataclass(frozen=True, eq=False)
class BucketPlan:
    """P as its non-zero entries, sorted by key, then bucket.

    Attributes
    ----------
    buckets, keys : int
        Shape of P.
    key, bucket : array of int64, shape (F,)
    records : array of float64, shape (F,)
        Estimated records of the key that the bucket is to get.
    """

    buckets: int
    keys: int
    key: Ints
    bucket: Ints
    records: Floats

    @property
    def loads(self) -> Floats:
        """Planned records of each bucket BC(k), shape (n,)."""
        sums = np.bincount(self.bucket, weights=self.records, minlength=self.buckets)
        return sums.astype(np.float64, copy=False)

    @property
    def fos(self) -> float:
        """Factor of skew of the planned loads."""
        return fos(self.loads)

    @property
    def cuts(self) -> int:
        """Cuts through clusters."""
        return len(self.key) - len(np.unique(self.key))

    def dense(self) -> Floats:
        """Return P as a matrix, shape (n, K).

        Raises
        ------
        ShuffleError
            More than `DENSE_CELLS` entries.
        """
        if self.buckets * self.keys > DENSE_CELLS:
            raise ShuffleError(
                f"P of {self.buckets} buckets × {self.keys} keys has more than {DENSE_CELLS} "
                "entries: use key, bucket and records, which hold the non-zero ones"
            )
        matrix = np.zeros((self.buckets, self.keys))
        matrix[self.bucket, self.key] = self.records
        return matrix


def make_bucket_plan(
    buckets: int, keys: int, key: Ints, bucket: Ints, records: Floats
) -> BucketPlan:
    """Build a plan from its entries, in any order; several may be of one key and bucket."""
    pair, at = np.unique(key * buckets + bucket, return_inverse=True)
    amount = np.bincount(at, weights=records, minlength=len(pair)).astype(np.float64, copy=False)
    return BucketPlan(buckets, keys, pair // buckets, pair % buckets, amount)


def descending(sizes: Floats, chosen: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Sort the chosen clusters by size, largest first, equal ones in random order.

    Returns
    -------
    key, rank : array of int64
        Clusters in this order, and their places in the random order.
    """
    rank = rng.permutation(len(chosen))
    order = np.lexsort((rank, -sizes[chosen]))
    return chosen[order], rank[order]


def split_and_combine(
    sizes: Floats, chosen: Ints, buckets: int, rng: np.random.Generator
) -> BucketPlan:
    """Fill one bucket after another to the mean load with the largest clusters left.

    A cluster that reaches past a bucket's capacity is cut, and the rest of it put back. Whole
    clusters of one size are taken in random order. The rest of a cut one goes by its size in
    doubles: where it equals another cluster exactly, rounding decides which comes first.

    Parameters
    ----------
    sizes : array of float64, shape (K,)
        Estimated records of each cluster.
    chosen : array of int64
        The clusters to plan, each of a size > 0.
    buckets : int
    rng : numpy.random.Generator
        Orders clusters of one size.

    Source
    ------
    SCID (Tang, Zhang, Li, Li, FGCS 78, 2018), split and combine.
    """
    key, rank = descending(sizes, chosen, rng)
    item = np.empty(len(key) + buckets, np.int64)
    bucket, records = np.empty_like(item), np.empty(len(item))
    size = sizes[key]
    entries = _fill(size, rank, float(size.sum()) / buckets, buckets, item, bucket, records)
    item, bucket, records = item[:entries], bucket[:entries], records[:entries]
    return make_bucket_plan(buckets, len(sizes), key[item], bucket, records)


@inner
def _put_back(
    size: float, item: int, rank: Ints, rest: Floats, rest_item: Ints, count: int
) -> None:
    """Insert what is left of a cluster; the largest, of equal ones the first in rank, is last."""
    at = count
    while at > 0 and (
        rest[at - 1] > size or (rest[at - 1] == size and rank[rest_item[at - 1]] < rank[item])
    ):
        rest[at] = rest[at - 1]
        rest_item[at] = rest_item[at - 1]
        at -= 1
    rest[at] = size
    rest_item[at] = item


@kernel
def _fill(
    size: Floats,
    rank: Ints,
    capacity: float,
    buckets: int,
    item_out: Ints,
    bucket_out: Ints,
    size_out: Floats,
) -> int:
    """Fill the buckets from clusters in descending order; return the number of entries."""
    rest, rest_item = np.empty(buckets), np.empty(buckets, np.int64)
    waiting = following = entries = 0
    close = _TOLERANCE * capacity
    for b in range(buckets):
        room = np.inf if b == buckets - 1 else capacity
        while waiting > 0 or following < len(size):
            item, amount = following, 0.0
            if following < len(size):
                amount = size[following]
            if waiting > 0 and (
                rest[waiting - 1] > amount
                or (rest[waiting - 1] == amount and rank[rest_item[waiting - 1]] < rank[item])
            ):
                waiting -= 1
                item, amount = rest_item[waiting], rest[waiting]
            else:
                following += 1
            part = amount if amount <= room + close else room
            item_out[entries], bucket_out[entries], size_out[entries] = item, b, part
            entries += 1
            if part < amount:
                _put_back(amount - part, item, rank, rest, rest_item, waiting)
                waiting += 1
            if amount >= room - close:
                break
            room -= amount
    return entries
