"""A figure is one file: its name, its order, what it needs and how it is drawn."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sweep.report.figures as package
from core.errors import InputError
from sweep.report import plot, write_report
from sweep.report.figures import figures
from sweep.report.sources import in_memory

SOURCE = '''
"""Largest CCT per scheduler."""

from sweep.report.averages import measure_axis
from sweep.report.drawing.chart import Axis, Chart
from sweep.report.figures import Figure


def table(data):
    """One row per setting."""
    return data.settings[["label", "max_cct_s"]]


def chart(table):
    """Draw bars."""
    return Chart("bars", x=(measure_axis("max_cct_s"),), y=(Axis("label", "setting"),))


FIGURE = Figure("largest", "Largest CCT", 12, table, chart, needs=("max_cct_s",))
'''


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "largest.py").write_text(SOURCE)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / "files")])
    figures.cache_clear()
    yield
    figures.cache_clear()
    sys.modules.pop("sweep.report.figures.largest", None)


def points() -> pd.DataFrame:
    frame = pd.DataFrame({"scheduler": ["aalo", "varys"], "mean_cct_s": 2.0, "max_cct_s": [7, 4.5]})
    return frame.assign(
        point_id=["a", "b"], engine="fluid", workload="toy", status="ok", error=None
    )


@pytest.mark.usefixtures("added")
def test_a_figure_is_one_file(tmp_path: Path) -> None:
    assert [*figures()][:4] == ["compare", "average_cct", "largest", "gantt"]
    drawn, _ = write_report(in_memory(points()), tmp_path / "report")
    assert "largest" in drawn
    csv = pd.read_csv(tmp_path / "report" / "largest.csv")
    assert csv["max_cct_s"].tolist() == [7, 4.5]
    assert (tmp_path / "report" / "largest.svg").exists()
    assert "Largest CCT" in (tmp_path / "report" / "index.html").read_text()


@pytest.mark.usefixtures("added")
def test_its_needs_are_checked_before_it_is_asked() -> None:
    said = "largest: no point has a value of max_cct_s"
    for frame in (points().drop(columns="max_cct_s"), points().assign(max_cct_s=np.nan)):
        with pytest.raises(InputError, match=said):
            plot("largest", frame)
    assert "largest" in figures()
