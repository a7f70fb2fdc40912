"""The gap to the bound is never negative: 0 where only rounding makes it so, else not drawn."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sweep import load
from sweep.report.build import draw_all, table_of
from sweep.report.run_facts import notices
from sweep.report.sources import in_memory, open_runs
from tests.report_data import sweep


def points(*gaps: float) -> pd.DataFrame:
    frame = pd.DataFrame({"mean_cct_s": [2.0 * (1 + g) for g in gaps], "gap": gaps})
    names = [f"s{k}" for k in range(len(gaps))]
    return frame.assign(
        **{"point_id": names, "scheduler": names, "engine": "fluid", "workload": "toy"},
        **{"status": "ok", "bound_s": 2.0, "error": None},
    )


def test_a_schedule_that_meets_the_bound_has_gap_0(tmp_path: Path) -> None:
    """Ten coflows of one flow, each alone on its ports: fair gives every one its port at once."""
    lines = [f"{k} {7 * k} 1 {k} 1 {k}:{k + 1}.3" for k in range(10)]
    (tmp_path / "alone.txt").write_text("\n".join(["10 10", *lines]))
    words = ("workload=trace", f"workload.path={tmp_path / 'alone.txt'}", "scheduler=fair,varys")
    run = sweep(tmp_path / "run", *words)
    found = table_of("gap", open_runs([run])).table
    assert found["gap"].tolist() == [0, 0]
    assert str(found["gap"].iloc[0]) == "0.0"  # not -0.0
    assert (load(run)["gap"] >= 0).all()


def test_a_negative_gap_is_not_drawn() -> None:
    data = in_memory(points(0.5, -3e-16, -0.11))
    assert table_of("gap", data).table["gap"].tolist() == pytest.approx([0.5, 0])
    assert data.points["gap"].min() == 0
    drawn, _ = draw_all(data)
    for figure in drawn:
        for column in figure.table.columns:
            if str(column).startswith("gap"):
                assert not (figure.table[column] < 0).any(), figure.name
    assert notices(data) == [
        "1 points have a mean CCT below a bound that no scheduler can beat: their times exceed the "
        "resolution of the engine, and their gap is not drawn."
    ]


def test_all_gaps_negative() -> None:
    data = in_memory(points(-0.11, -0.2))
    assert "gap" not in {figure.name for figure in draw_all(data)[0]}
    assert not notices(in_memory(points(0.0, 0.3)))
