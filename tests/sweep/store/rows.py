"""Rows, columns of coflows and small grids for the tests of the store, and what a dataset holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from core.metrics import COFLOW_COLUMNS, METRICS
from core.parameters import Parameter
from sweep.store import (
    DatasetWriter,
    Limits,
    points_schema,
)

PARAMETERS = {
    p.key: p
    for p in (
        Parameter("queue.base", float, 10.0, "factor between thresholds"),
        Parameter("queue.count", int, 10, "number of queues"),
        Parameter("engine.backfill", bool, True, "hand out what is left"),
        Parameter("workload.path", str, None, "trace file"),
        Parameter("fabric.gbps", float, 1.0, "bandwidth of a port", unit="Gbit/s"),
    )
}
NEVER = Limits(seconds=1e9)


def row(point_id: str, status: str = "ok", **values: Any) -> dict[str, Any]:
    failed = {"error": "ValueError: no", "traceback": "Traceback …"}
    done = {m.name: m.kind(7) for m in METRICS} | {"sn_mean_cct_s": None}
    return {
        "point_id": point_id,
        "scheduler": "asebf",
        "engine": "coflowsim",
        "workload": "trace",
        "seed": 0,
        "queue_base": 2.0,
        "queue_count": 10,
        "status": status,
        "wall_s": 0.5,
        "host": "here",
        **(done if status == "ok" else failed),
        **values,
    }


def coflows(n: int = 3) -> dict[str, Any]:
    columns: dict[str, Any] = {m.name: np.arange(n) * 1.0 for m in COFLOW_COLUMNS}
    columns |= {m.name: np.arange(n, dtype=np.int32) for m in COFLOW_COLUMNS if m.kind is int}
    slowdown = np.where(np.arange(n) == 0, np.nan, 2.0)
    columns |= {"bin": np.array(["SN", "LN", "SW", "LW"])[np.arange(n) % 4]}
    return {"coflows": columns | {"slowdown": slowdown}}


def grid(*point_ids: str, **values: Any) -> list[dict[str, Any]]:
    keep = set(points_schema(PARAMETERS).names)
    # Rows of a grid that ask for the same are one.
    rows = [row(p, **{"workload_path": p, **values}) for p in point_ids]
    rows = [{k: v for k, v in r.items() if k in keep} for r in rows]
    return [{**r, "grid_row": i} for i, r in enumerate(rows)]


def opened(path: Path | str, **options: Any) -> DatasetWriter:
    return DatasetWriter.open(path, **{"parameters": PARAMETERS, "limits": NEVER, **options})


def glob_ids(path: Path, folder: str = "results") -> list[str]:
    ids: list[str] = []
    for file in sorted((path / folder).glob("*")):
        ids += pq.read_table(file)["point_id"].to_pylist()
    return ids


def statuses(path: Path) -> dict[str, str]:
    status_of: dict[str, str] = {}
    for file in sorted((path / "results").glob("*.parquet")):
        table = pq.read_table(file)
        status_of |= dict(
            zip(table["point_id"].to_pylist(), table["status"].to_pylist(), strict=True)
        )
    return status_of


def check(path: Path) -> None:
    """Whatever is there: no point twice, all that is ok is whole, no reader sees half a file."""
    ids = glob_ids(path)
    assert len(ids) == len(set(ids))
    of_coflows = glob_ids(path, "coflows")
    assert all(of_coflows.count(i) == 3 for i in of_coflows)
    ok = [i for i, status in statuses(path).items() if status == "ok"]
    assert set(of_coflows) <= set(ok)
