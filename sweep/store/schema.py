"""The columns of a dataset: one schema, whatever the grid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from core.errors import StoreError
from core.metrics import (
    COFLOW_COLUMNS,
    METRICS,
    RATE_COLUMNS,
    REDUCER_COLUMNS,
    SHUFFLE_METRICS,
    Metric,
)
from core.parameters import Parameter

SCHEMA_VERSION = 1

Parameters = Mapping[str, Parameter]
Row = Mapping[str, Any]

GRID_ROW = Metric("grid_row", "", "row of the grid as requested, from 0", int)
POINT_ID = Metric("point_id", "", "hash of everything that the point's result depends on", str)
IDENTITY = (
    POINT_ID,
    Metric("scheduler", "", "name of the scheduler", str),
    Metric("engine", "", "name of the engine", str),
    Metric("workload", "", "name of the workload", str),
    Metric("trace_id", "", "hash of the trace: a file's bytes, or a generator's parameters", str),
    Metric("replicate", "", "replicate of a random workload, from 0", int),
    Metric("seed", "", "seed of the sweep", int),
)
STATUS = (
    Metric("status", "", "ok, or what went wrong: error, timeout", str),
    Metric("error", "", "message of a point that failed", str),
    Metric("traceback", "", "where it failed", str),
)
RUN = (
    Metric("wall_s", "s", "time that the point took"),
    Metric("host", "", "machine that ran the point", str),
)

OUTCOME = tuple(column.name for column in (*STATUS, *METRICS, *SHUFFLE_METRICS, *RUN))
"""Columns of results that are neither the point's identity nor its parameters."""

DETAILS = {"coflows": COFLOW_COLUMNS, "reducers": REDUCER_COLUMNS, "rates": RATE_COLUMNS}
"""Tables with several rows a point: one a coflow, one a job and bucket, one a job and rate."""

_ARROW = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}


def results_schema(parameters: Parameters | None = None) -> pa.Schema:
    """Return the schema of ``results/part-*.parquet``, one row per unique point.

    Parameters
    ----------
    parameters : mapping of str to Parameter, optional
        By key; everything that `core.keys.parameters` has if none are passed.
    """
    outcome = (*STATUS, *METRICS, *SHUFFLE_METRICS, *RUN)
    return _schema("results", (*IDENTITY, *_columns(parameters), *outcome))


def points_schema(parameters: Parameters | None = None) -> pa.Schema:
    """Return the schema of ``points.parquet``, one row per grid row, as asked for."""
    return _schema("points", (GRID_ROW, *IDENTITY, *_columns(parameters)))


def detail_schemas() -> dict[str, pa.Schema]:
    """Return the schema of the files of each table in `DETAILS`.

    Text columns are plain strings: files hold them dictionary-encoded all the same, and a join
    on ``point_id`` needs no cast in any reader.
    """
    return {name: _schema(name, (POINT_ID, *columns)) for name, columns in DETAILS.items()}


def check_version(schema: pa.Schema, shown: str) -> None:
    """Raise `StoreError` where a file is not one of ours, or of another schema version."""
    check_version_number((schema.metadata or {}).get(b"schema_version", b"").decode(), shown)


def check_version_number(version: object, shown: str) -> None:
    """Raise `StoreError` where the version of a file or a manifest is not `SCHEMA_VERSION`."""
    if version in ("", None):
        raise StoreError(f"{shown} was not written by coflow-sweep: it has no schema version")
    if str(version) != str(SCHEMA_VERSION):
        raise StoreError(
            f"{shown} has schema version {version}, this coflow-sweep reads and writes "
            f"{SCHEMA_VERSION}; use the version that wrote it, or set another output.dir"
        )


def _columns(parameters: Parameters | None) -> Iterable[Metric]:
    if parameters is None:
        from core.keys import parameters as registered  # a reader does without the kernels

        parameters = registered()
    return [Metric(p.column, p.unit, p.help, p.kind) for p in parameters.values()]


def _schema(name: str, columns: Sequence[Metric]) -> pa.Schema:
    names = [column.name for column in columns]
    if twice := sorted({n for n in names if names.count(n) > 1}):
        raise TypeError(f"{name} would have two columns of one name: {', '.join(twice)}")
    fields = [
        pa.field(c.name, _ARROW[c.kind], metadata={"unit": c.unit, "help": c.help}) for c in columns
    ]
    return pa.schema(fields, metadata={"schema_version": str(SCHEMA_VERSION), "table": name})
