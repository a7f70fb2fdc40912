"""SCID: split and combine the clusters of a sample until every bucket is planned full."""

from __future__ import annotations

from typing import cast

import numpy as np

from core.parameters import Values
from core.shuffle._base import Partitioner
from core.shuffle.bucket_plan import split_and_combine
from core.shuffle.costs import check_auto
from core.shuffle.hashes import bucket_of
from core.shuffle.keys import KeyCounts
from core.shuffle.parameters import HASH, LIMITS, OVERFLOW, SAMPLING_PARAMETERS, fill, min_hits
from core.shuffle.partition import Partition
from core.shuffle.placement import Rules, place_records
from core.shuffle.sample import Sample
from core.shuffle.sampling import sampling

SOURCE = "Tang, Zhang, Li, Li, FGCS 78 (2018) 287–301"


def rule(
    data: KeyCounts, buckets: int, values: Values, rng: np.random.Generator, sample: Sample
) -> Partition:
    """BucketPlan the clusters with enough hits, and place the job by that plan."""
    enough = max(cast(int, values["shuffle.min_hits"]), 1)
    chosen = np.flatnonzero(sample.hits >= enough)
    plan = split_and_combine(sample.estimate, chosen, buckets, rng)
    rules = Rules(
        fill=str(values["shuffle.fill"]),
        overflow=str(values["shuffle.overflow"]),
        limit_unsplit=bool(values["shuffle.limits_on_unsplit_keys"]),
    )
    hashed = bucket_of(data.keys.hashed(str(values["shuffle.hash"])), buckets)
    return place_records(data, plan, hashed, rules, rng)


PARTITIONER = Partitioner(
    name="scid",
    summary="splitting and combination of skewed intermediate data: buckets filled in turn",
    source=SOURCE,
    rule=sampling(rule),
    parameters=(*SAMPLING_PARAMETERS, HASH, min_hits(0), fill("first_fit"), OVERFLOW, LIMITS),
    check=check_auto,
)
