"""``--where``, and what is refused of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from sweep.report import plot
from sweep.report.__main__ import main
from sweep.report.data import ReportData
from sweep.report.sources import open_runs
from tests.report_data import TOY, sweep


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    words = ("workload.coflows=3", "workload.ports=4", "scheduler=aalo", "replicates=2")
    more = ("queue.base=2,4", "seed=1,2", "queue.threshold_mode=per_queue,cumulative")
    return open_runs([sweep(tmp_path_factory.mktemp("where") / "run", *words, *more)])


@pytest.mark.parametrize(
    ("key", "value", "share"),
    [
        ("queue.base", "2.0", 2),
        ("queue.base", "2e0", 2),
        ("queue.base", 2, 2),
        ("queue.base", 2.0, 2),
        ("queue_base", "2", 2),
        ("replicate", "0", 2),
        ("replicate", 0, 2),
        ("seed", "1", 2),
        ("status", "ok", 1),
    ],
)
def test_a_value_is_found_however_it_is_written(
    key: str, value: Any, share: int, data: ReportData
) -> None:
    found = data.where({key: value}).grid
    assert len(found) == len(data.grid) / share > 0
    assert found[key.replace(".", "_")].nunique() == 1


def test_a_notebook_may_give_numbers(data: ReportData) -> None:
    assert plot("average_cct", data.grid, {"queue.base": 2, "replicate": 1}).axes
    with pytest.raises(InputError, match=r"queue\.base=3: no row has this value.* are 2, 4"):
        plot("average_cct", data.grid, {"queue.base": 3})
    with pytest.raises(InputError, match="given twice"):
        plot("average_cct", data.grid, {"queue.base": 2, "queue_base": 4})


def test_a_key_given_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--where", "scheduler=varys", "--where", "scheduler=aalo"]
    toy = sweep(tmp_path / "toy", *TOY)
    assert main([str(toy), *words, "--out", str(tmp_path / "r")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "scheduler is given twice" in said
    assert not (tmp_path / "r").exists()


def test_a_dash_selects_points_that_do_not_read_the_key(tmp_path: Path) -> None:
    """Varys reads no width, though the grid asks for one in each of its rows."""
    run = sweep(tmp_path / "run", "scheduler=varys,asebf", "width=sender,max", "workload=toy")
    grid = open_runs([run]).where({"width": "–"}).grid
    assert set(grid["scheduler"]) == {"varys"}
