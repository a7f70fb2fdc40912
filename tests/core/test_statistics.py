"""Means, intervals, gaps and percentages, by hand and by tables of Student's t."""

import math

import numpy as np
import pytest

from core.statistics import (
    gap,
    gap_of_groups,
    half_width,
    mean,
    mean_of_groups,
    percent,
    student_t,
)


@pytest.mark.parametrize(
    ("freedom", "value"),
    [(1, 12.7062), (2, 4.3027), (10, 2.2281), (11, 2.2010), (30, 2.0423), (100, 1.9840)],
)
def test_student_t_is_that_of_the_printed_tables(freedom, value):
    assert student_t(freedom) == pytest.approx(value, abs=5e-5)


def test_a_mean_is_exactly_rounded_and_leaves_out_what_is_missing():
    """1 + 10^100 - 10^100 is 1 in exact arithmetic, 0 in sums from left to right."""
    assert mean([1.0, None, 1e100, -1e100]) == 1 / 3
    assert mean([None]) is None
    assert mean([]) is None


def test_half_width_by_hand():
    """1, 2, 3: variance 1, standard error 1/√3, t(2) = 4.302653."""
    assert half_width([1.0, 2.0, 3.0]) == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert half_width([1.0]) is None


def test_a_gap_of_rounding_is_none_in_tables_and_in_groups():
    assert gap(0.09799999999999999, 0.098) == 0.0
    assert gap(3.0, 2.0) == 0.5
    assert gap(1.0, 0.0) is None
    assert gap(None, 1.0) is None
    cct, bound = np.array([0.09799999999999999, 2.0, 4.0]), np.array([0.098, 1.0, 3.0])
    distance, _ = gap_of_groups(cct, bound, np.array([0, 1, 1]), 2)
    assert distance.tolist() == [0.0, 0.5]  # (2 + 4) / (1 + 3) - 1


def test_groups_have_the_numbers_of_their_members():
    values = np.array([1.0, 5.0, 2.0, np.nan, 3.0])
    means, half = mean_of_groups(values, np.array([0, 1, 0, 1, 0]), 3)
    assert means[:2].tolist() == [2.0, 5.0]
    assert np.isnan(means[2])
    assert half[0] == pytest.approx(half_width([1.0, 2.0, 3.0]))
    assert np.isnan(half[1:]).all()


@pytest.mark.parametrize(
    ("share", "decimals", "text"),
    [(-1e-12, 0, "0 %"), (-0.0004, 1, "0.0 %"), (-0.0006, 1, "−0.1 %"), (1.0, 2, "100.00 %")],
)
def test_percentages_have_no_minus_zero(share, decimals, text):
    assert percent(share, decimals) == text
