"""`ShuffleReport`: how even the reducers of a trace's jobs came out, and what that took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.parameters import Values
from core.shuffle.balance import fos, max_over_mean, skewed
from core.shuffle.costs import reduce_s
from core.shuffle.draws import Floats, Ints
from core.shuffle.partition import Curve, Partition


@dataclass(frozen=True, eq=False)
class JobMeasures:
    """One job's shuffle.

    Attributes
    ----------
    job_id : int
    arrival_s : float
        When the job arrives; its coflow comes later by the time of the sampling pre-pass [s].
    measures : dict of str to float
        By name of a `SHUFFLE_METRICS` column; NaN where a partitioner does not know it.
    reduce_s : float
        Time of the slowest bucket's reduce work [s].
    records : array of int64, shape (n,)
    load_bytes : array of float64, shape (n,)
        Loads of the buckets [B].
    curve : Curve, optional
        With ``sampling_rate=auto``.
    """

    job_id: int
    arrival_s: float
    measures: dict[str, float]
    reduce_s: float
    records: Ints
    load_bytes: Floats
    curve: Curve | None = None


ShuffleReport = Sequence[JobMeasures]
"""One entry a coflow, in the order of the trace."""


def measure_job(
    job_id: int,
    arrival_s: float,
    partition: Partition,
    values: Values,
    load_bytes: Floats | None = None,
) -> JobMeasures:
    """Measure a partition.

    Parameters
    ----------
    job_id : int
    arrival_s : float
        Of the job [s].
    partition : Partition
    values : mapping
        Unit costs of reduce work.
    load_bytes : array of float64, shape (n,), optional
        What the buckets carry if not what the partition says [B].
    """
    loads = partition.loads
    sizes = partition.load_bytes if load_bytes is None else load_bytes
    known = partition.prediction
    measures = {
        "fos_records": fos(loads),
        "fos_bytes": fos(sizes),
        "max_over_mean": max_over_mean(loads),
        "skewed_buckets": skewed(loads) / len(loads),
        "empty_buckets": partition.empty_buckets / len(loads),
        "fragments_per_key": partition.fragments_per_key,
        "predicted_fos": known.predicted_fos if known else np.nan,
        "planned_fos": known.planned_fos if known else np.nan,
        "unseen": known.unseen if known else np.nan,
        "sampled_share": known.rate if known else np.nan,
        "sample_cost_s": known.cost_s if known else 0.0,
    }
    slowest = float(reduce_s(partition, values).max(initial=0.0))
    return JobMeasures(job_id, arrival_s, measures, slowest, loads, sizes, partition.curve)


def means(report: ShuffleReport) -> dict[str, float | None]:
    """Return the mean of every measure over the jobs that have it; None where none has."""
    found: dict[str, float | None] = {}
    for name in dict.fromkeys(n for job in report for n in job.measures):
        there = [v for job in report if not np.isnan(v := job.measures.get(name, np.nan))]
        found[name] = float(np.sum(there) / len(there)) if there else None
    return found


def reducer_columns(report: ShuffleReport) -> dict[str, npt.NDArray[np.generic]]:
    """Return the table of reducers: one row a job and bucket."""
    sizes = [len(job.records) for job in report]
    return {
        "job": np.repeat(np.array([job.job_id for job in report], np.int64), sizes),
        "bucket": np.concatenate([np.arange(size, dtype=np.int64) for size in sizes]),
        "records": np.concatenate([job.records for job in report]),
        "bytes": np.concatenate([job.load_bytes for job in report]),
    }


def rate_columns(report: ShuffleReport) -> dict[str, npt.NDArray[np.generic]] | None:
    """Return the table of the rates that ``auto`` weighed, one row a job and rate, if any."""
    jobs = [(job, job.curve) for job in report if job.curve is not None]
    if not jobs:
        return None
    sizes = [len(curve.rate) for _, curve in jobs]
    names = ("rate", "cost_s", "total_s", "predicted_fos", "actual_fos")
    return {
        "job": np.repeat(np.array([job.job_id for job, _ in jobs], np.int64), sizes),
        **{name: np.concatenate([getattr(curve, name) for _, curve in jobs]) for name in names},
        "chosen": np.concatenate([np.arange(len(c.rate)) == c.chosen for _, c in jobs]),
    }
