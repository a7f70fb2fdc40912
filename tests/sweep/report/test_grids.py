"""Effects are those of grids, and of an axis only among the points that read it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from sweep.report.build import draw_all, table_of
from sweep.report.effects import interactions, main_effects, why_no_grid
from sweep.report.sources import in_memory

NEED_A_GRID = ("heat", "interactions", "tornado", "wins")


def dataset(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(
        point_id=[f"p{k}" for k in range(len(frame))],
        engine="fluid",
        workload="fb_like",
        bound_s=np.nan,
        status="ok",
        replicate=0,
        seed=0,
        coflows=60,
        trace_id="t",
    )


def sampled(n: int) -> pd.DataFrame:
    """Return draws of two continuous axes, as of ``sweep.sample``."""
    draw = np.random.default_rng(0).random((n, 3))
    frame = pd.DataFrame(draw, columns=["queue_base", "workload_load", "mean_cct_s"])
    return dataset(frame.assign(scheduler="aalo", queue_base=1 + frame["queue_base"]))


def shuffles() -> pd.DataFrame:
    """Return partitioners, rates and exponents, all combinations; hash reads no rate."""
    rows = list(product(["hash", "scid", "lpt_split"], [0.01, 0.2], [0.5, 1.2]))
    names = ["shuffle_partitioner", "shuffle_sampling_rate", "shuffle_zipf"]
    frame = pd.DataFrame(rows, columns=names)
    cost = {"hash": 50.0, "scid": 1.0, "lpt_split": 3.0}
    rate = frame["shuffle_sampling_rate"].where(frame["shuffle_partitioner"] != "hash", 0)
    cct = frame["shuffle_partitioner"].map(cost) + 10 * rate + frame["shuffle_zipf"]
    found = dataset(frame.assign(scheduler="asebf", mean_cct_s=cct))
    found["point_id"] = [f"p{c}" for c in cct]  # hash is one point at both rates
    return found.assign(workload="shuffle_jobs")


def test_sampled_axes_have_no_effects() -> None:
    drawn, why = draw_all(in_memory(sampled(40)))
    assert not {*NEED_A_GRID} & {d.name for d in drawn}
    for name in NEED_A_GRID:
        assert "was sampled or zipped (40 values in 40 settings); this needs a grid" in why[name]


def test_a_grid_with_holes_is_none() -> None:
    grid = dataset(
        pd.DataFrame(
            list(product([2.0, 3.0, 4.0, 5.0], [10.0, 20.0, 30.0])),
            columns=["queue_base", "queue_first_threshold_mb"],
        ).assign(scheduler="aalo")
    )
    grid["mean_cct_s"] = grid["queue_base"] * grid["queue_first_threshold_mb"]
    assert {*NEED_A_GRID} <= {d.name for d in draw_all(in_memory(grid))[0]}
    step = grid.iloc[[0, 4, 8, 9]]
    why = draw_all(in_memory(step))[1]
    assert {*NEED_A_GRID} <= {*why}
    half = why_no_grid(grid.iloc[:8], ["queue_base", "queue_first_threshold_mb"])
    axes = "queue.base × queue.first_threshold_mb"
    assert half == f"8 of 9 combinations of {axes}; this needs a grid"


def test_an_axis_is_judged_by_the_points_that_read_it() -> None:
    data = in_memory(shuffles())
    found = table_of("tornado", data).table.query("metric == 'mean_cct_s'").set_index("key")
    rate = found.loc["shuffle.sampling_rate"]
    assert (rate["low_at"], rate["high_at"]) == ("0.01", "0.2")
    # scid and lpt_split alone: means 2 + 10 rate + 0.85; variances 1, 0.95², 0.35².
    assert rate["range"] == pytest.approx(1.9)
    assert rate["mean"] == pytest.approx(2 + 1.05 + 0.85)
    assert rate["variance_share"] == pytest.approx(0.9025 / (1 + 0.9025 + 0.1225))
    assert found.loc["shuffle.partitioner", "high_at"] == "hash"
    pairs = table_of("interactions", data).table.set_index("pair")
    pair = pairs.loc["shuffle.partitioner × shuffle.sampling_rate"]
    assert pair["interaction_share"] == pytest.approx(0.0, abs=1e-9)
    assert pair["axis_share"] == pytest.approx(1 / (1 + 0.9025 + 0.1225))


def test_nothing_is_known_of_an_axis_that_one_value_reads() -> None:
    frame = pd.DataFrame(
        {"a": ["x", "y", "y"], "b": [None, 1.0, 2.0], "value": [9.0, 1.0, 2.0], "weight": 1}
    )
    assert main_effects(frame, ["b"])["range"].tolist() == [1.0]
    assert not len(interactions(frame, ["a", "b"]))


def test_an_axis_that_stands_still_elsewhere_is_not_crossed() -> None:
    frame = pd.DataFrame(
        {
            "scheduler": ["aalo"] * 4 + ["asebf"],
            "queue_base": [2.0, 2.0, 3.0, 3.0, None],
            "workload_load": [0.1, 0.5, 0.1, 0.5, 0.1],
        }
    )
    axes = ["scheduler", "queue_base", "workload_load"]
    assert why_no_grid(frame, axes).startswith("workload.load is not crossed")
    assert why_no_grid(frame, axes[:2]) == ""
