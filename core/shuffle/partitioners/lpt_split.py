"""LPT after cutting clusters that are larger than a bucket: the baseline for SCID."""

from __future__ import annotations

import numpy as np

from core.parameters import Values
from core.shuffle._base import Partitioner
from core.shuffle.bucket_plan import descending, make_bucket_plan
from core.shuffle.costs import check_auto
from core.shuffle.draws import Floats, Ints
from core.shuffle.greedy import least_loaded
from core.shuffle.hashes import bucket_of
from core.shuffle.keys import KeyCounts
from core.shuffle.parameters import HASH, SAMPLING_PARAMETERS
from core.shuffle.partition import Partition
from core.shuffle.placement import Rules, place_records
from core.shuffle.sample import Sample
from core.shuffle.sampling import sampling


def cut(sizes: Floats, capacity: float) -> tuple[Ints, Floats]:
    """Cut what is larger than the capacity into equal pieces, as few as fit.

    >>> item, size = cut(np.array([5.0, 2.0]), 2.0)
    >>> item.tolist(), size.round(2).tolist()
    ([0, 0, 0, 1], [1.67, 1.67, 1.67, 2.0])
    """
    pieces = np.maximum(np.ceil(sizes / capacity).astype(np.int64), 1)
    return np.repeat(np.arange(len(sizes)), pieces), np.repeat(sizes / pieces, pieces)


def rule(
    data: KeyCounts, buckets: int, values: Values, rng: np.random.Generator, sample: Sample
) -> Partition:
    """Place pieces by size, descending; records of a cut key in the pieces' proportions."""
    chosen = np.flatnonzero(sample.hits)
    sizes = sample.estimate[chosen]
    item, size = cut(sizes, float(sizes.sum()) / buckets)
    order, _ = descending(size, np.arange(len(size)), rng)
    key, size = chosen[item[order]], size[order]
    plan = make_bucket_plan(
        buckets, data.keys.count, key, least_loaded(size, np.zeros(buckets)), size
    )
    hashed = bucket_of(data.keys.hashed(str(values["shuffle.hash"])), buckets)
    return place_records(data, plan, hashed, Rules(), rng)


PARTITIONER = Partitioner(
    name="lpt_split",
    summary="lpt, with clusters larger than a bucket cut first",
    source="Graham, SIAM J. Appl. Math. 17 (1969), with clusters cut",
    rule=sampling(rule),
    parameters=(*SAMPLING_PARAMETERS, HASH),
    check=check_auto,
)
