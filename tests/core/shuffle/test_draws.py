"""Draws without replacement against exact probabilities (each chi-square: false alarm 10^−6)."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.shuffle.draws import random_table, spread, spread_rows
from tests.twins.shuffle import agrees, hypergeometric_pmf

DRAWS = 20_000


def pmf_by_ratios(good: int, bad: int, sample: int) -> dict[int, float]:
    """Probabilities within 12 standard deviations, from the exact ratio of neighbours."""
    total = good + bad
    mean = sample * good / total
    sd = math.sqrt(mean * bad / total * (total - sample) / max(total - 1, 1)) + 1
    low = max(0, sample - bad, int(mean - 12 * sd))
    high = min(good, sample, int(mean + 12 * sd))
    middle = min(max(int(mean), low), high)
    weight = {middle: 1.0}
    for x in range(middle, high):
        up = (good - x) * (sample - x) / ((x + 1) * (bad - sample + x + 1))
        weight[x + 1] = weight[x] * up
    for x in range(middle, low, -1):
        down = x * (bad - sample + x) / ((good - x + 1) * (sample - x + 1))
        weight[x - 1] = weight[x] * down
    whole = math.fsum(weight.values())
    return {x: w / whole for x, w in weight.items()}


@pytest.mark.parametrize(
    ("good", "bad", "sample"),
    [
        (3, 4, 5),
        (40, 60, 30),  # rejection from here on, where the mean allows
        (30, 30, 45),
        (600, 50, 300),
        (50, 600, 640),
        (25_000, 225_000, 2_500),
        (20, 10**10, 10**9),
        (10**6, 10**10, 10**5),  # mean 10: search and rejection meet
        (10**6, 10**10, 99_000),
        (10**10, 10**10, 10**6),
        (3 * 10**9, 7 * 10**9, 10**8),
        (10**12, 10**13, 10**9),
    ],
)
def test_hypergeometric_has_its_probabilities(good: int, bad: int, sample: int) -> None:
    rng = np.random.default_rng(11)
    rows = np.tile(np.array([good, bad], np.int64), (DRAWS, 1))
    drawn = spread_rows(rng, rows, np.full(DRAWS, sample, np.int64))
    assert (drawn.sum(axis=1) == sample).all()
    expected = pmf_by_ratios(good, bad, sample)
    assert agrees(Counter(drawn[:, 0].tolist()), expected)
    # Wide laws are tested in 40 bins as well: outcome by outcome, a shift would drown.
    values = np.array(sorted(expected))
    below = np.cumsum([expected[x] for x in values.tolist()])
    bins = np.minimum((below * 40).astype(int), 39)
    binned: Counter[int] = Counter(bins[np.searchsorted(values, drawn[:, 0])].tolist())
    wanted: dict[int, float] = {}
    for b, x in zip(bins.tolist(), values.tolist(), strict=True):
        wanted[b] = wanted.get(b, 0.0) + expected[x]
    assert agrees(binned, wanted)


def test_the_chi_square_notices_a_wrong_law() -> None:
    rng = np.random.default_rng(1)
    drawn = rng.binomial(30, 0.4, DRAWS)  # the same mean, with replacement
    expected = pmf_by_ratios(40, 60, 30)
    assert not agrees(Counter(drawn.tolist()), {x: expected.get(x, 1e-300) for x in range(31)})


def test_spread_has_the_joint_probabilities() -> None:
    rng = np.random.default_rng(5)
    counts = np.array([3, 1, 0, 4], np.int64)
    seen = Counter(tuple(spread(rng, counts, 5).tolist()) for _ in range(DRAWS))
    assert agrees(seen, hypergeometric_pmf(counts.tolist(), 5))


def test_a_random_table_has_the_joint_probabilities() -> None:
    """Of the first column, and of the second given the first."""
    rng = np.random.default_rng(6)
    rows, columns = np.array([3, 2, 3], np.int64), np.array([4, 1, 3], np.int64)
    tables = [random_table(rng, rows, columns) for _ in range(DRAWS)]
    seen = Counter((tuple(t[:, 0].tolist()), tuple(t[:, 1].tolist())) for t in tables)
    expected = {
        (first, second): p * q
        for first, p in hypergeometric_pmf([3, 2, 3], 4).items()
        for second, q in hypergeometric_pmf(
            [r - f for r, f in zip(rows, first, strict=True)], 1
        ).items()
    }
    assert agrees(seen, expected)


@given(
    st.lists(st.integers(0, 10**12), min_size=1, max_size=8), st.floats(0, 1), st.integers(0, 99)
)
def test_spread_takes_what_is_there(counts: list[int], share: float, seed: int) -> None:
    sample = int(share * sum(counts))
    drawn = spread(np.random.default_rng(seed), np.array(counts, np.int64), sample)
    assert drawn.sum() == sample
    assert (drawn >= 0).all()
    assert (drawn <= counts).all()


def test_a_seed_is_a_draw() -> None:
    """Pinned: a change of these numbers changes results and needs new versions of partitioners."""
    counts = np.array([5, 1000, 10**10, 70], np.int64)
    assert spread(np.random.default_rng(3), counts, 10**9).tolist() == [0, 122, 999999871, 7]
