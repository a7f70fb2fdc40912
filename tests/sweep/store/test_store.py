"""The dataset: one schema, whole parts, nothing doubled or lost, and who reads it.

``python -m tests.test_store --regenerate`` writes ``tests/golden/schema.json`` anew.
"""

from __future__ import annotations

import errno
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

import sweep
from core.errors import StoreError
from core.metrics import COFLOW_COLUMNS, METRICS
from core.parameters import Parameter
from sweep.store import (
    SCHEMA_VERSION,
    DatasetWriter,
    Limits,
    detail_schemas,
    load,
    points_schema,
    read_manifest,
    results_schema,
)
from sweep.store.files import POINTS, Folder
from tests.paths import ROOT

GOLDEN = ROOT / "tests" / "golden" / "schema.json"
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
    rows = [{k: v for k, v in row(p, **values).items() if k in keep} for p in point_ids]
    return [{**r, "grid_row": i} for i, r in enumerate(rows)]


def opened(path: Path | str, **options: Any) -> DatasetWriter:
    return DatasetWriter.open(path, **{"parameters": PARAMETERS, "limits": NEVER, **options})


def glob_ids(path: Path, folder: str = "results") -> list[str]:
    found: list[str] = []
    for file in sorted((path / folder).glob("*")):
        found += pq.read_table(file)["point_id"].to_pylist()
    return found


def statuses(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for file in sorted((path / "results").glob("*.parquet")):
        table = pq.read_table(file)
        found |= dict(zip(table["point_id"].to_pylist(), table["status"].to_pylist(), strict=True))
    return found


# ---- the schema ---------------------------------------------------------------------------------


def shipped_schema() -> dict[str, Any]:
    def listed(schema: pa.Schema) -> list[list[str]]:
        return [[f.name, str(f.type), f.metadata[b"unit"].decode()] for f in schema]

    tables = {"results": results_schema(), "points": points_schema(), **detail_schemas()}
    return {"schema_version": SCHEMA_VERSION} | {
        name: listed(schema) for name, schema in tables.items()
    }


def written(schema: dict[str, Any]) -> str:
    lines = [f' "schema_version": {schema["schema_version"]}']
    for name in ("results", "points", "coflows", "reducers", "rates"):
        columns = ",\n".join(f"  {json.dumps(c, ensure_ascii=False)}" for c in schema[name])
        lines.append(f' "{name}": [\n{columns}\n ]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def test_schema_is_the_golden_one():
    advice = "run  python -m tests.test_store --regenerate  and read the difference"
    assert GOLDEN.exists(), advice
    golden = json.loads(GOLDEN.read_text("utf-8"))
    assert shipped_schema() == golden, (
        f"the dataset's columns changed; if that is meant, {advice}: a column that goes, or "
        "changes its type or unit, needs another SCHEMA_VERSION"
    )


def test_schema_has_types_units_help_and_version(tmp_path):
    with opened(tmp_path / "d") as dataset:
        dataset.add(row("a"), coflows())
    schema = pq.read_schema(next((tmp_path / "d" / "results").iterdir()))
    assert schema.equals(results_schema(PARAMETERS), check_metadata=True)
    assert schema.metadata[b"schema_version"] == b"1"
    assert schema.field("fabric_gbps").metadata == {
        b"unit": b"Gbit/s",
        b"help": b"bandwidth of a port",
    }
    types = {name: str(schema.field(name).type) for name in schema.names}
    assert (types["queue_count"], types["queue_base"]) == ("int64", "double")
    assert (types["engine_backfill"], types["workload_path"]) == ("bool", "string")
    assert (types["replicate"], types["seed"], types["coflows"]) == ("int64",) * 3


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(TypeError, match="two columns of one name: status"):
        results_schema({"status": Parameter("status", str, "", "")})


def test_every_part_has_the_schema_whatever_is_null(tmp_path):
    path = tmp_path / "d"
    for name, values in {"a": {}, "b": {"workload_path": "x"}, "c": {"queue_count": None}}.items():
        with opened(path) as dataset:
            dataset.add(row(name, **values))
    files = sorted((path / "results").iterdir())
    assert len(files) == 3
    assert {str(pq.read_schema(f)) for f in files} == {str(results_schema(PARAMETERS))}


def test_values_of_another_type_and_unknown_columns_are_refused(tmp_path):
    dataset = opened(tmp_path / "d")
    with pytest.raises(KeyError, match="point a: no such columns: colour"):
        dataset.add(row("a", colour="red"))
    dataset.add(row("a", queue_count="ten"))
    with pytest.raises(TypeError, match=r"column queue_count \(int64\)"):
        dataset.close()


# ---- writing and resuming -----------------------------------------------------------------------


def test_finished_and_failed_survive_the_process(tmp_path):
    with opened(tmp_path / "d") as dataset:
        dataset.add(row("a"))
        dataset.add(row("b", "error"))
        dataset.add(row("c", "timeout"))
        assert dataset.finished() == {"a"}
    again = opened(tmp_path / "d")
    assert again.finished() == {"a"}
    assert again.failed() == {"b", "c"}
    again.close()


def test_flush_by_rows_bytes_and_time(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    dataset = opened(tmp_path / "d", limits=Limits(rows=3, nbytes=10**4, seconds=2.0))
    for point_id in "ab":
        dataset.add(row(point_id))
    assert glob_ids(tmp_path / "d") == []
    dataset.add(row("c"))
    assert glob_ids(tmp_path / "d") == ["a", "b", "c"]
    dataset.add(row("d"), coflows(1000))
    assert "d" in glob_ids(tmp_path / "d")
    dataset.add(row("e"))
    clock[0] = 1.9
    dataset.poll()
    assert "e" not in glob_ids(tmp_path / "d")
    clock[0] = 2.0
    dataset.poll()
    assert "e" in glob_ids(tmp_path / "d")
    dataset.close()


def test_small_flushes_share_a_part_and_full_parts_are_left_alone(tmp_path):
    with opened(tmp_path / "d", limits=Limits(rows=4, seconds=0.0)) as dataset:
        for k in range(10):
            dataset.add(row(f"p{k}"), coflows(2))
    counts = [pq.read_metadata(f).num_rows for f in sorted((tmp_path / "d/results").iterdir())]
    assert counts == [4, 4, 2]
    counts = [pq.read_metadata(f).num_rows for f in sorted((tmp_path / "d/coflows").iterdir())]
    assert counts == [8, 8, 4]


def test_a_later_run_never_touches_the_parts_of_an_earlier_one(tmp_path):
    with opened(tmp_path / "d") as dataset:
        dataset.add(row("a"))
    (first,) = (tmp_path / "d" / "results").iterdir()
    before = first.stat().st_mtime_ns
    with opened(tmp_path / "d") as dataset:
        dataset.add(row("b"))
    assert first.stat().st_mtime_ns == before
    assert sorted(glob_ids(tmp_path / "d")) == ["a", "b"]


def test_a_point_that_is_finished_is_not_written_again(tmp_path):
    with opened(tmp_path / "d") as dataset:
        dataset.add(row("a"))
        dataset.add(row("a", "error"))
        dataset.flush()
        dataset.add(row("a"))
    with opened(tmp_path / "d") as dataset:
        dataset.add(row("a"))
    assert statuses(tmp_path / "d") == {"a": "ok"}
    assert glob_ids(tmp_path / "d") == ["a"]


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("reopen", [False, True])
@pytest.mark.parametrize("others", [False, True])
def test_a_rerun_takes_the_place_of_the_error(tmp_path, flush, reopen, others):
    dataset = opened(tmp_path / "d")
    if others:
        dataset.add(row("b"), coflows())
    dataset.add(row("a", "error"))
    if flush:
        dataset.flush()
    if reopen:
        dataset.close()
        dataset = opened(tmp_path / "d")
    dataset.add(row("a"), coflows())
    assert not dataset.failed()
    dataset.close()
    wanted = ["a", "b"] if others else ["a"]
    assert sorted(glob_ids(tmp_path / "d")) == wanted
    assert set(statuses(tmp_path / "d").values()) == {"ok"}
    assert sorted(glob_ids(tmp_path / "d", "coflows")) == sorted(3 * wanted)


def test_an_error_again_takes_the_place_of_the_error(tmp_path):
    for status in ("error", "timeout", "error"):
        with opened(tmp_path / "d") as dataset:
            dataset.add(row("a", status))
            dataset.flush()
            dataset.add(row("a", status))
        assert glob_ids(tmp_path / "d") == ["a"]
        assert statuses(tmp_path / "d") == {"a": status}


def test_points_without_coflows_run_again_when_coflows_are_asked_for(tmp_path):
    with opened(tmp_path / "d") as dataset:
        dataset.add(row("a"))
        dataset.add(row("b"), coflows())
    with opened(tmp_path / "d", details=("coflows",)) as dataset:
        assert dataset.finished() == {"b"}
        assert not dataset.failed()
        dataset.add(row("a"), coflows())
    assert sorted(glob_ids(tmp_path / "d")) == ["a", "b"]
    with opened(tmp_path / "d", details=("coflows",)) as dataset:
        assert dataset.finished() == {"a", "b"}


def test_one_writer_at_a_time(tmp_path):
    first = opened(tmp_path / "d")
    with pytest.raises(StoreError, match="another sweep is writing to it"):
        opened(tmp_path / "d")
    first.close()
    opened(tmp_path / "d").close()


def test_a_new_parameter_becomes_a_null_column_of_what_is_there(tmp_path):
    path = tmp_path / "d"
    with opened(path) as dataset:
        dataset.write_points(grid("a"))
        dataset.add(row("a"))
    more = {"aging.s": Parameter("aging.s", float, 1.0, "", unit="s"), **PARAMETERS}
    with opened(path, parameters=more) as dataset:
        assert dataset.finished() == {"a"}
        dataset.write_points([*grid("a"), {**grid("b")[0], "grid_row": 1, "aging_s": 2.0}])
        dataset.add(row("b", aging_s=2.0))
    assert len({str(pq.read_schema(f)) for f in (path / "results").iterdir()}) == 1
    table = load(path)
    assert table["aging_s"].isna().tolist() == [True, False]
    with pytest.raises(StoreError, match=r"columns that this installation does not write: aging_s"):
        opened(path)


def test_uri_and_a_filesystem_that_is_not_local(tmp_path, monkeypatch):
    with opened(f"file://{tmp_path}/d") as dataset:
        dataset.add(row("a"))
    assert glob_ids(tmp_path / "d") == ["a"]
    elsewhere = Folder(pafs.SubTreeFileSystem(str(tmp_path), pafs.LocalFileSystem()), "e", "x://e")
    monkeypatch.setattr(Folder, "at", lambda directory: elsewhere)
    for point_id in "ab":
        with opened("x://e") as dataset:
            dataset.write_points(grid("a", "b"))
            dataset.add(row(point_id), coflows())
    assert load("x://e")["status"].tolist() == ["ok", "ok"]


# ---- points and the manifest --------------------------------------------------------------------


def points(path: Path) -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = pq.read_table(path / "points.parquet").to_pydict()
    return table


def test_points_keep_rows_of_earlier_grids_that_have_results(tmp_path):
    path = tmp_path / "d"
    with opened(path) as dataset:
        dataset.write_points(grid("a", "b", "c"))
        dataset.add(row("a"))
        dataset.add(row("b", "error"))
    with opened(path) as dataset:
        dataset.write_points(grid("d", "a"))
    kept = points(path)
    assert kept["point_id"] == ["d", "a", "b"]
    assert kept["grid_row"] == [0, 1, 2]
    with opened(path) as dataset:
        dataset.write_points(grid("d", "a"))
    assert points(path) == kept


def test_points_of_the_same_grid_are_kept(tmp_path):
    path = tmp_path / "d"
    for digest in ("one", "one", "two"):
        with opened(path) as dataset:
            dataset.write_points(grid("a", "b") if digest == "one" else grid("b"), digest)
            dataset.add(row("a"))
    assert points(path)["point_id"] == ["b", "a"]
    assert pq.read_schema(path / "points.parquet").metadata[b"grid"] == b"two"
    with opened(path) as dataset:
        before = (path / "points.parquet").stat()
        dataset.write_points(iter([]), "two")
    assert (path / "points.parquet").stat().st_mtime_ns == before.st_mtime_ns


def test_damaged_points_of_the_same_grid_are_written_again(tmp_path):
    path = tmp_path / "d"
    with opened(path) as dataset:
        dataset.write_points(grid(*(f"p{k}" for k in range(500))), "one")
    content = bytearray((path / "points.parquet").read_bytes())
    content[len(content) // 3] ^= 0xFF
    (path / "points.parquet").write_bytes(content)
    with opened(path) as dataset:
        dataset.write_points(grid("a"), "one")
        assert list(dataset.set_aside) == [POINTS]
    assert points(path)["point_id"] == ["a"]


def test_points_keep_the_values_asked_for(tmp_path):
    asked = grid("a") + [{**r, "grid_row": 1} for r in grid("a", queue_base=4.0)]
    with opened(tmp_path / "d") as dataset:
        dataset.write_points(asked)
        dataset.add(row("a", queue_base=None))
    table = load(tmp_path / "d")
    assert table["queue_base"].tolist() == [2.0, 4.0]
    assert table["point_id"].tolist() == ["a", "a"]
    assert table["status"].tolist() == ["ok", "ok"]


def test_points_of_an_empty_grid_and_of_many_batches(tmp_path):
    with opened(tmp_path / "d") as dataset:
        dataset.write_points([])
        assert points(tmp_path / "d")["grid_row"] == []
        dataset.write_points(iter(grid(*(f"{i:05d}" for i in range(12_001)))))
    assert points(tmp_path / "d")["grid_row"] == list(range(12_001))


def test_manifest_carries_the_schema_version(tmp_path):
    with opened(tmp_path / "d") as dataset:
        assert dataset.read_manifest() == {"schema_version": 1}
        dataset.write_manifest({"command": "python -m sweep", "schema_version": 99})
    assert read_manifest(tmp_path / "d") == {"command": "python -m sweep", "schema_version": 1}


# ---- what cannot be used ------------------------------------------------------------------------


def test_a_directory_of_other_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(StoreError, match=r"is not a dataset: it holds thesis.tex"):
        opened(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("content", ['{"name": "web app"}', "[1]", "not json"])
def test_another_programs_manifest_is_refused(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(StoreError, match=r"manifest\.json"):
        opened(tmp_path)
    with pytest.raises(StoreError, match=r"manifest\.json"):
        load(tmp_path)


def test_another_schema_version_is_refused(tmp_path):
    with opened(tmp_path / "d") as dataset:
        dataset.write_points(grid("a"))
        dataset.add(row("a"))
    (part,) = (tmp_path / "d" / "results").iterdir()
    table = pq.read_table(part)
    pq.write_table(table.replace_schema_metadata({b"schema_version": b"2"}), part)
    for use in (opened, load):
        with pytest.raises(StoreError, match=r"part-000001.parquet has schema version 2.*writes 1"):
            use(tmp_path / "d")
    pq.write_table(table.replace_schema_metadata({}), part)
    with pytest.raises(StoreError, match="not written by coflow-sweep"):
        opened(tmp_path / "d")
    (tmp_path / "d" / "manifest.json").write_text('{"schema_version": 3}')
    for use in (opened, load):
        with pytest.raises(StoreError, match=r"manifest.json has schema version 3"):
            use(tmp_path / "d")


def test_a_file_in_the_place_of_the_directory(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="is a file"):
        opened(tmp_path / "file")
    with pytest.raises(StoreError, match=r"cannot .*Not a directory"):
        opened(tmp_path / "file" / "below")
    with pytest.raises(StoreError, match="Not a directory"):
        load(tmp_path / "file")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc")
def test_an_unwritable_directory():
    with pytest.raises(StoreError, match="cannot create /proc/sweep"):
        opened("/proc/sweep")


def test_an_unknown_filesystem():
    with pytest.raises(StoreError, match="cannot use zz://x: Unrecognized filesystem"):
        opened("zz://x")


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "flipped"])
@pytest.mark.parametrize("folder", ["results", "coflows"])
def test_a_damaged_part_is_named_and_set_aside(tmp_path, damage, folder):
    with opened(tmp_path / "d") as dataset:
        dataset.write_points(grid("a"))
        dataset.add(row("a"), coflows())
    (part,) = (tmp_path / "d" / folder).iterdir()
    whole = part.read_bytes()
    flipped = bytes([*whole[:30], whole[30] ^ 1, *whole[31:]])
    damaged = {"cut": whole[: len(whole) // 2], "empty": b"", "text": b"x" * 99, "flipped": flipped}
    part.write_bytes(damaged[damage])
    message = rf"{folder}/part-000001.parquet is damaged .*Run the sweep again: the file moves"
    with pytest.raises(StoreError, match=message):
        load(tmp_path / "d", coflows=folder == "coflows")
    with opened(tmp_path / "d", details=("coflows",)) as dataset:
        assert not dataset.finished()
        ((name, place),) = dataset.set_aside.items()
        assert name.endswith(f"{folder}/part-000001.parquet")
        assert place.endswith(f"damaged/{folder}-part-000001.parquet")
        assert Path(place).stat().st_size == part_size(damage, whole)
        dataset.add(row("a"), coflows())
    assert glob_ids(tmp_path / "d") == ["a"]
    assert glob_ids(tmp_path / "d", "coflows") == ["a"] * 3
    assert load(tmp_path / "d")["status"].tolist() == ["ok"]


def part_size(damage: str, whole: bytes) -> int:
    return {"cut": len(whole) // 2, "empty": 0, "text": 99, "flipped": len(whole)}[damage]


def test_damaged_parts_of_one_name_are_all_kept(tmp_path):
    for _ in range(3):
        with opened(tmp_path / "d") as dataset:
            dataset.add(row("a"))
        next((tmp_path / "d" / "results").iterdir()).write_bytes(b"x")
        opened(tmp_path / "d").close()
    names = [f"results-part-000001.parquet{n}" for n in ("", ".2", ".3")]
    assert sorted(file.name for file in (tmp_path / "d" / "damaged").iterdir()) == names


def test_a_part_that_cannot_be_reached_is_not_set_aside(tmp_path, monkeypatch):
    """A network that is down is no damage."""
    with opened(tmp_path / "d") as dataset:
        dataset.add(row("a"))

    class Down:
        def __getattr__(self, name: str) -> Any:
            return getattr(pafs.LocalFileSystem(), name)

        def open_input_file(self, path: str) -> Any:
            raise OSError("no route to host")

    down = Folder(Down(), str(tmp_path / "d"), "d")
    monkeypatch.setattr(Folder, "at", lambda directory: down)
    with pytest.raises(StoreError, match=r"cannot read d/results/part-000001\.parquet: no route"):
        opened("d")
    assert not (tmp_path / "d" / "damaged").exists()


def test_damaged_points_are_set_aside_and_written_again(tmp_path):
    with opened(tmp_path / "d") as dataset:
        dataset.write_points(grid("a"))
        dataset.add(row("a"))
    (tmp_path / "d" / "points.parquet").write_bytes(b"x")
    with opened(tmp_path / "d") as dataset:
        dataset.write_points(grid("a", "b"))
        assert list(dataset.set_aside) == [POINTS]
    assert load(tmp_path / "d")["point_id"].tolist() == ["a", "b"]


def test_load_says_what_is_missing(tmp_path):
    with pytest.raises(StoreError, match="nowhere does not exist or is empty"):
        load(tmp_path / "nowhere")
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(StoreError, match=r"is not a dataset: it has no manifest\.json"):
        load(tmp_path)
    with opened(tmp_path / "d") as dataset:
        with pytest.raises(StoreError, match=r"no points\.parquet yet"):
            load(tmp_path / "d")
        dataset.write_points(grid("a"))
        with pytest.raises(StoreError, match="no results yet"):
            load(tmp_path / "d")
        dataset.add(row("a"))
    with pytest.raises(StoreError, match=r"no coflows: run its sweep with output\.coflows=true"):
        load(tmp_path / "d", coflows=True)


# ---- faults -------------------------------------------------------------------------------------


class KilledError(BaseException):
    """The process ends here; nothing that follows reaches the disk."""


class Faulty:
    """A local filesystem whose k-th change is the last one, or whose disk fills up."""

    def __init__(self, kill_at: int = 10**9, room: int = 10**12) -> None:
        self.local = pafs.LocalFileSystem()
        self.kill_at, self.room, self.changes = kill_at, room, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.local, name)

    def _change(self) -> None:
        self.changes += 1
        if self.changes >= self.kill_at:
            raise KilledError

    def create_dir(self, *args: Any, **options: Any) -> None:
        self._change()
        self.local.create_dir(*args, **options)

    def delete_file(self, path: str) -> None:
        self._change()
        self.local.delete_file(path)

    def move(self, source: str, target: str) -> None:
        self._change()
        self.local.move(source, target)

    def open_output_stream(self, path: str) -> Any:
        Path(path).write_bytes(b"PAR1 half of it")
        self._change()
        return Filling(path, self)


class Filling(io.FileIO):
    def __init__(self, path: str, disk: Faulty) -> None:
        super().__init__(path, "w")
        self.disk = disk

    def write(self, content: Any) -> int:
        self.disk.room -= len(memoryview(content))
        if self.disk.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(content)


@pytest.fixture
def faulty(monkeypatch) -> Callable[[Faulty], None]:
    def use(disk: Faulty) -> None:
        def at(directory: str | os.PathLike[str]) -> Folder:
            return Folder(disk, str(Path(directory).absolute()), str(directory))

        monkeypatch.setattr(Folder, "at", at)

    return use


def scenario(path: Path) -> Iterator[None]:
    """Two runs: errors run again, coflows added later, several parts."""
    with opened(path, limits=Limits(rows=3, seconds=1e9)) as dataset:
        dataset.write_points(grid(*"abcdef"))
        for k, point_id in enumerate("abcdef"):
            with_coflows = coflows() if k < 3 else None
            dataset.add(row(point_id, "error" if k % 3 == 1 else "ok"), with_coflows)
            dataset.flush()
            if point_id == "e":  # in the part that still grows
                dataset.add(row("e"), coflows())
                dataset.flush()
        dataset.add(row("b"), coflows())
        dataset.flush()
        yield
    with opened(path, limits=Limits(rows=2, seconds=1e9), details=("coflows",)) as dataset:
        for point_id in sorted(set("abcdefgh") - dataset.finished()):
            dataset.add(row(point_id), coflows())
        dataset.write_points(grid(*"abcdefgh"))
        yield


def check(path: Path) -> None:
    """Whatever is there: no point twice, all that is ok is whole, no reader sees half a file."""
    ids = glob_ids(path)
    assert len(ids) == len(set(ids))
    of_coflows = glob_ids(path, "coflows")
    assert all(of_coflows.count(i) == 3 for i in of_coflows)
    ok = [i for i, status in statuses(path).items() if status == "ok"]
    assert set(of_coflows) <= set(ok)


def test_killed_between_any_two_changes_of_the_disk(tmp_path, faulty):
    faulty(counting := Faulty())
    for _ in scenario(tmp_path / "whole"):
        pass
    assert counting.changes > 40
    before: set[str] = set()
    for k in range(1, counting.changes + 1):
        path = tmp_path / f"killed-{k}"
        faulty(Faulty(kill_at=k))
        with pytest.raises(KilledError):
            for _ in scenario(path):
                pass
        ids = glob_ids(path)  # as a reader sees it at that instant
        assert len(ids) == len(set(ids)), k
        ok = {i for i, status in statuses(path).items() if status == "ok"}
        assert ok & set("abcegh") <= set(glob_ids(path, "coflows")), k
        faulty(Faulty())
        opened(path).close()
        check(path)
        assert not list((path / ".tmp").iterdir())
        for _ in scenario(path):
            pass
        check(path)
        assert statuses(path) == dict.fromkeys("abcdefgh", "ok")
        assert sorted(glob_ids(path, "coflows")) == sorted(3 * "abcdefgh")
        before |= set(ids)
    assert before >= set("abcdefg")


def fragments(path: Path, n: int = 7) -> None:
    """As many interrupted runs leave a dataset: a small part each, one without coflows."""
    for k in range(n):
        with opened(path, limits=Limits(rows=100, seconds=1e9)) as dataset:
            dataset.write_points(grid(*(f"p{i}" for i in range(n + 1))))
            dataset.add(row(f"p{k}"), None if k == 3 else coflows())
            if k == n - 1:
                dataset.add(row(f"p{n}", "error"))


def contents(path: Path) -> list[pd.DataFrame]:
    tables = [load(path), load(path, coflows=True)]
    keys = ["grid_row"], ["point_id", "coflow_id"]
    return [t.sort_values(k).reset_index(drop=True) for t, k in zip(tables, keys, strict=True)]


def test_small_parts_are_merged_at_the_end(tmp_path):
    path = tmp_path / "d"
    fragments(path)
    before = contents(path)
    with opened(path, limits=Limits(rows=10, seconds=1e9)) as dataset:
        dataset.compact()
        dataset.add(row("p7"), coflows())  # the error's part is another one now
    names = sorted(file.name for file in (path / "results").iterdir())
    assert names == ["part-000001.parquet", "part-000009.parquet"]
    ids = [f"p{k}" for k in range(8)]
    assert sorted(glob_ids(path)) == ids
    assert sorted(glob_ids(path, "coflows")) == sorted(3 * [i for i in ids if i != "p3"])
    assert set(statuses(path).values()) == {"ok"}
    for old, new in zip(before, contents(path), strict=True):
        others = (t[t["point_id"] != "p7"] for t in (old, new))
        pd.testing.assert_frame_equal(*others, check_dtype=False)


def test_full_parts_are_not_merged(tmp_path):
    path = tmp_path / "d"
    fragments(path, 12)
    with opened(path, limits=Limits(rows=5, seconds=1e9)) as dataset:
        dataset.compact()
        sizes = [pq.read_metadata(f).num_rows for f in sorted((path / "results").iterdir())]
        assert sizes == [5, 5, 3]
        before = {f: f.stat().st_mtime_ns for f in (path / "results").iterdir()}
        dataset.compact()  # 5 rows are more than half of a part, and 3 are alone
    assert before == {f: f.stat().st_mtime_ns for f in (path / "results").iterdir()}


def test_killed_while_parts_are_merged(tmp_path, faulty):
    limits = Limits(rows=10, seconds=1e9)
    fragments(tmp_path / "whole")
    before = contents(tmp_path / "whole")
    faulty(counting := Faulty())
    with opened(tmp_path / "whole", limits=limits) as dataset:
        start = counting.changes
        dataset.compact()
    assert counting.changes - start > 15
    for k in range(start + 1, counting.changes + 1):
        path = tmp_path / f"killed-{k}"
        faulty(Faulty())
        fragments(path)
        faulty(Faulty(kill_at=k))

        def merge(path: Path = path) -> None:
            with opened(path, limits=limits) as dataset:
                dataset.compact()

        with pytest.raises(KilledError):
            merge()
        ids = glob_ids(path)  # whatever reads the folder: no point twice
        assert len(ids) == len(set(ids)), k
        assert all(glob_ids(path, "coflows").count(i) <= 3 for i in set(ids))
        faulty(Faulty())
        for when in ("as it was left", "opened again", "merged"):
            for old, new in zip(before, contents(path), strict=True):
                assert old.equals(new), (k, when)
            if when == "as it was left":
                with opened(path, limits=limits) as dataset:
                    assert dataset.finished() == {f"p{n}" for n in range(7)}
                    assert dataset.failed() == {"p7"}
            else:
                merge()
        assert len(list((path / "results").iterdir())) == 1
        assert not list((path / ".tmp").iterdir())


def test_a_reader_sees_no_point_twice_while_parts_are_merged(tmp_path, monkeypatch):
    """Parts that are read before the merge, and the merged one: `load` starts again."""
    path = tmp_path / "d"
    fragments(path)
    before = contents(path)
    real, merged = Folder.read_table, []

    def slow(self: Folder, name: str, columns: list[str] | None = None) -> Any:
        if name == "coflows/part-000001.parquet" and not merged:
            merged.append(name)
            with opened(path, limits=Limits(rows=100)) as dataset:
                dataset.compact()
        return real(self, name, columns)

    monkeypatch.setattr(Folder, "read_table", slow)
    table = load(path, coflows=True)
    assert merged
    monkeypatch.undo()
    assert len(table) == len(before[1])


def test_an_interrupted_flush_can_be_repeated(tmp_path, faulty):
    with opened(tmp_path / "d") as dataset:
        dataset.add(row("a", "error"))
    faulty(disk := Faulty())
    dataset = opened(tmp_path / "d")
    dataset.add(row("a"), coflows())
    dataset.add(row("b"), coflows())
    interrupted = 0
    for k in range(1, 20):
        disk.changes, disk.kill_at = 0, k
        try:
            dataset.flush()
        except KilledError:
            interrupted += 1
            continue
        break
    assert interrupted > 3
    disk.kill_at = 10**9
    dataset.close()
    assert sorted(glob_ids(tmp_path / "d")) == ["a", "b"]
    assert sorted(glob_ids(tmp_path / "d", "coflows")) == sorted(3 * "ab")


def test_a_full_disk_leaves_what_is_finished_and_the_buffer(tmp_path, faulty):
    faulty(disk := Faulty())
    dataset = opened(tmp_path / "d")
    dataset.write_points(grid("a", "b"))
    dataset.add(row("a", "error"))
    dataset.add(row("b"), coflows())
    dataset.flush()
    dataset.add(row("a"), coflows(50))
    dataset.add(row("c"), coflows(50))
    for room in (0, 3000, 9000):
        disk.room = room
        with pytest.raises(
            StoreError,
            match=r"No space left on device; the results so far stay readable. Free some space",
        ):
            dataset.flush()
        assert not list((tmp_path / "d" / ".tmp").iterdir())
        assert statuses(tmp_path / "d") == {"a": "error", "b": "ok"}
        assert load(tmp_path / "d")["status"].tolist() == ["error", "ok"]
    disk.room = 10**9
    dataset.close()
    assert statuses(tmp_path / "d") == dict.fromkeys("abc", "ok")


def test_an_error_of_the_store_is_not_raised_twice(tmp_path, faulty):
    faulty(disk := Faulty())

    def run() -> None:
        with opened(tmp_path / "d") as dataset:
            disk.room = 0
            dataset.add(row("a"))
            dataset.flush()

    with pytest.raises(StoreError, match="No space") as caught:
        run()
    assert not isinstance(caught.value.__context__, StoreError)


def test_an_exception_in_the_block_loses_no_buffered_row(tmp_path):
    def run() -> None:
        with opened(tmp_path / "d") as dataset:
            dataset.add(row("a"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert glob_ids(tmp_path / "d") == ["a"]


WRITER = """
import sys
from tests.sweep.store.test_store import coflows, opened, row
from sweep.store import Limits
with opened(sys.argv[1], limits=Limits(rows=5, seconds=1e9)) as dataset:
    for k in range(10**6):
        if f"p{k}" not in dataset.finished():
            dataset.add(row(f"p{k}", "error" if k % 4 == 3 else "ok"), coflows())
        if k % 4 == 0 and k:
            dataset.add(row(f"p{k - 1}"), coflows())
        if k % 10 == 9:
            dataset.flush()
            print(k, flush=True)
"""


MANY = """
import resource, sys
from tests.sweep.store.test_store import coflows, opened, row
from sweep.store import Limits
table, peaks = coflows(526), []
with opened(sys.argv[1], limits=Limits()) as dataset:
    for k in range(int(sys.argv[2])):
        dataset.add(row(f"p{k:06d}"), table)
        if k % 1000 == 999:
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
    dataset.compact()
print(*peaks)
"""


@pytest.mark.slow
def test_five_million_coflows_in_flat_memory(tmp_path):
    root = ROOT
    command = [sys.executable, "-c", MANY, str(tmp_path / "d"), "10000"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    peaks = [float(word) for word in done.stdout.split()]
    assert len(peaks) == 10
    assert peaks[-1] < peaks[1] + 100, peaks  # MB
    files = sorted((tmp_path / "d" / "coflows").iterdir())
    assert sum(pq.read_metadata(file).num_rows for file in files) == 5_260_000
    assert 5 <= len(files) <= 60
    assert sorted(f.name for f in (tmp_path / "d" / "results").iterdir()) == [f.name for f in files]


def test_kill_9_at_random_instants(tmp_path):
    path, root, durable = tmp_path / "d", ROOT, -1
    pause = random.Random(1)
    for _ in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], cwd=root, stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        said = [child.stdout.readline()]
        time.sleep(pause.uniform(0.0, 0.3))
        child.send_signal(signal.SIGKILL)
        said += child.stdout.read().split("\n")[:-1]
        child.stdout.close()
        assert child.wait() == -signal.SIGKILL
        durable = max([durable, *(int(line) for line in said if line.strip())])
        ids = glob_ids(path)
        assert len(ids) == len(set(ids))
        opened(path).close()
        check(path)
        found = statuses(path)
        done = [k for k in range(durable + 1) if k % 4 != 3 or k < durable]
        assert {found.get(f"p{k}") for k in done} == {"ok"}
    assert durable > 0


# ---- readers ------------------------------------------------------------------------------------


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


if __name__ == "__main__" and "--regenerate" in sys.argv:
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(written(shipped_schema()), "utf-8")
    print(f"wrote {GOLDEN}")
