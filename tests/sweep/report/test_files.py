"""Which files a report writes, replaces and leaves alone."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from core.errors import InputError
from sweep.report import write_report
from sweep.report.__main__ import main
from sweep.report.sources import open_runs
from tests.report_data import TOY, sweep

pytestmark = pytest.mark.usefixtures("few_figures")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweep(tmp_path_factory.mktemp("files") / "toy", *TOY)


def test_files_of_others_stay(toy: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    out.mkdir()
    mine = ("failures.csv", "failures.png", "compare.csv", "fos_rate.svg", "settings.svg")
    for name in mine:
        (out / name).write_text("mine")
    for words in ([str(toy)], [str(toy), "--where", "scheduler=varys"]):
        assert main([*words, "--out", str(out)]) == 0
        assert {(out / name).read_text() for name in mine} == {"mine"}


def test_files_of_an_earlier_report_go(toy: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    assert main([str(toy), str(toy), "--out", str(out)]) == 0
    assert (out / "compare.csv").exists()
    assert main([str(toy), "--out", str(out)]) == 0
    assert not list(out.glob("compare.*"))
    assert set(pd.read_csv(out / "average_cct.csv").columns) & {"run"} == set()


def test_a_page_cannot_have_other_files_deleted(toy: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    out.mkdir()
    (tmp_path / "kept.csv").write_text("mine")
    (out / "index.html").write_text('<meta name="files" content="../kept.csv index.html">')
    assert main([str(toy), "--out", str(out)]) == 0
    assert (tmp_path / "kept.csv").read_text() == "mine"


def test_a_report_goes_into_a_local_directory(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = open_runs([toy])
    for place in ("", "s3://bucket/report", Path("gs://bucket/report"), "file:///tmp/report"):
        with pytest.raises(InputError, match="--out"):
            write_report(data, place)
    assert not list(tmp_path.iterdir())
