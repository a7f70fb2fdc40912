"""Details that are damaged or gone are said once, and the rest is drawn."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pandas as pd
import pytest

from sweep.report.__main__ import main
from sweep.report.drawing.chart import Axis, Chart
from sweep.report.drawing.files import draw
from tests.paths import ROOT
from tests.report_data import TOY, sweep

pytestmark = pytest.mark.usefixtures("few_figures")


@pytest.fixture
def run(tmp_path: Path, toy: Path) -> Path:
    return Path(shutil.copytree(toy, tmp_path / "run"))


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweep(tmp_path_factory.mktemp("damage") / "toy", *TOY)


def said(run: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    assert main([str(run), "--out", str(run / "report")]) == 0
    out, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert err[:60] in (run / "report" / "index.html").read_text()
    assert "average_cct" in out.splitlines()[-2]
    return out, err


def test_a_damaged_part(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (part,) = (run / "coflows").glob("*.parquet")
    part.write_bytes(part.read_bytes()[:100])
    out, err = said(run, capsys)
    assert "figures of coflows are left out" in err
    assert f"{part.name} is damaged" in err
    assert "is damaged" not in out
    assert "not drawn: cdf: coflows cannot be read" in out


def test_a_missing_table(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(run / "coflows")
    out, err = said(run, capsys)
    assert "run/coflows is missing, though the sweep wrote it" in err
    assert "not drawn: cdf: coflows are missing" in out


def test_points_without_details(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow.parquet as pq

    (part,) = (run / "coflows").glob("*.parquet")
    rows = pq.read_table(part)
    ids = rows["point_id"].to_pylist()
    pq.write_table(rows.filter([i != ids[0] for i in ids]), part)
    _, err = said(run, capsys)
    assert f"coflows lacks 1 of {len({*ids})} points" in err


def test_the_list_may_be_cut_short() -> None:
    """As in ``--list | true``: no traceback when nobody reads."""
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-m", "sweep.report", "--list"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        words, stdout=write, stderr=subprocess.PIPE, cwd=ROOT, env=environment, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_spans_of_no_length_have_an_axis() -> None:
    rows = {"low": [0.0], "high": [0.0], "key": ["width"], "text": ["max → max"]}
    chart = Chart("spans", x=(Axis("low", "x"),), y=(Axis("key", "y"),), end="high", text="text")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = draw("", pd.DataFrame(rows), chart)
    low, high = figure.axes[0].get_xlim()
    assert low < 0 < high
