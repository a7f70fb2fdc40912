"""Measure a job's partition: `measure_job` makes the record that a trace keeps of it."""

from __future__ import annotations

import numpy as np

from core.job_measures import JobMeasures
from core.parameters import Values
from core.shuffle.balance import fos, max_over_mean, skewed
from core.shuffle.costs import reduce_s
from core.shuffle.draws import Floats
from core.shuffle.partition import Partition


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
    prediction = partition.prediction
    measures = {
        "fos_records": fos(loads),
        "fos_bytes": fos(sizes),
        "max_over_mean": max_over_mean(loads),
        "skewed_buckets": skewed(loads) / len(loads),
        "empty_buckets": partition.empty_buckets / len(loads),
        "fragments_per_key": partition.fragments_per_key,
        "predicted_fos": prediction.predicted_fos if prediction else np.nan,
        "planned_fos": prediction.planned_fos if prediction else np.nan,
        "unseen": prediction.unseen if prediction else np.nan,
        "sampled_share": prediction.rate if prediction else np.nan,
        "sample_cost_s": prediction.cost_s if prediction else 0.0,
    }
    slowest = float(reduce_s(partition, values).max(initial=0.0))
    return JobMeasures(job_id, arrival_s, measures, slowest, loads, sizes, partition.curve)
