"""Details that are damaged or gone are said once, and the rest is drawn."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sweep.report.__main__ import main
from tests.report_data import TOY, sweep


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
