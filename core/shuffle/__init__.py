"""The shuffle: which reducer gets which of a job's records.

A job's records are counts per key and split, so that ten billion records take seconds.

===========================  =============================================================
`core.shuffle.axes`          ``shuffle.*`` as axes: which partitioner reads which key
`core.shuffle.partitioners`  partitioners, one file each
`core.shuffle.sampling`      `sampling`: draws the sample for every rule that plans by one
`core.shuffle.measure`       `measure_job`: the measures of a job's partition
`core.shuffle.placement`     records to buckets by a bucket plan
`core.shuffle.greedy`        each item to the least loaded bucket
`core.shuffle.settle`        shares of keys between two buckets
`core.shuffle._base`         `Partitioner`: the record that a partitioner exports
`core.shuffle.costs`         times of sampling and of reduce work
`core.shuffle.partition`     `Partition`: which records each bucket gets
`core.shuffle.bucket_plan`   `BucketPlan`: which share of which cluster goes where
`core.shuffle.sample`        `Sample`: reservoirs of all splits, as counts per key
`core.shuffle.sources`       where keys come from: a Zipf law, kinds of jobs, a table
`core.shuffle.balance`       FoS and other measures of loads
`core.shuffle.keys`          `KeyCounts`: a job's records by key and split
`core.shuffle.hashes`        hashes of Java, Spark and Spark SQL
`core.shuffle.parameters`    parameters that several partitioners read
`core.shuffle.draws`         random draws of counts
===========================  =============================================================
"""

from __future__ import annotations

from core.job_measures import Curve
from core.shuffle._base import Partitioner
from core.shuffle.balance import fos, max_over_mean, predicted_fos, skewed
from core.shuffle.bucket_plan import BucketPlan
from core.shuffle.hashes import Keys, bucket_of, java_hash, murmur3
from core.shuffle.keys import KeyCounts
from core.shuffle.partition import Partition, Prediction
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
