"""Small parts become large ones, whatever happens meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from sweep.store import (
    Limits,
    load,
)
from sweep.store.files import Folder
from tests.sweep.store.faulty_disk import Faulty, KilledError
from tests.sweep.store.rows import (
    coflows,
    glob_ids,
    grid,
    opened,
    row,
    statuses,
)


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
