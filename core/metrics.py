"""Statistics of coflow completion times, and the per-coflow table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.job_measures import means
from core.outcome import Outcome
from core.statistics import gap, mean
from core.trace import BINS, Trace


@dataclass(frozen=True)
class Metric:
    """A column of results: its name, unit and meaning."""

    name: str
    unit: str
    help: str
    kind: type = float


BIN_MEANING = {
    "SN": "short (length ≤ 5 MB), narrow (≤ 50 flows) coflows",
    "LN": "long (length > 5 MB), narrow (≤ 50 flows) coflows",
    "SW": "short (length ≤ 5 MB), wide (> 50 flows) coflows",
    "LW": "long (length > 5 MB), wide (> 50 flows) coflows",
}

METRICS = (
    Metric("coflows", "", "coflows in the trace", int),
    Metric("makespan_s", "s", "last finish minus first start"),
    Metric("mean_cct_s", "s", "mean coflow completion time"),
    *(Metric(f"p{q}_cct_s", "s", f"{q}th percentile of the CCT") for q in (50, 90, 95, 99)),
    Metric("max_cct_s", "s", "largest CCT"),
    *(Metric(f"{b.lower()}_mean_cct_s", "s", f"mean CCT of {BIN_MEANING[b]}") for b in BINS),
    Metric("mean_slowdown", "", "mean of CCT / Γ over coflows with bytes"),
    Metric("share_below_1000s", "", "share of coflows with CCT < 1000 s"),
    Metric("bound_s", "s", "no schedule has a smaller mean CCT; missing in coflowsim"),
    Metric("gap", "", "mean CCT / bound − 1: 0 is optimal"),
    Metric("events", "", "times the schedule was recomputed", int),
)

SHUFFLE_METRICS = (
    Metric("fos_records", "", "factor of skew, std / mean, of the records of a job's buckets"),
    Metric("fos_bytes", "", "factor of skew of the bytes of a job's buckets"),
    Metric("max_over_mean", "", "largest bucket over the mean, in records"),
    Metric("skewed_buckets", "", "share of buckets more than one std away from the mean"),
    Metric("empty_buckets", "", "share of buckets without records"),
    Metric("fragments_per_key", "", "buckets that hold records of a key, mean over keys"),
    Metric(
        "predicted_fos",
        "",
        "factor of skew that the noise of the sample alone leaves, whatever the partitioner",
    ),
    Metric("planned_fos", "", "factor of skew of the partitioner's plan"),
    Metric("unseen", "", "estimated share of records whose key is not in the sample"),
    Metric("sampled_share", "", "share of records sampled; tells what auto has chosen"),
    Metric("sample_cost_s", "s", "time of the sampling pre-pass, by which the coflow is late"),
    Metric("mean_job_s", "s", "mean time from a job's arrival to the end of its reduce work"),
)
"""Means over jobs; missing where coflows are as traced or a partitioner does not know them."""

REDUCER_COLUMNS = (
    Metric("job", "", "id of the job or coflow", int),
    Metric("bucket", "", "bucket of the job, from 0", int),
    Metric("records", "", "records in the bucket", int),
    Metric("bytes", "B", "bytes that the bucket's reducer reads"),
)

RATE_COLUMNS = (
    Metric("job", "", "id of the job or coflow", int),
    Metric("rate", "", "sampling rate that was weighed"),
    Metric("cost_s", "s", "time of the sampling pre-pass"),
    Metric("total_s", "s", "pre-pass and slowest reducer, as predicted: auto takes the smallest"),
    Metric("predicted_fos", "", "factor of skew that the noise of the sample alone leaves"),
    Metric("actual_fos", "", "factor of skew of the records when the job runs with that rate"),
    Metric("chosen", "", "whether auto took this rate", bool),
)

COFLOW_COLUMNS = (
    Metric("coflow_id", "", "id in the trace", int),
    Metric("arrival_s", "s", "arrival in the trace"),
    Metric("start_s", "s", "start in the engine"),
    Metric("finish_s", "s", "finish of the last flow"),
    Metric("cct_s", "s", "finish minus start"),
    Metric("gamma_s", "s", "time the busiest port needs for the coflow alone"),
    Metric("slowdown", "", "CCT / Γ; missing for a coflow without bytes"),
    Metric("senders", "", "distinct sending hosts", int),
    Metric("receivers", "", "distinct receiving hosts", int),
    Metric("flows", "", "width in flows", int),
    Metric("length_bytes", "B", "largest flow"),
    Metric("size_bytes", "B", "all flows together"),
    Metric("bin", "", "; ".join(f"{b}: {meaning}" for b, meaning in BIN_MEANING.items()), str),
)


def summarise(trace: Trace, outcome: Outcome) -> dict[str, int | float | None]:
    """Return every metric of `METRICS` by name, and where there was a shuffle `SHUFFLE_METRICS`.

    None where a bin is empty.

    Means are exactly rounded sums, so they do not depend on the machine's vector units.
    """
    cct = outcome.cct_s
    mean_cct = mean(cct)
    bins = trace.bins()
    busy = outcome.gamma_s > 0
    percentiles = {f"p{q}_cct_s": float(np.percentile(cct, q)) for q in (50, 90, 95, 99)}
    return {
        "coflows": len(trace),
        "makespan_s": float(outcome.finish_s.max() - outcome.start_s.min()),
        "mean_cct_s": mean_cct,
        **percentiles,
        "max_cct_s": float(cct.max()),
        **{f"{b.lower()}_mean_cct_s": mean(cct[bins == b]) for b in BINS},
        "mean_slowdown": mean(cct[busy] / outcome.gamma_s[busy]),
        "share_below_1000s": float(np.count_nonzero(cct < 1000.0) / len(cct)),
        "bound_s": outcome.bound_s,
        "gap": gap(mean_cct, outcome.bound_s, outcome.error_s),
        "events": outcome.events,
        **_shuffled(trace, outcome),
    }


def coflow_table(trace: Trace, outcome: Outcome) -> dict[str, Any]:
    """Return the columns of `COFLOW_COLUMNS`, each an array of shape (n,)."""
    cct = outcome.cct_s
    with np.errstate(divide="ignore", invalid="ignore"):
        slowdown = np.where(outcome.gamma_s > 0, cct / outcome.gamma_s, np.nan)
    return {
        "coflow_id": trace.coflow_id,
        "arrival_s": trace.arrival_s,
        "start_s": outcome.start_s,
        "finish_s": outcome.finish_s,
        "cct_s": cct,
        "gamma_s": outcome.gamma_s,
        "slowdown": slowdown,
        "senders": trace.distinct_ports(trace.src),
        "receivers": trace.distinct_ports(trace.dst),
        "flows": trace.flows_per_coflow(),
        "length_bytes": outcome.length_bytes,
        "size_bytes": outcome.size_bytes,
        "bin": trace.bins(),
    }


def _shuffled(trace: Trace, outcome: Outcome) -> dict[str, float | None]:
    if not trace.shuffle:
        return {}
    around = [job.measures["sample_cost_s"] + job.reduce_s for job in trace.shuffle]
    return means(trace.shuffle) | {"mean_job_s": mean(outcome.cct_s + np.array(around))}
