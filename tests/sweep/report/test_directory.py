"""Where a report goes, and that it replaces no other run's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from core.errors import InputError, StoreError
from sweep import load
from sweep.report.__main__ import main
from sweep.report.directory import directory_of, earlier_report, local_directory
from sweep.report.sources import open_runs
from sweep.store import DatasetWriter, Limits
from tests.report_data import sweep

pytestmark = pytest.mark.usefixtures("few_figures")

SMALL = ("workload=toy", "scheduler=varys")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweep(tmp_path_factory.mktemp("directory") / "a", *SMALL)


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory, which has the datasets a and b."""
    for name in "ab":
        shutil.copytree(made, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_the_report_of_a_dataset_lies_in_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["a"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("a/report/index.html: ")
    assert main(["b/"]) == 0
    assert (folder / "a/report/index.html").exists()
    assert (folder / "b/report/index.html").exists()
    assert not (folder / "report").exists()
    assert main(["a", "--out", "~/elsewhere"]) == 0
    assert (folder / "elsewhere/index.html").exists()
    assert not (folder / "~").exists()


def test_a_home_directory_is_found(folder: Path) -> None:
    assert main(["~/a", "--where", "scheduler=varys"]) == 0
    assert (folder / "a/report/index.html").exists()
    assert local_directory("~/x") == folder / "x"
    assert open_runs(["~/a"]).grid["scheduler"].tolist() == ["varys"]


def test_datasets_without_a_directory_of_their_own(folder: Path) -> None:
    assert directory_of(["s3://bucket/run"]) == Path("report")
    assert directory_of(["a", "b"]) == Path("report")
    assert directory_of(["outputs/latest"]) == Path("outputs/latest/report")
    assert directory_of(["a"], "mine") == Path("mine")


def test_no_other_report_is_replaced_silently(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["a", "b"]) == 0
    assert main([str(folder / "a"), "b"]) == 0  # the same two
    capsys.readouterr()
    before = (folder / "report/index.html").read_bytes()
    assert main(["b", "a"]) == 2
    assert capsys.readouterr().err == (
        "error: report/ holds the report of a and b: name another directory with --out, "
        "or give --out report to replace it\n"
    )
    assert (folder / "report/index.html").read_bytes() == before
    assert main(["a", "--out", "report"]) == 0
    assert "replaced the report of a and b in report\n" in capsys.readouterr().out
    assert main(["a", "--out", "report"]) == 0
    assert "replaced" not in capsys.readouterr().out


def test_a_page_of_something_else_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "site").mkdir()
    (folder / "site/index.html").write_text("<title>mine</title>")
    assert main(["a", "--out", "site"]) == 2
    assert "site/index.html is not the page of a report" in capsys.readouterr().err
    assert (folder / "site/index.html").read_text() == "<title>mine</title>"
    with pytest.raises(StoreError):
        earlier_report(folder / "site")
    (folder / "site/index.html").write_text("")  # a full disk kept it from being written
    assert main(["a", "--out", "site"]) == 0


def test_a_dataset_with_a_report_loads_resumes_and_merges_its_parts(folder: Path) -> None:
    before = load("a")
    assert main(["a"]) == 0
    page = (folder / "a/report/index.html").read_bytes()
    pd.testing.assert_frame_equal(load("a"), before)
    sweep(folder / "a", "workload=toy", "scheduler=varys,aalo,fifo")
    assert load("a")["scheduler"].tolist() == ["varys", "aalo", "fifo"]
    row = {"workload": "toy", "engine": "fluid", "status": "ok", "seed": 0}
    with DatasetWriter.open(folder / "a", limits=Limits(rows=100)) as dataset:
        for k in range(20):  # each in a part of its own
            dataset.add({**row, "point_id": f"{k:016x}", "scheduler": "fair"})
            dataset.flush()
        parts = len([*(folder / "a/results").iterdir()])
        dataset.compact()
    assert len([*(folder / "a/results").iterdir()]) < parts
    assert (folder / "a/report/index.html").read_bytes() == page
    assert main(["a"]) == 0
    assert pd.read_csv(folder / "a/report/average_cct.csv")["scheduler"].tolist() == [
        *("varys", "aalo", "fifo")
    ]


def test_a_report_needs_a_place(folder: Path) -> None:
    for out in ("", "s3://bucket/report", "a/manifest.json"):
        with pytest.raises(InputError, match="--out"):
            directory_of(["a"], out)
