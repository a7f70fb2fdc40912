"""A process killed between any two changes of the disk, or a full disk: nothing doubled or lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import StoreError
from sweep.store import (
    Limits,
    load,
)
from tests.sweep.store.faulty_disk import Faulty, KilledError
from tests.sweep.store.rows import (
    check,
    coflows,
    glob_ids,
    grid,
    opened,
    row,
    statuses,
)


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
