"""`JobMeasures`: how even the reducers of one job came out, and what sampling for it took.

The tables that follow from all jobs of a trace are made here too. The partitioners that fill the
records lie in `core.shuffle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Curve:
    """What ``sampling_rate=auto`` weighed, one entry a rate.

    Attributes
    ----------
    rate, cost_s, total_s, predicted_fos, actual_fos : array of float64, shape (rates,)
        Sampling rate; time of the pre-pass [s]; pre-pass and slowest reducer T(s) [s]; ε(s);
        factor of skew of the records when the job runs with that rate.
    chosen : int
        Index of the smallest T(s), of equal ones the lowest rate.
    """

    rate: Floats
    cost_s: Floats
    total_s: Floats
    predicted_fos: Floats
    actual_fos: Floats
    chosen: int


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


def means(jobs: Sequence[JobMeasures]) -> dict[str, float | None]:
    """Return the mean of every measure over the jobs that have it; None where none has."""
    mean: dict[str, float | None] = {}
    for name in dict.fromkeys(n for job in jobs for n in job.measures):
        values = [v for job in jobs if not np.isnan(v := job.measures.get(name, np.nan))]
        mean[name] = float(np.sum(values) / len(values)) if values else None
    return mean


def reducer_columns(jobs: Sequence[JobMeasures]) -> dict[str, npt.NDArray[np.generic]]:
    """Return the table of reducers: one row a job and bucket."""
    sizes = [len(job.records) for job in jobs]
    return {
        "job": np.repeat(np.array([job.job_id for job in jobs], np.int64), sizes),
        "bucket": np.concatenate([np.arange(size, dtype=np.int64) for size in sizes]),
        "records": np.concatenate([job.records for job in jobs]),
        "bytes": np.concatenate([job.load_bytes for job in jobs]),
    }


def rate_columns(jobs: Sequence[JobMeasures]) -> dict[str, npt.NDArray[np.generic]] | None:
    """Return the table of the rates that ``auto`` weighed, one row a job and rate, if any."""
    curves = [(job, job.curve) for job in jobs if job.curve is not None]
    if not curves:
        return None
    sizes = [len(curve.rate) for _, curve in curves]
    names = ("rate", "cost_s", "total_s", "predicted_fos", "actual_fos")
    return {
        "job": np.repeat(np.array([job.job_id for job, _ in curves], np.int64), sizes),
        **{name: np.concatenate([getattr(curve, name) for _, curve in curves]) for name in names},
        "chosen": np.concatenate([np.arange(len(c.rate)) == c.chosen for _, c in curves]),
    }
