"""The writer: whole parts, points once, resuming; the plan and the manifest beside them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from core.errors import StoreError
from core.parameters import Parameter
from sweep.store import (
    Limits,
    load,
    read_manifest,
)
from sweep.store.files import POINTS, Folder
from tests.sweep.store.rows import PARAMETERS, coflows, glob_ids, grid, opened, row, statuses


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


def test_a_row_whose_point_has_changed_takes_the_place_of_the_old_one(tmp_path):
    """As after an edit of the scheduler: the same row leads to another point."""
    path = tmp_path / "d"
    for point_id in ("old", "new"):
        with opened(path) as dataset:
            dataset.write_points(grid(point_id, "b", workload_path=None, seed=3)[:1], point_id)
            dataset.add(row(point_id))
    assert points(path)["point_id"] == ["new"]
    assert sorted(glob_ids(path)) == ["new", "old"]
