"""The shuffle: which reducer gets which of a job's records.

A job's records are counts per key and split (`KeyCounts`), from a Zipf law, a table or a kind of
job (`sources`). A `Partitioner` puts them into buckets (`partitioners` has all of them); the
`Partition` that it returns has the loads, the fragments of keys and the bytes from each split to
each bucket. `balance` has the measures, `costs` the time of sampling and the choice of its rate.
All work is on counts, so that ten billion records take seconds.
"""

from __future__ import annotations

from core.shuffle._base import Partitioner
from core.shuffle.balance import fos, max_over_mean, predicted_fos, skewed
from core.shuffle.bucket_plan import BucketPlan
from core.shuffle.hashes import Keys, bucket_of, java_hash, murmur3
from core.shuffle.keys import KeyCounts
from core.shuffle.partition import Curve, Partition, Prediction
from core.shuffle.sources import SOURCES, draw, from_matrix, from_table

__all__ = [
    "SOURCES",
    "BucketPlan",
    "Curve",
    "KeyCounts",
    "Keys",
    "Partition",
    "Partitioner",
    "Prediction",
    "bucket_of",
    "draw",
    "fos",
    "from_matrix",
    "from_table",
    "java_hash",
    "max_over_mean",
    "murmur3",
    "predicted_fos",
    "skewed",
]
