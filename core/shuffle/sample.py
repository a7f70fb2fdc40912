"""The sample that a partitioner plans by: reservoirs of all splits, as counts per key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.shuffle.draws import Floats, Ints, spread, spread_rows
from core.shuffle.keys import KeyCounts


@dataclass(frozen=True, eq=False)
class Sample:
    """What was drawn, over all splits.

    Attributes
    ----------
    size : int
        Records in the sample.
    hits : array of int64, shape (K,)
        Sampled records of each key.
    estimate : array of float64, shape (K,)
        Estimated records of each key: hits times records over sample size, split by split.
    """

    size: int
    hits: Ints
    estimate: Floats

    @property
    def distinct(self) -> int:
        """Number of keys in the sample."""
        return int(np.count_nonzero(self.hits))

    @property
    def unseen(self) -> float:
        """Share of the records whose keys are not in the sample, by Good and Turing: f₁ / size.

        f₁ is the number of keys that were hit once.
        """
        return int(np.count_nonzero(self.hits == 1)) / max(self.size, 1)


def reservoir_sizes(split_records: Ints, rate: float) -> Ints:
    """Sample size k_m of each split: its records times the rate, rounded, but at least one.

    >>> reservoir_sizes(np.array([250, 10, 0]), 0.01).tolist()
    [2, 1, 0]
    """
    rounded = np.rint(rate * split_records).astype(np.int64)
    sizes: Ints = np.minimum(np.maximum(rounded, 1), split_records)
    return sizes


def draw_sample(data: KeyCounts, sizes: Ints, rng: np.random.Generator) -> Sample:
    """Draw ``sizes[m]`` records from each split without replacement, as reservoirs do.

    With a matrix, split by split. Without one, all splits of one size together: given the keys'
    totals, the sampled places are a fixed set in a random arrangement of the records, so that
    the sum is hypergeometric as well. It is then drawn independently of counts per split, of
    which it depends only through terms of relative order 1/records.

    Parameters
    ----------
    data : KeyCounts
    sizes : array of int64, shape (M,)
        At most the splits' records.
    rng : numpy.random.Generator
    """
    hits = np.zeros(data.keys.count, np.int64)
    estimate = np.zeros(data.keys.count)
    if data.matrix is not None:
        drawn = spread_rows(rng, data.matrix, sizes)
        weights = data.split_records / np.maximum(sizes, 1)
        return Sample(int(sizes.sum()), drawn.sum(axis=0), weights @ drawn)
    left = data.total.copy()
    kinds, splits = np.unique(np.stack((data.split_records, sizes)), axis=1, return_counts=True)
    for records, size, count in zip(*kinds, splits, strict=True):
        drawn = spread(rng, left, int(size * count))
        left -= drawn
        hits += drawn
        estimate += drawn * (records / max(size, 1))
    return Sample(int(sizes.sum()), hits, estimate)
