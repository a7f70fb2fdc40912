"""Draw the loads of a trace's reducers again, by a partitioner on records with keys."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from core.job_measures import JobMeasures
from core.parameters import Values
from core.shuffle import Partitioner, draw
from core.shuffle.keys import MAX_RECORDS
from core.shuffle.measure import measure_job
from core.trace import Floats, Ports, Trace, from_records, make_records
from core.workloads._jobs import coflow_arrival_s, hosts_of, job_seeds


def redraw(
    trace: Trace, partitioner: Partitioner, values: Values, seed: np.random.SeedSequence
) -> Trace:
    """Keep each coflow's bytes, mappers and reducers, and draw the bytes of each reducer again.

    A coflow of B bytes becomes a job of B / ``shuffle.record_bytes`` records (at least one) with
    ``shuffle.keys`` keys; the loads of its buckets, scaled to B bytes, are split equally over the
    mappers, as those of the trace are. Coflows without bytes stay as they are.

    Parameters
    ----------
    trace : Trace
    partitioner : Partitioner
    values : mapping
        ``shuffle.*``, checked.
    seed : numpy.random.SeedSequence
        As for `serve`.
    """
    seeds = job_seeds(seed, len(trace))
    mappers, hosts, loads, jobs = [], [], [], []
    for k, total in enumerate(trace.total_bytes()):
        span = slice(trace.first_flow[k], trace.first_flow[k + 1])
        senders, receivers = np.unique(trace.src[span]), np.unique(trace.dst[span])
        id_and_arrival = (int(trace.coflow_id[k]), float(trace.arrival_s[k]))
        at, load, job = _reload(
            id_and_arrival, float(total), senders, receivers, partitioner, values, seeds[k]
        )
        mappers.append(senders)
        hosts.append(at)
        loads.append(load / trace.mb_bytes)
        jobs.append(job)
    arrival = np.array([coflow_arrival_s(job) for job in jobs])
    order = np.argsort(arrival, kind="stable")
    records = make_records(mappers, hosts, loads)
    drawn = from_records(trace.name, trace.ports, trace.coflow_id, arrival, records, trace.mb_bytes)
    return replace(drawn, shuffle=tuple(jobs[k] for k in order))


def _reload(
    job: tuple[int, float],
    total: float,
    senders: Ports,
    receivers: Ports,
    partitioner: Partitioner,
    values: Values,
    seeds: tuple[np.random.SeedSequence, np.random.SeedSequence],
) -> tuple[Ports, Floats, JobMeasures]:
    """Return hosts and bytes of a coflow's buckets, and how they came out."""
    size = cast(float, values["shuffle.record_bytes"])
    count = min(max(round(total / size), 1), MAX_RECORDS)
    source = str(values["shuffle.source"])
    data = draw(values, count, len(senders), np.random.default_rng(seeds[0]), source)
    rng = np.random.default_rng(seeds[1])
    partition = partitioner.partition(data, len(receivers), values, rng)
    load = partition.load_bytes * (total / partition.load_bytes.sum())
    return hosts_of(partition, receivers), load, measure_job(*job, partition, values, load)
