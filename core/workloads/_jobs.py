"""Jobs whose shuffle makes the coflows: from counts of keys to bytes between hosts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.errors import TraceError
from core.job_measures import JobMeasures
from core.parameters import Values
from core.shuffle import KeyCounts, Partition, Partitioner
from core.shuffle.measure import measure_job
from core.trace import LATEST_S, Floats, Ints, Ports, Trace

Draw = Callable[[np.random.Generator], KeyCounts]


@dataclass(frozen=True, eq=False)
class Job:
    """A job before its shuffle.

    Attributes
    ----------
    job_id : int
    arrival_s : float
        [s]
    mappers, reducers : array of int32, shapes (M,) and (n,)
        Hosts of the map tasks and of the buckets.
    draw : callable (rng) → KeyCounts
        The map side: records by key and split, M splits.
    """

    job_id: int
    arrival_s: float
    mappers: Ports
    reducers: Ports
    draw: Draw


@dataclass(frozen=True, eq=False)
class Jobs:
    """Jobs on a fabric with `ports` ports; `name` is for messages."""

    name: str
    ports: int
    jobs: tuple[Job, ...]


def serve(
    jobs: Jobs, partitioner: Partitioner, values: Values, seed: np.random.SeedSequence
) -> Trace:
    """Shuffle every job; its coflow arrives when the sampling pre-pass is over.

    Parameters
    ----------
    jobs : Jobs
    partitioner : Partitioner
    values : mapping
        ``shuffle.*``, checked.
    seed : numpy.random.SeedSequence
        Each job has streams of its own for its records and for samples, so that partitioners
        are compared on the same records.

    Raises
    ------
    TraceError
        A pre-pass that ends later than a trace may last.
    """
    served = []
    for job, (data_seed, rule_seed) in zip(jobs.jobs, job_seeds(seed, len(jobs.jobs)), strict=True):
        data = job.draw(np.random.default_rng(data_seed))
        rng = np.random.default_rng(rule_seed)
        partition = partitioner.partition(data, len(job.reducers), values, rng)
        job_measures = measure_job(job.job_id, job.arrival_s, partition, values)
        _, sent = partition.per_split()
        hosts = hosts_of(partition, job.reducers)
        served.append((job_measures, _flows(jobs.ports, job.mappers, hosts, sent)))
    served.sort(key=lambda entry: coflow_arrival_s(entry[0]))
    return _trace(jobs, served)


def job_seeds(
    seed: np.random.SeedSequence, jobs: int
) -> list[tuple[np.random.SeedSequence, np.random.SeedSequence]]:
    """Return a seed for the records and one for the partitioner of each job."""

    def child(purpose: int, job: int) -> np.random.SeedSequence:
        # Not spawn(): it gives others each time that it is asked.
        return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, purpose, job))

    return [(child(0, job), child(1, job)) for job in range(jobs)]


def coflow_arrival_s(job_measures: JobMeasures) -> float:
    """Return when a job's coflow arrives [s]: after the sampling pre-pass."""
    return job_measures.arrival_s + job_measures.measures["sample_cost_s"]


def hosts_of(partition: Partition, reducers: Ports) -> Ports:
    """Return the host of each bucket; a bucket's later splits go round the reducers' hosts."""
    if partition.origin is None:
        return reducers
    first = np.zeros(partition.buckets, np.bool_)
    first[np.unique(partition.origin, return_index=True)[1]] = True
    hosts = reducers[partition.origin]
    extra = np.flatnonzero(~first)
    hosts[extra] = reducers[np.arange(len(extra)) % len(reducers)]
    return hosts


def _flows(ports: int, mappers: Ports, hosts: Ports, sent: Floats) -> tuple[Ports, Ports, Floats]:
    """Return sources, destinations and bytes of a coflow's flows, by receiver, then sender."""
    cell = hosts.astype(np.int64)[None, :] * ports + mappers.astype(np.int64)[:, None]
    cells, which = np.unique(cell, return_inverse=True)
    size: Floats = np.bincount(which.ravel(), weights=sent.ravel()).astype(np.float64)
    return (cells % ports).astype(np.int32), (cells // ports).astype(np.int32), size


def _trace(jobs: Jobs, served: list[tuple[JobMeasures, tuple[Ports, Ports, Floats]]]) -> Trace:
    arrival = np.array([coflow_arrival_s(job_measures) for job_measures, _ in served])
    if len(arrival) and not arrival[-1] <= LATEST_S:
        raise TraceError(
            f"{jobs.name}: job {served[-1][0].job_id} would start its shuffle at "
            f"{arrival[-1]:.3g} s, after its sample; at most {LATEST_S:.0e} s are allowed"
        )
    widths: Ints = np.array([len(flows[0]) for _, flows in served], np.int64)
    return Trace(
        name=jobs.name,
        ports=jobs.ports,
        coflow_id=np.array([job_measures.job_id for job_measures, _ in served], np.int64),
        arrival_s=arrival,
        first_flow=np.concatenate(([0], np.cumsum(widths))).astype(np.int64),
        src=np.concatenate([flows[0] for _, flows in served]),
        dst=np.concatenate([flows[1] for _, flows in served]),
        size_bytes=np.concatenate([flows[2] for _, flows in served]),
        shuffle=tuple(job_measures for job_measures, _ in served),
    )
