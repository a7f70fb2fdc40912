"""What is compared with what, and what the distance to the bound is, on tables made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sweep.report.build import table_of
from sweep.report.sources import in_memory


def points(*rows: tuple[str, int, float, float]) -> pd.DataFrame:
    """Return points of (scheduler, replicate, mean CCT, bound), as `sweep.load` has them."""
    frame = pd.DataFrame(rows, columns=["scheduler", "replicate", "mean_cct_s", "bound_s"])
    return frame.assign(
        point_id=[f"p{k}" for k in range(len(frame))],
        engine="fluid",
        workload="toy",
        seed=frame["replicate"],
        status="ok",
        gap=frame["mean_cct_s"] / frame["bound_s"] - 1,
    )


def many(order: list[str]) -> pd.DataFrame:
    """Return 3 schedulers ; queue.base is the outer axis, which aalo reads."""
    rows = [(s, 0, 0.0, 1.0) for _ in range(30) for s in order]
    base = np.repeat(np.arange(2, 32), len(order))
    best = {"aalo": 9, "varys": 3, "asebf": 5}
    cct = [10 + abs(b - best[s]) + len(s) / 10 for (s, *_), b in zip(rows, base, strict=True)]
    return points(*rows).assign(queue_base=base, mean_cct_s=cct)


def test_settings_with_other_replicates_are_not_compared() -> None:
    three = [("aalo", k, 8.0 + k, 1.0) for k in range(3)]
    found = table_of("average_cct", in_memory(points(*three, ("asebf", 0, 8.5, 1.0)))).table
    assert found["n"].tolist() == [3, 1]
    assert found["improvement"].isna().all()
    assert found["improvement_text"].tolist() == ["– (other replicates)"] * 2


def test_each_set_of_replicates_has_its_baseline() -> None:
    both = [(s, k, m + k, 1.0) for s, m in (("aalo", 9.0), ("varys", 7.0)) for k in range(2)]
    found = table_of("average_cct", in_memory(points(*both, ("asebf", 0, 1.0, 1.0)))).table
    assert found["improvement_text"].tolist() == ["", "21.1 % over aalo", "– (other replicates)"]
    assert found["baseline"].tolist() == ["", "aalo", ""]
    seeds = points(("aalo", 0, 2.0, 1.0), ("varys", 0, 1.0, 1.0)).assign(seed=[0, 1])
    assert table_of("average_cct", in_memory(seeds)).table["improvement"].isna().all()


@pytest.mark.parametrize("order", [["aalo", "varys", "asebf"], ["varys", "asebf", "aalo"]])
def test_of_many_settings_the_best_of_the_first_scheduler_is_the_baseline(order: list[str]) -> None:
    """Even though the best setting of aalo comes after those of the others in the grid."""
    drawn = table_of("average_cct", in_memory(many(order)))
    found = drawn.table
    assert found["scheduler"].tolist() == order
    assert found["improvement_text"].iloc[0] == f"baseline: best of {order[0]}"
    assert set(found["baseline"].iloc[1:]) == {found["label"].iloc[0]}
    mean = found["mean_cct_s"].to_numpy()
    wanted = (mean[0] - mean[1:]) / np.maximum(mean[0], mean[1:])
    assert found["improvement"].iloc[1:].tolist() == pytest.approx(wanted.tolist(), rel=1e-6)
    assert f"best setting of {order[0]}" in drawn.chart.text_label
    assert f"first scheduler: here {order[0]}." in drawn.chart.note


def test_the_gap_is_that_of_the_means_in_the_same_row() -> None:
    rows = [("aalo", 0, 2.0, 1.0), ("aalo", 1, 12.0, 10.0), ("aalo", 2, 7.0, 4.0)]
    data = in_memory(points(*rows))
    for found in (data.settings, table_of("gap", data).table):
        (row,) = found.to_dict("records")
        assert row["gap"] == pytest.approx(row["mean_cct_s"] / row["bound_s"] - 1)
        assert row["gap"] == pytest.approx(21 / 15 - 1)
        # CCT − 1.4 bound: 0.6, −2, 1.4, over the mean bound of 5; t = 4.302653.
        half = 4.302653 * np.std([0.6, -2.0, 1.4], ddof=1) / 5 / np.sqrt(3)
        assert row["gap_half"] == pytest.approx(half)
