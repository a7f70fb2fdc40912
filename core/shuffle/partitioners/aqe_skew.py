"""Spark's adaptive execution: after a hash, skewed buckets are split by ranges of map tasks."""

from __future__ import annotations

from typing import cast

import numpy as np

from core.errors import ShuffleError
from core.parameters import Parameter, Values
from core.shuffle._base import Partitioner
from core.shuffle.draws import Floats, Ints, spread
from core.shuffle.hashes import bucket_of
from core.shuffle.keys import KeyCounts
from core.shuffle.parameters import HASH
from core.shuffle.partition import MAX_FLOWS, Partition, gather

MIB = 2**20
THRESHOLD = Parameter(
    "shuffle.skew_threshold_mib",
    float,
    256.0,
    "a bucket counts as skewed only above this size",
    unit="MiB",
    minimum=0,
)
FACTOR = Parameter(
    "shuffle.skew_factor",
    float,
    5.0,
    "a bucket counts as skewed only above this many times the median bucket size",
    minimum=0,
    maximum=1e9,
)
ADVISORY = Parameter(
    "shuffle.advisory_mib",
    float,
    64.0,
    "smallest target size of the parts of a skewed bucket",
    unit="MiB",
    minimum=0,
    open_minimum=True,
)
SMALL = 0.2
MERGED = 1.2


def map_ranges(sizes: Floats, target: float) -> Ints:
    """Return where each range of map tasks starts, so that it has about `target` bytes.

    A range ends before the map task that would take it past the target. A finished range joins
    the one before where either is below 0.2 of the target or both are below 1.2 together.

    >>> map_ranges(np.array([50.0, 60.0, 50.0, 10.0]), 100.0).tolist()
    [0, 2]
    """
    starts: list[int] = []
    start, current, previous = 0, 0.0, -1.0
    for i, size in enumerate([*sizes.tolist(), np.inf]):
        if i == 0 or current + size <= target:
            current += size
            continue
        small = min(current, previous) < SMALL * target
        if starts and (current + previous < MERGED * target or small):
            previous += current
        else:
            starts.append(start)
            previous = current
        start, current = i, size
    return np.array(starts, np.int64)


def rule(data: KeyCounts, buckets: int, values: Values, rng: np.random.Generator) -> Partition:
    """Hash, and split the buckets that are skewed."""
    hashed = bucket_of(data.keys.hashed(str(values["shuffle.hash"])), buckets)
    keys = np.arange(data.keys.count)
    whole = gather(data, buckets, [(keys, hashed, data.total)])
    size = whole.load_bytes
    threshold, factor, advisory = (
        cast(float, values[p.key]) for p in (THRESHOLD, FACTOR, ADVISORY)
    )
    limit = max(threshold * MIB, factor * max(float(np.median(size)), 1.0))
    skewed = np.flatnonzero(size > limit)
    if len(skewed) == 0:
        return whole
    others = size[size <= limit]
    target = max(advisory * MIB, float(others.mean()) if len(others) else 0.0)
    of_split = whole.per_split()
    ranges = {int(b): map_ranges(of_split[1][:, b], target) for b in skewed}
    tasks = np.ones(buckets, np.int64)
    tasks[skewed] = [len(starts) for starts in ranges.values()]
    if data.splits * int(tasks.sum()) > MAX_FLOWS:
        raise ShuffleError(
            f"{ADVISORY.key}={advisory:g}: {int(tasks.sum())} buckets after splitting × "
            f"{data.splits} splits are more than {MAX_FLOWS} flows"
        )
    first = np.cumsum(tasks) - tasks  # number of each bucket's first task
    free = np.flatnonzero(tasks[hashed] == 1)
    parts = [(free, first[hashed[free]], data.total[free])]
    for b, starts in ranges.items():
        if tasks[b] > 1:
            records = of_split[0][:, b]
            parts += _split(data, np.flatnonzero(hashed == b), records, starts, int(first[b]), rng)
    origin = np.repeat(np.arange(buckets), tasks)
    begins = np.concatenate([ranges.get(b, np.zeros(1, np.int64)) for b in range(buckets)])
    ends = np.where(np.diff(origin, append=-1) == 0, np.append(begins[1:], 0), data.splits)
    split = np.arange(data.splits)[:, None]
    reads = (begins <= split) & (split < ends)  # whether a task reads a map task
    sent = (of_split[0][:, origin] * reads, of_split[1][:, origin] * reads)
    return gather(data, int(tasks.sum()), parts, origin=origin, sent=sent)


def _split(
    data: KeyCounts,
    keys: Ints,
    records: Ints,
    starts: Ints,
    first: int,
    rng: np.random.Generator,
) -> list[tuple[Ints, Ints, Ints]]:
    """Divide a bucket's keys over its ranges, by the records of each split."""
    if data.matrix is not None:
        per_range = np.add.reduceat(data.matrix[:, keys], starts, axis=0)
    else:
        left = data.total[keys]
        per_range = np.empty((len(starts), len(keys)), np.int64)
        for r, of_range in enumerate(np.add.reduceat(records, starts)):
            per_range[r] = spread(rng, left, int(of_range))
            left -= per_range[r]
    return [(keys, np.full(len(keys), first + r), row) for r, row in enumerate(per_range)]


PARTITIONER = Partitioner(
    name="aqe_skew",
    summary="hash, then buckets far above the median are split by ranges of map tasks",
    source="Spark: OptimizeSkewedJoin",
    rule=rule,
    parameters=(HASH, THRESHOLD, FACTOR, ADVISORY),
)
