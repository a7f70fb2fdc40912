"""Key reassigning and hash partitioning: only the heaviest keys are moved, the rest is hashed."""

from __future__ import annotations

from typing import cast

import numpy as np

from core.parameters import Parameter, Values
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

TOP_KEYS = Parameter(
    "shuffle.top_keys",
    int,
    100,
    "number of heaviest sampled keys that are reassigned",
    minimum=0,
    maximum=1e7,
)


def rule(
    data: KeyCounts, buckets: int, values: Values, rng: np.random.Generator, sample: Sample
) -> Partition:
    """Place the heaviest keys, descending, on top of what the other sampled keys' hashes load."""
    hashed = bucket_of(data.keys.hashed(str(values["shuffle.hash"])), buckets)
    key, _ = descending(sample.estimate, np.flatnonzero(sample.hits), rng)
    size = sample.estimate[key]
    top = cast(int, values[TOP_KEYS.key])
    bucket = hashed[key]
    loads = np.bincount(bucket[top:], size[top:], buckets).astype(np.float64, copy=False)
    bucket[:top] = least_loaded(size[:top], loads)
    return place_records(
        data, make_bucket_plan(buckets, data.keys.count, key, bucket, size), hashed, Rules(), rng
    )


PARTITIONER = Partitioner(
    name="krhp",
    summary="the heaviest sampled keys reassigned to the least loaded buckets, the rest hashed",
    source="SKRSP: Tang, Lv, Li, Li, IEEE Trans. Cloud Computing 9 (2021)",
    rule=sampling(rule),
    parameters=(*SAMPLING_PARAMETERS, HASH, TOP_KEYS),
    check=check_auto,
)
