"""Where a dataset goes, and which one ``outputs/latest`` is."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.errors import StoreError
from sweep.execution import manifest, output_directory
from sweep.execution.output_directory import fresh_directory, point_latest_at
from sweep.store.files import Folder
from tests.paths import ROOT

START = "2026-01-01T10:00:00+00:00"


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def begun(name: str, started: str = START) -> str:
    path = Path("outputs") / name
    path.mkdir(parents=True)
    (path / "manifest.json").write_text(json.dumps({"started": started}))
    return path.as_posix()


def latest() -> str:
    return Path("outputs/latest").resolve().name


def test_sweeps_that_begin_in_one_second_have_directories_of_their_own():
    with ThreadPoolExecutor(8) as pool:
        directories = list(pool.map(lambda _: fresh_directory(), range(40)))
    assert len({*directories}) == 40
    assert all(Path(directory).is_dir() for directory in directories)


def test_processes_that_begin_together_have_directories_of_their_own():
    code = "from sweep.execution.output_directory import fresh_directory as f; print(f())"
    root = Path(output_directory.__file__).parents[2]
    begun = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                         env={"PYTHONPATH": str(root)})
        for _ in range(4)
    ]  # fmt: skip
    directories = [process.communicate()[0].strip() for process in begun]
    assert len({*directories}) == 4
    assert "" not in directories


def test_latest_is_the_newer_of_two_sweeps_of_one_second_whichever_comes_first():
    first, second = begun("2026-01-01_11-00-00"), begun("2026-01-01_11-00-00-2")
    for order in ((first, second), (second, first)):
        for directory in order:
            point_latest_at(directory, START)
        assert latest() == "2026-01-01_11-00-00-2"


def test_numbers_of_names_count_as_numbers():
    for number in ("-2", "-10", "-9"):
        point_latest_at(begun(f"2026-01-01_11-00-00{number}"), START)
    assert latest() == "2026-01-01_11-00-00-10"


def test_a_sweep_that_continues_an_older_dataset_is_the_latest():
    point_latest_at(begun("2026-01-01_11-00-00"), START)
    older = begun("2025-01-01_11-00-00", "2026-01-01T10:00:01+00:00")
    point_latest_at(older, "2026-01-01T10:00:01+00:00")
    assert latest() == "2025-01-01_11-00-00"


def test_a_broken_link_is_replaced():
    directory = begun("mine")
    Path("outputs/latest").symlink_to("gone")
    point_latest_at(directory, START)
    assert latest() == "mine"


def test_datasets_elsewhere_leave_the_link(tmp_path):
    point_latest_at(begun("mine"), START)
    Path("elsewhere").mkdir()
    point_latest_at("elsewhere", "2027-01-01T10:00:00+00:00")
    point_latest_at("s3://bucket/outputs", "2027-01-01T10:00:00+00:00")
    assert latest() == "mine"


def test_outputs_that_cannot_be_made_end_with_what_to_do():
    Path("outputs").write_text("")
    with pytest.raises(StoreError, match=r"cannot create a directory .* set output\.dir"):
        fresh_directory()


def test_a_name_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(StoreError, match="not UTF-8; give the directory another name"):
        Folder.at(os.fsdecode(b"bad\xffdir"))


def test_the_manifest_names_the_commit() -> None:
    commit = manifest._git_commit()
    if not (ROOT / ".git").exists():
        assert commit is None
    else:
        words = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
        head = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
        assert commit is not None
        assert commit.removesuffix("-dirty") == head
