"""LPT, longest processing time first: each key whole, the largest first, to the least load."""

from __future__ import annotations

import numpy as np

from core.parameters import Values
from core.shuffle._base import Partitioner
from core.shuffle.bucket_plan import descending, make_bucket_plan
from core.shuffle.costs import check_auto
from core.shuffle.greedy import least_loaded
from core.shuffle.hashes import bucket_of
from core.shuffle.keys import KeyCounts
from core.shuffle.parameters import HASH, SAMPLING_PARAMETERS
from core.shuffle.partition import Partition
from core.shuffle.placement import Rules, place_records
from core.shuffle.sample import Sample
from core.shuffle.sampling import sampling


def rule(
    data: KeyCounts, buckets: int, values: Values, rng: np.random.Generator, sample: Sample
) -> Partition:
    """Place the sampled keys by estimated size, descending; the others by hash."""
    key, _ = descending(sample.estimate, np.flatnonzero(sample.hits), rng)
    size = sample.estimate[key]
    plan = make_bucket_plan(
        buckets, data.keys.count, key, least_loaded(size, np.zeros(buckets)), size
    )
    hashed = bucket_of(data.keys.hashed(str(values["shuffle.hash"])), buckets)
    return place_records(data, plan, hashed, Rules(), rng)


PARTITIONER = Partitioner(
    name="lpt",
    summary="sampled keys by size, descending, each whole to the least loaded bucket",
    source="Graham, SIAM J. Appl. Math. 17 (1969)",
    rule=sampling(rule),
    parameters=(*SAMPLING_PARAMETERS, HASH),
    check=check_auto,
)
