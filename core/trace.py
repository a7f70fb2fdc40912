"""`Trace`: coflows as immutable arrays, and what can be read off them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import TraceError
from core.job_measures import JobMeasures

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Ports = npt.NDArray[np.int32]

LATEST_S = 1e9
"""Latest arrival, 31 years: later ones leave a double too few digits for short coflows [s]."""

BINS = ("SN", "LN", "SW", "LW")
"""Short/long (length ≤ 5 MB is short) × narrow/wide (≤ 50 flows is narrow), as Varys has them."""


@dataclass(frozen=True, eq=False)
class Records:
    """Mapper and reducer records as a coflow-benchmark file has them, in file order, unmerged.

    Coflow k has the mappers ``mapper[first_mapper[k]:first_mapper[k + 1]]`` and likewise the
    reducers, each of which receives `reducer_mb` [MB of the file].
    """

    first_mapper: Ints
    mapper: Ports
    first_reducer: Ints
    reducer: Ports
    reducer_mb: Floats


@dataclass(frozen=True, eq=False)
class Trace:
    """Coflows sorted by arrival; flows of a coflow lie together, by receiver, then by sender.

    Attributes
    ----------
    name : str
        Where the trace comes from, for messages.
    ports : int
        Number of hosts P; each has one ingress and one egress port.
    coflow_id : array of int64, shape (n,)
    arrival_s : array of float64, shape (n,)
        [s], ascending; equal arrivals keep the order of the source.
    first_flow : array of int64, shape (n + 1,)
        Flows of coflow k are ``first_flow[k]:first_flow[k + 1]``.
    src, dst : array of int32, shape (F,)
        Sending and receiving host of each flow.
    size_bytes : array of float64, shape (F,)
    mb_bytes : float
        Bytes that one "MB" of the source stands for.
    records : Records, optional
        Kept where the source gave mappers and reducers: CoflowSim rounds each record.
    shuffle : tuple of JobMeasures
        Where a partitioner made the coflows: how each came out (`core.job_measures`).
    """

    name: str
    ports: int
    coflow_id: Ints
    arrival_s: Floats
    first_flow: Ints
    src: Ports
    dst: Ports
    size_bytes: Floats
    mb_bytes: float = 1e6
    records: Records | None = None
    shuffle: tuple[JobMeasures, ...] = ()

    def __post_init__(self) -> None:
        for value in (*vars(self).values(), *vars(self.records or self).values()):
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __len__(self) -> int:
        return len(self.coflow_id)

    @property
    def coflow_of_flow(self) -> Ints:
        """Index of the coflow of each flow, shape (F,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first_flow))

    def flows_per_coflow(self) -> Ints:
        """Width in flows, shape (n,)."""
        return np.diff(self.first_flow)

    def per_port(self, host: Ports) -> Floats:
        """Bytes of each coflow at each port, for `host` `src` or `dst`, shape (n, P)."""
        cell = self.coflow_of_flow * self.ports + host
        total = _sums(cell, self.size_bytes, len(self) * self.ports)
        return total.reshape(len(self), self.ports)

    def distinct_ports(self, host: Ports) -> Ints:
        """Distinct hosts per coflow on one side, shape (n,)."""
        cell = np.unique(self.coflow_of_flow * self.ports + host)
        return np.bincount(cell // self.ports, minlength=len(self)).astype(np.int64)

    def length_bytes(self) -> Floats:
        """Largest flow of each coflow [B], shape (n,)."""
        return np.maximum.reduceat(self.size_bytes, self.first_flow[:-1])

    def total_bytes(self) -> Floats:
        """Size of each coflow [B], shape (n,)."""
        return _sums(self.coflow_of_flow, self.size_bytes, len(self))

    def bins(self) -> npt.NDArray[np.str_]:
        """Bin of each coflow, one of `BINS`, shape (n,); 5 MB are MB of the source."""
        long = self.length_bytes() > 5 * self.mb_bytes
        wide = self.flows_per_coflow() > 50
        return np.array(BINS)[long + 2 * wide]


def from_flows(
    name: str,
    ports: int,
    coflows: Sequence[tuple[int, float, Sequence[tuple[int, int, float]]]],
    mb_bytes: float = 1e6,
) -> Trace:
    """Build a trace from (id, arrival [s], [(src, dst, bytes), …]) per coflow.

    Flows between the same two hosts of one coflow are added; coflows are sorted by arrival.

    Raises
    ------
    TraceError
        A host outside 0…ports − 1, a coflow without flows, a negative size or arrival.
    """
    ids, arrivals, first, merged = [], [], [0], []
    for coflow_id, arrival, flows in sorted(coflows, key=lambda c: c[1]):
        sizes: dict[tuple[int, int], float] = {}
        for src, dst, size in flows:
            if not (0 <= src < ports and 0 <= dst < ports):
                raise TraceError(
                    f"{name} coflow {coflow_id}: flow {src}→{dst} is outside 0…{ports - 1}"
                )
            if not 0 <= size < np.inf:
                raise TraceError(f"{name} coflow {coflow_id}: a flow of {size} bytes")
            sizes[dst, src] = sizes.get((dst, src), 0.0) + size
        if not sizes or not 0 <= arrival <= LATEST_S:
            raise TraceError(f"{name} coflow {coflow_id}: {len(sizes)} flows, arrival {arrival} s")
        ids.append(coflow_id)
        arrivals.append(arrival)
        merged += [(src, dst, size) for (dst, src), size in sorted(sizes.items())]
        first.append(len(merged))
    return Trace(
        name=name,
        ports=ports,
        coflow_id=np.array(ids, np.int64),
        arrival_s=np.array(arrivals, np.float64),
        first_flow=np.array(first, np.int64),
        src=np.array([f[0] for f in merged], np.int32),
        dst=np.array([f[1] for f in merged], np.int32),
        size_bytes=np.array([f[2] for f in merged], np.float64),
        mb_bytes=mb_bytes,
    )


def from_records(
    name: str,
    ports: int,
    coflow_id: npt.ArrayLike,
    arrival_s: npt.ArrayLike,
    records: Records,
    mb_bytes: float = 1e6,
) -> Trace:
    """Build a trace from mapper and reducer records, one m × r mesh a coflow.

    A reducer's bytes are split equally over the coflow's mappers; equal locations on one side are
    merged. Coflows are sorted by arrival (stable). The records are taken as checked.

    Raises
    ------
    TraceError
        An arrival outside 0…`LATEST_S`.
    """
    last = float(np.max(arrival_s))
    if not 0 <= float(np.min(arrival_s)) <= last <= LATEST_S:
        raise TraceError(f"{name}: arrivals up to {last:.3g} s are outside 0…{LATEST_S:.0e} s")
    order = np.argsort(np.asarray(arrival_s, np.float64), kind="stable")
    records = _reordered(records, order)
    sources, targets, sizes, widths = [], [], [], []
    for k in range(len(order)):
        mappers = np.unique(records.mapper[records.first_mapper[k] : records.first_mapper[k + 1]])
        span = slice(records.first_reducer[k], records.first_reducer[k + 1])
        reducers, which = np.unique(records.reducer[span], return_inverse=True)
        total = np.bincount(which, weights=records.reducer_mb[span]) * mb_bytes
        sources.append(np.tile(mappers, len(reducers)))
        targets.append(np.repeat(reducers, len(mappers)))
        sizes.append(np.repeat(total / len(mappers), len(mappers)))
        widths.append(len(mappers) * len(reducers))
    return Trace(
        name=name,
        ports=ports,
        coflow_id=np.asarray(coflow_id, np.int64)[order],
        arrival_s=np.asarray(arrival_s, np.float64)[order],
        first_flow=_offsets(widths),
        src=np.concatenate(sources).astype(np.int32),
        dst=np.concatenate(targets).astype(np.int32),
        size_bytes=np.concatenate(sizes).astype(np.float64),
        mb_bytes=mb_bytes,
        records=records,
    )


def make_records(
    mappers: Sequence[npt.ArrayLike],
    reducers: Sequence[npt.ArrayLike],
    reducer_mb: Sequence[npt.ArrayLike],
) -> Records:
    """Pack one list of mappers, of reducers and of MB per coflow into `Records`."""

    def packed(parts: Sequence[npt.ArrayLike], kind: type[np.generic]) -> Any:
        return np.concatenate([np.asarray(p, kind) for p in parts])

    return Records(
        first_mapper=_offsets([np.size(m) for m in mappers]),
        mapper=packed(mappers, np.int32),
        first_reducer=_offsets([np.size(r) for r in reducers]),
        reducer=packed(reducers, np.int32),
        reducer_mb=packed(reducer_mb, np.float64),
    )


def _sums(cell: Ints, weights: Floats, cells: int) -> Floats:
    return np.bincount(cell, weights=weights, minlength=cells).astype(np.float64, copy=False)


def _offsets(counts: Sequence[int]) -> Ints:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def _reordered(records: Records, order: npt.NDArray[np.intp]) -> Records:
    if np.array_equal(order, np.arange(len(order))):
        return records

    def parts(values: Any, first: Ints) -> list[Any]:
        return [values[first[k] : first[k + 1]] for k in order]

    return make_records(
        parts(records.mapper, records.first_mapper),
        parts(records.reducer, records.first_reducer),
        parts(records.reducer_mb, records.first_reducer),
    )
