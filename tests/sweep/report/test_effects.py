"""Main effects and interactions, worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.statistics import mean_of_groups
from sweep.report.averages import labels
from sweep.report.effects import cells, interactions, main_effects, values_of


def grid(values: list[float], weight: int = 1) -> pd.DataFrame:
    """Two axes of two values: (a, b) = (1, x), (1, y), (2, x), (2, y)."""
    return pd.DataFrame(
        {"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"], "value": values, "weight": weight}
    )


def test_main_effects_are_differences_of_means() -> None:
    found = main_effects(grid([1.0, 2.0, 5.0, 6.0]), ["a", "b"]).set_index("axis")
    assert found.loc["a", ["low", "high", "range", "mean"]].tolist() == [1.5, 5.5, 4.0, 3.5]
    assert found.loc["b", ["low", "high", "range"]].tolist() == [3.0, 4.0, 1.0]
    assert found.loc["a", ["low_at", "high_at"]].tolist() == ["1", "2"]
    assert list(found.index) == ["a", "b"]
    # Sums of squares: 4·2² = 16 of a, 4·0.5² = 1 of b, 17 in all.
    assert found["variance_share"].tolist() == pytest.approx([16 / 17, 1 / 17])


def test_an_additive_grid_has_no_interaction() -> None:
    (found,) = interactions(grid([1.0, 2.0, 5.0, 6.0]), ["a", "b"]).to_dict("records")
    assert found["interaction_share"] == pytest.approx(0.0, abs=1e-12)


def test_a_cross_is_interaction_alone() -> None:
    (found,) = interactions(grid([1.0, 0.0, 0.0, 1.0]), ["a", "b"]).to_dict("records")
    assert found["interaction_share"] == pytest.approx(1.0)
    assert found["axis_share"] == found["other_share"] == pytest.approx(0.0)


def test_shares_of_a_full_grid_add_up_to_one() -> None:
    (found,) = interactions(grid([1.0, 2.0, 5.0, 9.0]), ["a", "b"]).to_dict("records")
    total = found["interaction_share"] + found["axis_share"] + found["other_share"]
    assert total == pytest.approx(1.0)


def test_cells_are_means_over_the_rest() -> None:
    frame = grid([1.0, 2.0, 5.0, 6.0])
    assert cells(frame, ["b"], {})["value"].tolist() == [3.0, 4.0]
    assert cells(frame, ["b"], {"a": "2"})["value"].tolist() == [5.0, 6.0]
    frame["weight"] = [3, 1, 1, 1]
    assert cells(frame, ["b"], {})["value"].tolist() == [2.0, 4.0]


def test_numbers_ascend_and_names_stay() -> None:
    assert values_of(pd.Series([10.0, 2.0, 10.0])) == ["2", "10"]
    assert values_of(pd.Series(["b", "a", "b"])) == ["b", "a"]


def test_intervals_by_hand() -> None:
    """1, 2, 3: mean 2, standard deviation 1, t = 4.302653 at 2 degrees of freedom."""
    values, group = np.array([1.0, 2.0, 3.0, 7.0, np.nan]), np.array([0, 0, 0, 1, 1])
    mean, half = mean_of_groups(values, group, 2)
    assert mean.tolist() == [2.0, 7.0]
    assert half[0] == pytest.approx(4.302653 / np.sqrt(3))
    assert np.isnan(half[1])


def test_labels_say_what_tells_settings_apart() -> None:
    frame = pd.DataFrame(
        {"scheduler": ["asebf", "asebf", "varys"], "width": ["max", "min", None], "q": [1, 1, 2]}
    )
    assert labels(frame, ["scheduler", "width", "q"]) == [
        "asebf width=max",
        "asebf width=min",
        "varys",
    ]
