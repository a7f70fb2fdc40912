"""Settings are compared over the replicates that all of them have, worked out by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from sweep.report.build import table_of
from sweep.report.data import ReportData
from sweep.report.drawing.page import _cube
from sweep.report.replicates import ALL_DIFFER, common_points
from sweep.report.sources import in_memory

NOTE = "Only replicates that all settings have are averaged: 3 points are left out."


def grid() -> pd.DataFrame:
    """Return queue.base 2, 4 × first threshold 1, 10 × replicates 0, 1.

    Replicate 0 has a mean CCT of base + threshold, replicate 1 of 100 more. The point of base 2,
    threshold 1 and replicate 1 has failed: its setting has a mean of 3, the others of about 50 more
    than in replicate 0.
    """
    rows = list(product([2.0, 4.0], [1.0, 10.0], [0, 1]))
    names = ["queue_base", "queue_first_threshold_mb", "replicate"]
    frame = pd.DataFrame(rows, columns=names)
    cct = frame["queue_base"] + frame["queue_first_threshold_mb"] + 100 * frame["replicate"]
    frame = frame.assign(mean_cct_s=cct, status="ok", scheduler="aalo", engine="fluid", seed=0)
    frame["point_id"] = [f"p{k}" for k in range(len(frame))]
    frame.loc[1, ["status", "mean_cct_s"]] = ["error", np.nan]
    return frame.assign(workload="fb_like", bound_s=np.nan)


@pytest.fixture
def data() -> ReportData:
    return in_memory(grid())


def test_maps_average_common_replicates(data: ReportData) -> None:
    drawn = table_of("heat", data)
    cells = drawn.table.set_index(["queue_base", "queue_first_threshold_mb"])["mean_cct_s"]
    index = cells.index.names
    order = [(b, t) if index[0] == "queue_base" else (t, b) for b, t in product([2, 4], [1, 10])]
    assert [cells[k] for k in order] == [3, 12, 5, 14]
    assert drawn.chart.note.endswith(NOTE)
    wins = table_of("wins", data)
    assert set(wins.table["winner"]) in ({"2"}, {"1"})
    assert wins.chart.note.endswith(NOTE)


def test_effects_average_common_replicates(data: ReportData) -> None:
    found = table_of("tornado", data)
    rows = found.table.set_index("key")
    assert rows.loc["queue.base", ["low", "high", "range"]].tolist() == [7.5, 9.5, 2]
    assert rows.loc["queue.first_threshold_mb", ["low", "high"]].tolist() == [4, 13]
    assert NOTE in found.chart.note
    shares = table_of("interactions", data)
    assert shares.table["interaction_share"].tolist() == pytest.approx([0.0], abs=1e-12)
    assert NOTE in shares.chart.note


def test_the_map_on_the_page_has_the_same_numbers(data: ReportData) -> None:
    cube = _cube(data, ["mean_cct_s"], 9)
    assert cube is not None
    assert [cube["values"]["mean_cct_s"][k] for k in cube["setting"]] == [3, 12, 5, 14]


def test_averages_keep_all_replicates_and_say_so(data: ReportData) -> None:
    table = table_of("average_cct", data).table
    assert table["mean_cct_s"].tolist() == [3, 62, 55, 64]
    assert table["n"].tolist() == [1, 2, 2, 2]
    assert table["improvement_text"].iloc[0] == "– (other replicates)"


def test_without_a_failure_nothing_is_left_out() -> None:
    frame = grid()
    whole = in_memory(frame.assign(status="ok", mean_cct_s=frame["mean_cct_s"].fillna(103)))
    assert whole.comparable["mean_cct_s"].tolist() == [53, 62, 55, 64]
    assert "left out" not in table_of("heat", whole).chart.note


def test_a_context_without_replicates_does_not_count() -> None:
    """toy has no random choices, and so one point without a replicate."""
    toy = grid().iloc[[0]].assign(workload="toy", replicate=None, point_id="t", mean_cct_s=7.0)
    data = in_memory(pd.concat([grid(), toy], ignore_index=True).astype({"replicate": "Int64"}))
    assert data.comparable["mean_cct_s"].tolist() == [3, 12, 5, 14, 7]


def test_settings_that_share_no_replicate() -> None:
    frame = grid().iloc[[0, 3]]  # replicate 0 of one setting, 1 of the other
    rows, note = common_points(frame.reset_index(drop=True), [], ["queue_first_threshold_mb"])
    assert len(rows) == 2
    assert note == ALL_DIFFER


def test_engines_are_compared_over_the_same_replicates() -> None:
    both = pd.concat(
        [grid().iloc[2:4], grid().iloc[2:4].assign(engine="coflowsim", point_id=["x", "y"])]
    ).reset_index(drop=True)
    both = both.assign(**{f"{n}_cct_s": both["mean_cct_s"] for n in ("p50", "p95", "max")})
    both.loc[0, ["status", "mean_cct_s"]] = ["timeout", np.nan]  # replicate 0 of fluid
    found = table_of("engines", in_memory(both)).table.query("metric == 'mean_cct_s'")
    assert found[["coflowsim_s", "fluid_s", "difference"]].values.tolist() == [[112, 112, 0]]
