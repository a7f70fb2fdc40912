"""Readers: `load` while a sweep writes, DuckDB, Polars, pandas, pyarrow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest

import sweep
from core.errors import StoreError
from sweep.store import (
    Limits,
    detail_schemas,
    load,
    results_schema,
)
from sweep.store.files import Folder
from tests.paths import ROOT
from tests.sweep.store.rows import PARAMETERS, coflows, grid, opened, row


@pytest.fixture
def dataset_path(tmp_path) -> Path:
    path = tmp_path / "d"
    with opened(path, limits=Limits(rows=2)) as dataset:
        dataset.write_points(grid(*"abcde"))
        for point_id in "abc":
            dataset.add(row(point_id, seed=None if point_id == "b" else 0), coflows())
        dataset.add(row("d", "error"))
        dataset.flush()
        yield path  # a sweep still writes


def test_load_joins_the_grid_in_its_order(dataset_path):
    table = load(dataset_path)
    assert table["point_id"].tolist() == list("abcde")
    assert table["status"].tolist()[:4] == ["ok", "ok", "ok", "error"]
    assert pd.isna(table["status"].iloc[4])
    assert table.columns[:3].tolist() == ["grid_row", "point_id", "scheduler"]
    assert table.columns[-2:].tolist() == ["wall_s", "host"]
    assert len(set(table.columns)) == len(table.columns)
    assert set(results_schema(PARAMETERS).names) <= set(table.columns)


def test_load_keeps_integers(dataset_path):
    types = load(dataset_path).dtypes.astype(str)
    assert types["queue_count"] == "int64"  # none is missing
    assert types["replicate"] == types["coflows"] == types["events"] == "Int64"
    assert types["engine_backfill"] == "boolean"
    assert types["mean_cct_s"] == "float64"


def test_load_coflows(dataset_path):
    table = load(dataset_path, coflows=True)
    assert len(table) == 9
    assert set(table["point_id"]) == set("abc")
    assert table["scheduler"].unique().tolist() == ["asebf"]
    assert table.columns[0] == "point_id"
    assert table.columns[-1] == "bin"
    assert "mean_cct_s" not in table
    assert str(table.dtypes["coflow_id"]) == "int64"
    assert str(table.dtypes["seed"]) == "Int64"
    one = table[table["point_id"] == "b"]
    assert one["coflow_id"].tolist() == [0, 1, 2]
    assert one["bin"].tolist() == ["SN", "LN", "SW"]
    assert one["slowdown"].isna().tolist() == [True, False, False]


def test_load_shows_the_newest_row_while_an_error_is_replaced(tmp_path):
    with opened(tmp_path / "d") as dataset:
        dataset.write_points(grid("a"))
        dataset.add(row("a", "error"))
    (old,) = (tmp_path / "d" / "results").iterdir()
    stale = old.read_bytes()
    with opened(tmp_path / "d") as dataset:
        dataset.add(row("a"))
    old.write_bytes(stale)  # as a reader has it that was slower than the writer
    assert load(tmp_path / "d")["status"].tolist() == ["ok"]


def test_load_survives_a_part_that_goes(dataset_path, monkeypatch):
    real, failures = Folder.read_table, [1, 1]

    def vanishing(self: Folder, name: str, columns: list[str] | None = None) -> Any:
        if failures and name.startswith("results"):
            failures.pop()
            raise FileNotFoundError(name)
        return real(self, name, columns)

    monkeypatch.setattr(Folder, "read_table", vanishing)
    assert len(load(dataset_path)) == 5
    failures += [1] * 99
    with pytest.raises(StoreError, match="kept changing while being read; wait for"):
        load(dataset_path)


def test_duckdb(dataset_path):
    results = duckdb.read_parquet(f"{dataset_path}/results/*.parquet")
    types = dict(zip(results.columns, map(str, results.dtypes), strict=True))
    assert (types["queue_count"], types["seed"], types["coflows"]) == ("BIGINT",) * 3
    assert duckdb.sql("select count(*), sum(queue_count) from results").fetchall() == [(4, 40)]
    query = f"""
        select scheduler, bin, count(*) n from '{dataset_path}/coflows/*.parquet'
        join '{dataset_path}/results/*.parquet' using (point_id)
        where status = 'ok' group by all order by bin"""
    assert duckdb.sql(query).fetchall() == [("asebf", b, 3) for b in ("LN", "SN", "SW")]
    grid_rows = f"""select grid_row, r.status from '{dataset_path}/points.parquet' p
        left join '{dataset_path}/results/*.parquet' r using (point_id) order by grid_row"""
    assert duckdb.sql(grid_rows).fetchall()[3:] == [(3, "error"), (4, None)]


def test_polars(dataset_path):
    for place in (f"{dataset_path}/results/*.parquet", f"{dataset_path}/results"):
        results = pl.scan_parquet(place).collect()
        assert results.schema["queue_count"] == pl.Int64
        assert results["seed"].null_count() == 1
        assert len(results) == 4
    coflow_rows = pl.read_parquet(f"{dataset_path}/coflows/*.parquet")
    joined = coflow_rows.join(results, on="point_id")
    assert len(joined) == 9
    assert joined["slowdown"].null_count() == 3
    assert joined["slowdown"].is_nan().sum() == 0


def test_pandas_and_pyarrow_read_the_folder(dataset_path):
    assert len(pd.read_parquet(dataset_path / "results")) == 4
    table = pyarrow.dataset.dataset(dataset_path / "coflows").to_table()
    assert table.schema.equals(detail_schemas()["coflows"])


def test_import_sweep_is_light():
    heavy = {"pyarrow", "pandas", "ray", "hydra", "numba"}
    code = f"import sys, sweep; print(sorted({heavy} & set(sys.modules)))"
    root = ROOT
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
    assert sweep.load is load
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = sweep.lode
