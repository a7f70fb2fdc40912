"""Write traces in the coflow-benchmark format: the inverse of `core.workloads._format`."""

from __future__ import annotations

import math
import os
from decimal import Decimal

import numpy as np

from core.errors import TraceError
from core.trace import Records, Trace, make_records
from core.workloads._files import write_bytes
from core.workloads._format import parse_trace


def write_trace(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write a trace file in the coflow-benchmark format; gzip if the name ends in ``.gz``.

    ResolvedRow it with the trace's `mb_bytes` gives every array back. Without records each coflow
    has to be a full mesh with equal flows into each receiver; there a size that no number of MB
    gives exactly is rounded in its last digit. The file is there complete or not at all.

    Raises
    ------
    TraceError
        The format cannot hold the trace, or the file cannot be written.
    """
    data = _rendered(trace).encode()
    # What is written can be read, and means the same.
    again = parse_trace(data, str(path), trace.mb_bytes)
    exact = ("coflow_id", "arrival_s", "first_flow", "src", "dst")
    if not (
        all(np.array_equal(getattr(trace, key), getattr(again, key)) for key in exact)
        and np.allclose(trace.size_bytes, again.size_bytes, rtol=1e-12, atol=0)
    ):
        raise TraceError(f"{trace.name}: its flows are not those of its mappers and reducers")
    write_bytes(path, data)


def _rendered(trace: Trace) -> str:
    records = trace.records or _mesh_records(trace)
    lines = [f"{trace.ports} {len(trace)}"]
    for k, (coflow_id, arrival_s) in enumerate(
        zip(trace.coflow_id.tolist(), trace.arrival_s.tolist(), strict=True)
    ):
        mappers = records.mapper[slice(*records.first_mapper[k : k + 2])].tolist()
        span = slice(*records.first_reducer[k : k + 2])
        reducers = zip(
            records.reducer[span].tolist(), records.reducer_mb[span].tolist(), strict=True
        )
        sides = [[str(port) for port in mappers], [f"{port}:{mb!r}" for port, mb in reducers]]
        arrival_ms = f"{Decimal(repr(arrival_s)).scaleb(3):f}"
        fields = [str(coflow_id), arrival_ms]
        for side in sides:
            fields += [str(len(side)), *side]
        lines.append(" ".join(fields))
    return "\n".join(lines) + "\n"


def _mesh_records(trace: Trace) -> Records:
    mappers, reducers, mb = [], [], []
    for k, coflow_id in enumerate(trace.coflow_id.tolist()):
        span = slice(*trace.first_flow[k : k + 2])
        mappers.append(np.unique(trace.src[span]))
        reducers.append(np.unique(trace.dst[span]))
        m, r, flows = len(mappers[k]), len(reducers[k]), len(trace.src[span])
        if flows != m * r:
            raise TraceError(
                f"{trace.name} coflow {coflow_id}: {flows} flows between {m} senders and {r} "
                f"receivers; the format has all {m * r} of them, so it cannot hold this coflow"
            )
        sizes = trace.size_bytes[span].reshape(r, m)
        if uneven := np.flatnonzero((sizes != sizes[:, :1]).any(axis=1)).tolist():
            raise TraceError(
                f"{trace.name} coflow {coflow_id}: the flows into receiver "
                f"{reducers[k][uneven[0]]} differ in size; the format has equal ones only"
            )
        mb.append([_mb(size, m, trace.mb_bytes) for size in sizes[:, 0].tolist()])
    return make_records(mappers, reducers, mb)


def _mb(size: float, m: int, mb_bytes: float) -> float:
    """Return MB of which an m-th is exactly `size` bytes where there are any; short ones first."""
    near = size * m / mb_bytes
    tried = (round(near, 6), near, math.nextafter(near, 0), math.nextafter(near, math.inf))
    return next((mb for mb in tried if mb * mb_bytes / m == size), near)
