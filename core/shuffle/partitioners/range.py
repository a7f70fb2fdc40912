"""Range partitioning as Spark's sortByKey does it: bounds from a weighted sample."""

from __future__ import annotations

import math

import numpy as np

from core.parameters import Values
from core.shuffle._base import Partitioner
from core.shuffle.draws import Floats, Ints
from core.shuffle.keys import KeyCounts
from core.shuffle.parameters import PREPASS_PARAMETERS
from core.shuffle.partition import Partition, gather
from core.shuffle.sample import Sample, draw_sample
from core.shuffle.sampling import with_prediction

POINTS_PER_BUCKET = 20
MAX_POINTS = 1e6
OVERSAMPLING = 3.0


def sketch(data: KeyCounts, buckets: int, rng: np.random.Generator) -> Sample:
    """Draw Spark's sample: a reservoir in each split, splits above their share drawn again.

    Such a split's records are taken one by one with the probability that all splits together
    would give the wanted size.
    """
    wanted = min(float(POINTS_PER_BUCKET) * buckets, MAX_POINTS)
    per_split = math.ceil(OVERSAMPLING * wanted / data.splits)
    fraction = min(wanted / max(data.records, 1), 1.0)
    again = np.flatnonzero(fraction * data.split_records > per_split)
    sizes = np.minimum(data.split_records, per_split)
    sizes[again] = 0
    sample = draw_sample(data, sizes, rng)
    if len(again) == 0:
        return sample
    drawn = rng.binomial(data.per_split(np.arange(data.keys.count))[again], fraction).sum(axis=0)
    return Sample(
        sample.size + int(drawn.sum()), sample.hits + drawn, sample.estimate + drawn / fraction
    )


def bounds(weight: Floats, partitions: int) -> Ints:
    """Return the last key of each range but the last one, from the keys' weights in order.

    A range ends where the running weight reaches the next multiple of total / partitions; a key
    is a bound once, and the multiple it reached is then done with, however far it went past.

    >>> bounds(np.array([1.0, 9.0, 1.0, 1.0]), 3).tolist()
    [1, 2]
    """
    running = np.cumsum(weight)
    step = running[-1] / partitions
    target = step
    ends: list[int] = []
    while len(ends) < partitions - 1:
        at = int(np.searchsorted(running, target))
        at = max(at, ends[-1] + 1) if ends else at
        if at >= len(weight):
            break
        ends.append(at)
        target += step
    return np.array(ends, np.int64)


def rule(data: KeyCounts, buckets: int, values: Values, rng: np.random.Generator) -> Partition:
    """Put each key into the range that it lies in; a key is never split."""
    sample = sketch(data, buckets, rng)
    order = data.keys.order
    seen = np.flatnonzero(sample.hits[order])  # places in the order
    ends = np.empty(0, np.int64)
    if len(seen):
        weight = sample.estimate[order[seen]]
        ends = seen[bounds(weight, min(buckets, sample.size))]
    bucket = np.empty(data.keys.count, np.int64)
    bucket[order] = np.searchsorted(ends, np.arange(data.keys.count))
    placed = gather(data, buckets, [(np.arange(data.keys.count), bucket, data.total)])
    return with_prediction(placed, sample, None, values)


PARTITIONER = Partitioner(
    name="range",
    summary="ranges of keys of equal weight in a sample, as sortByKey does",
    source="Spark: RangePartitioner",
    rule=rule,
    parameters=PREPASS_PARAMETERS,
)
