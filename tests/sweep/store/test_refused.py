"""What the store refuses or sets aside, and what it says then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from core.errors import StoreError
from sweep.store import (
    load,
)
from sweep.store.files import POINTS, Folder
from tests.sweep.store.rows import coflows, glob_ids, grid, opened, row


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
