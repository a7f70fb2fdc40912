"""Counts per split and samples (each chi-square: false alarm 10^−6)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core.shuffle.keys
from core.errors import ShuffleError
from core.parameters import defaults
from core.shuffle import draw, from_matrix, from_table
from core.shuffle.keys import KeyCounts, split_sizes
from core.shuffle.parameters import KEY_PARAMETERS
from core.shuffle.sample import draw_sample, reservoir_sizes
from tests.twins import shuffle as reference

RUNS = 10_000


def values(**changes: Any) -> dict[str, Any]:
    return defaults(KEY_PARAMETERS) | {f"shuffle.{k}": v for k, v in changes.items()}


def generator(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    """No job is small enough for a matrix."""
    monkeypatch.setattr(core.shuffle.keys, "DENSE_CELLS", 0)


# counts per split


def shuffled_splits(total: list[int], splits: int, rng: np.random.Generator) -> list[list[int]]:
    """The records of a job in random order, cut into splits."""
    records = np.repeat(np.arange(len(total)), total)
    rng.shuffle(records)
    sizes = split_sizes(len(records), splits)
    return [part.tolist() for part in np.split(records, np.cumsum(sizes)[:-1])]


def fixed(total: list[int], splits: int, *seed: int) -> KeyCounts:
    names = np.arange(len(total))
    return from_table(names, total, splits, generator(*seed))


TOTAL, SPLITS = [5, 1, 3, 2], 3


def corner(counts: Any) -> tuple[int, ...]:
    """What is compared: two keys on two splits."""
    return int(counts[0][0]), int(counts[0][2]), int(counts[1][0]), int(counts[1][2])


def corner_pmf() -> dict[Any, float]:
    """Splits of 4, 4, 3 records; the second's records are drawn from what the first leaves."""
    pmf: dict[Any, float] = {}
    for first, p in reference.hypergeometric_pmf(TOTAL, 4).items():
        left = [t - f for t, f in zip(TOTAL, first, strict=True)]
        for second, q in reference.hypergeometric_pmf(left, 4).items():
            cell = (first[0], first[2], second[0], second[2])
            pmf[cell] = pmf.get(cell, 0.0) + p * q
    return pmf


def test_records_in_random_order_have_the_exact_probabilities() -> None:
    """The reference itself."""
    rng = generator(2)
    seen: Counter[Any] = Counter()
    for _ in range(RUNS):
        parts = shuffled_splits(TOTAL, SPLITS, rng)
        seen[corner([[part.count(k) for k in range(4)] for part in parts])] += 1
    assert reference.agrees(seen, corner_pmf())


def test_the_matrix_has_the_exact_probabilities() -> None:
    seen = Counter(corner(fixed(TOTAL, SPLITS, s).matrix) for s in range(RUNS))
    assert reference.agrees(seen, corner_pmf())


@pytest.mark.usefixtures("lazy")
def test_the_tree_has_the_exact_probabilities() -> None:
    runs = RUNS // 2
    seen = Counter(
        corner(fixed(TOTAL, SPLITS, s).per_split(np.arange(4)).tolist()) for s in range(runs)
    )
    assert reference.agrees(seen, corner_pmf())


@pytest.mark.usefixtures("lazy")
def test_the_rest_of_a_split_has_the_exact_probabilities() -> None:
    """Key 0 by the tree; key 2, and the two others together, as aggregates given key 0."""
    seen: Counter[Any] = Counter()
    for s in range(RUNS // 2):
        data = fixed(TOTAL, SPLITS, s)
        first = data.per_split(np.array([0]))[:, 0]
        rest = data.per_split_of_rest(np.array([3, 3]), first)
        np.testing.assert_array_equal(first + rest.sum(axis=1), data.split_records)
        seen[int(first[0]), int(rest[0, 0]), int(first[1]), int(rest[1, 0])] += 1
    assert reference.agrees(seen, corner_pmf())


@pytest.mark.usefixtures("lazy")
@given(st.lists(st.integers(0, 40), min_size=1, max_size=20), st.integers(1, 5), st.data())
def test_every_reader_gets_the_same_counts(total: list[int], splits: int, choice: Any) -> None:
    total[0] += 1
    data = fixed(total, splits, 1)
    everything = data.per_split(np.arange(len(total)))
    np.testing.assert_array_equal(everything.sum(axis=0), data.total)
    np.testing.assert_array_equal(everything.sum(axis=1), data.split_records)
    some = choice.draw(st.sets(st.integers(0, len(total) - 1), min_size=1))
    keys = np.array(sorted(some))
    np.testing.assert_array_equal(data.per_split(keys), everything[:, keys])


@pytest.mark.usefixtures("lazy")
def test_too_many_counts_are_refused() -> None:
    data = draw(values(keys=2), 10, 2**24, generator(1))
    with pytest.raises(ShuffleError, match="at most 16777216"):
        data.per_split(np.arange(2))


def test_a_combine_without_a_matrix_is_close_to_the_exact_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Mean and spread of each key's total over 400 seeds.

    The mean within 6 standard errors or 0.1 (the normal law's rounding), the variance within a
    half: records of a key fall into one split a little less often than independent ones would.
    """
    total = [0, 1, 2, 3, 10, 30, 33, 60, 120, 400]

    def drawn(cells: int) -> Any:
        monkeypatch.setattr(core.shuffle.keys, "DENSE_CELLS", cells)
        jobs = [
            from_table(np.arange(10), total, 23, generator(s), combine=True) for s in range(400)
        ]
        return np.array([job.total for job in jobs])

    exact, close = drawn(10**6), drawn(0)
    error = np.sqrt((exact.var(axis=0) + close.var(axis=0)) / 400)
    assert (abs(exact.mean(axis=0) - close.mean(axis=0)) < np.maximum(6 * error, 0.1)).all()
    assert (close[:, :2] == [0, 1]).all()
    assert (close <= np.minimum(total, 23)).all()
    ratio = (close.var(axis=0) + 0.1) / (exact.var(axis=0) + 0.1)
    assert (ratio > 0.5).all()
    assert (ratio < 2).all()


@pytest.mark.usefixtures("lazy")
def test_a_combine_without_a_matrix_sends_a_key_once_a_split() -> None:
    data = draw(values(keys=40, combine=True), 600, 11, generator(1))
    counts = data.per_split(np.arange(40))
    assert counts.max() == 1
    np.testing.assert_array_equal(counts.sum(axis=0), data.total)


# samples


def test_algorithm_r_has_the_exact_probabilities() -> None:
    rng = generator(3)
    records = [0] * 4 + [1] * 2 + [2] * 3
    rng.shuffle(records)
    seen: Counter[Any] = Counter()
    for _ in range(RUNS):
        kept = reference.algorithm_r(records, 5, rng)
        seen[tuple(kept.count(k) for k in range(3))] += 1
    assert reference.agrees(seen, reference.hypergeometric_pmf([4, 2, 3], 5))


def sample_pmf() -> dict[Any, float]:
    """Of two splits with fixed counts: each split's draw, added up by weight."""
    pmf: dict[Any, float] = {}
    for a, p in reference.hypergeometric_pmf([4, 2], 3).items():
        for b, q in reference.hypergeometric_pmf([1, 3], 1).items():
            cell = (2 * a[0] + 4 * b[0], 2 * a[1] + 4 * b[1])
            pmf[cell] = pmf.get(cell, 0.0) + p * q
    return pmf


def test_a_sample_of_a_matrix_has_the_exact_probabilities() -> None:
    """Estimates are hits times records over sample size of each split: 6/3 and 4/1."""
    data, rng = from_matrix([[4, 2], [1, 3]], generator(1)), generator(4)
    seen: Counter[Any] = Counter()
    for _ in range(RUNS):
        sample = draw_sample(data, np.array([3, 1]), rng)
        assert (sample.size, sample.hits.sum()) == (4, 4)
        seen[tuple(np.rint(sample.estimate).astype(int).tolist())] += 1
    assert reference.agrees(seen, sample_pmf())


def test_records_give_the_same_sample_as_a_matrix() -> None:
    rng = generator(5)
    splits = [[0] * 4 + [1] * 2, [0] + [1] * 3]
    seen: Counter[Any] = Counter()
    for _ in range(RUNS):
        a, b = (reference.algorithm_r(s, k, rng) for s, k in zip(splits, (3, 1), strict=True))
        seen[tuple(2 * a.count(k) + 4 * b.count(k) for k in (0, 1))] += 1
    assert reference.agrees(seen, sample_pmf())


@pytest.mark.usefixtures("lazy")
def test_a_sample_without_a_matrix_has_the_exact_probabilities() -> None:
    """Against records in random order, cut into splits of 3, 2, 2 and sampled 2, 1, 1.

    The sampled places are fixed, so that the first draw is of 2 records weighing 3/2 and the
    second of 2 of the others weighing 2.
    """
    pmf: dict[Any, float] = {}
    for first, p in reference.hypergeometric_pmf([4, 3], 2).items():
        left = [4 - first[0], 3 - first[1]]
        for second, q in reference.hypergeometric_pmf(left, 2).items():
            cell = (3 * first[0] + 4 * second[0], 3 * first[1] + 4 * second[1])
            pmf[cell] = pmf.get(cell, 0.0) + p * q
    data, rng = fixed([4, 3], 3, 1), generator(6)
    seen: Counter[Any] = Counter()
    for _ in range(RUNS):
        sample = draw_sample(data, np.array([2, 1, 1]), rng)
        seen[tuple(np.rint(2 * sample.estimate).astype(int).tolist())] += 1
    assert reference.agrees(seen, pmf)


@pytest.mark.parametrize("cells", [0, 10**6])
def test_all_records_sampled_are_all_records(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.shuffle.keys, "DENSE_CELLS", cells)
    data = draw(values(keys=20), 1000, 3, generator(1))
    sample = draw_sample(data, reservoir_sizes(data.split_records, 1.0), generator(2))
    np.testing.assert_array_equal(sample.hits, data.total)
    np.testing.assert_allclose(sample.estimate, data.total)


def test_unseen_mass_is_that_of_keys_hit_once() -> None:
    data = from_matrix([[1, 1, 5, 0]], generator(1))
    sample = draw_sample(data, np.array([7]), generator(1))
    assert sample.unseen == pytest.approx(2 / 7)
    assert sample.distinct == 3
