"""SCID step by step: the plan against exact numbers, placement against single records."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import core.shuffle.keys
import core.shuffle.placement
from core.errors import ShuffleError
from core.shuffle import BucketPlan, KeyCounts, fos, from_matrix, from_table, max_over_mean, skewed
from core.shuffle.bucket_plan import descending, make_bucket_plan, split_and_combine
from core.shuffle.partitioners import partitioners
from core.shuffle.placement import Rules, filled, place_records
from tests.twins import shuffle as reference

OVERFLOWS = ("hash", "last", "proportional", "least_loaded")


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def planned(sizes: list[float], buckets: int, seed: int = 1) -> BucketPlan:
    array = np.array(sizes, np.float64)
    return split_and_combine(array, np.flatnonzero(array), buckets, generator(seed))


def entries(plan: BucketPlan) -> list[tuple[int, int, float]]:
    return list(zip(plan.key.tolist(), plan.bucket.tolist(), plan.records.tolist(), strict=True))


# measures


def test_measures_by_hand() -> None:
    """Loads 2, 4, 4, 6: mean 4, variance (4 + 0 + 0 + 4) / 4 = 2; 2 and 6 are 2 > √2 away."""
    loads = [2, 4, 4, 6]
    assert fos(loads) == pytest.approx(2**0.5 / 4)
    assert skewed(loads) == 2
    assert max_over_mean(loads) == 1.5


def test_equal_loads_are_not_skewed() -> None:
    assert (fos([3, 3]), skewed([3, 3]), max_over_mean([3, 3])) == (0, 0, 1)
    assert (fos([0, 0]), skewed([0, 0]), max_over_mean([0, 0])) == (0, 0, 1)
    assert skewed([1, 3]) == 0  # exactly one std away is not more than that


# the plan


def test_the_plan_by_hand() -> None:
    """Clusters 10, 5, 4, 1 into two buckets of 10: the first fits just so, the others follow.

    Into four of 5: bucket 0 gets 5 of cluster 0, whose rest ties with cluster 1; 4 and 1 fill
    the last one.
    """
    assert entries(planned([10, 5, 4, 1], 2)) == [(0, 0, 10), (1, 1, 5), (2, 1, 4), (3, 1, 1)]
    four = planned([10, 5, 4, 1], 4)
    assert four.loads.tolist() == [5, 5, 5, 5]
    assert four.cuts == 1
    assert {(k, b) for k, b, _ in entries(four)} >= {(0, 0), (2, 3), (3, 3)}


def test_a_cut_cluster_waits_for_its_turn() -> None:
    """Capacity 7: 9 is cut to 7 + 2; 6 is next, then 4 is cut at 1, then 3, 2 and 2."""
    plan = planned([9, 6, 4, 2], 3)
    assert entries(plan) == [(0, 0, 7), (0, 2, 2), (1, 1, 6), (2, 1, 1), (2, 2, 3), (3, 2, 2)]


def test_more_buckets_than_clusters() -> None:
    plan = planned([3, 1], 8)
    np.testing.assert_allclose(plan.loads, 0.5)


def test_no_cluster_gives_an_empty_plan() -> None:
    plan = planned([0.0], 3)
    assert (len(plan.key), plan.fos, plan.cuts) == (0, 0.0, 0)


def test_ties_are_broken_by_the_seed() -> None:
    orders = {tuple(descending(np.ones(4), np.arange(4), generator(s))[0]) for s in range(200)}
    assert len(orders) == 24
    first, second = planned([1.0] * 9, 4, seed=1), planned([1.0] * 9, 4, seed=1)
    assert entries(first) == entries(second)
    assert entries(first) != entries(planned([1.0] * 9, 4, seed=2))


SIZES = st.lists(st.floats(0.01, 1e9) | st.integers(1, 5).map(float), min_size=1, max_size=30)


@given(SIZES, st.integers(1, 12), st.integers(0, 9))
def test_the_plan_holds_every_cluster_and_fills_every_bucket(
    sizes: list[float], buckets: int, seed: int
) -> None:
    plan = planned(sizes, buckets, seed)
    by_key = np.bincount(plan.key, weights=plan.records, minlength=len(sizes))
    np.testing.assert_allclose(by_key, sizes, rtol=1e-9)
    assert plan.cuts <= buckets - 1
    assert plan.fos <= 1e-9
    assert (plan.records > 0).all()
    assert len(set(zip(plan.key.tolist(), plan.bucket.tolist(), strict=True))) == len(plan.key)
    np.testing.assert_allclose(plan.dense().sum(axis=0), sizes, rtol=1e-9)
    np.testing.assert_allclose(plan.dense().sum(axis=1), plan.loads)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=15), st.integers(1, 9), st.integers(0, 9))
@example([1, 2], 9, 0)
@example([1, 1, 2], 8, 3)
def test_the_plan_is_a_run_with_exact_numbers(sizes: list[int], buckets: int, seed: int) -> None:
    """Of 2 − 3 · ⅓ and 1 either may come first: in doubles they differ by rounding."""
    key, rank = descending(np.array(sizes, np.float64), np.arange(len(sizes)), generator(seed))
    plan = entries(planned([float(s) for s in sizes], buckets, seed))
    by_key = dict(zip(key.tolist(), rank.tolist(), strict=True))
    assert reference.is_a_run_of_split_and_combine(plan, sizes, by_key, buckets)


def test_no_other_plan_is_a_run_with_exact_numbers() -> None:
    """Of 3, 2 and 1 in two buckets of 3: the first whole in the first, the others in the second."""
    sizes, rank = [3, 2, 1], {0: 0, 1: 1, 2: 2}
    plan = [(0, 0, 3.0), (1, 1, 2.0), (2, 1, 1.0)]
    assert reference.is_a_run_of_split_and_combine(plan, sizes, rank, 2)
    for other in (
        [(1, 0, 2.0), (2, 0, 1.0), (0, 1, 3.0)],
        [(0, 0, 2.9), (0, 1, 0.1), (1, 1, 2.0), (2, 1, 1.0)],
        [*plan, (0, 1, 1.0)],
        plan[:2],
    ):
        assert not reference.is_a_run_of_split_and_combine(other, sizes, rank, 2)
    equal = [(0, 0, 1.0), (1, 1, 1.0)]
    assert reference.is_a_run_of_split_and_combine(equal, [1, 1], {0: 0, 1: 1}, 2)
    assert not reference.is_a_run_of_split_and_combine(equal, [1, 1], {0: 1, 1: 0}, 2)


def test_a_dense_plan_that_is_too_large_is_refused() -> None:
    plan = make_bucket_plan(
        10**4, 10**4, *(np.zeros(0, t) for t in (np.int64, np.int64, np.float64))
    )
    with pytest.raises(ShuffleError, match="10000 buckets × 10000 keys"):
        plan.dense()


# placement


def records_of(matrix: Any) -> list[list[int]]:
    return [np.repeat(np.arange(len(row)), row).tolist() for row in matrix]


@st.composite
def jobs(draw: Any) -> tuple[KeyCounts, BucketPlan, Any]:
    """A small job, a plan that fits it more or less, and hashes."""
    keys, splits, buckets = (draw(st.integers(1, top)) for top in (6, 4, 5))
    row = st.lists(st.integers(0, 12), min_size=keys, max_size=keys)
    matrix = np.array(draw(st.lists(row, min_size=splits, max_size=splits)))
    matrix[0, 0] += 1
    data = from_matrix(matrix, generator(1), record_bytes=10)
    guess = np.array(draw(st.lists(st.integers(0, 30), min_size=keys, max_size=keys)), np.float64)
    hashed = np.array(draw(st.lists(st.integers(0, buckets - 1), min_size=keys, max_size=keys)))
    return data, planned(guess.tolist(), buckets), hashed


@pytest.mark.parametrize("limit_unsplit", [False, True])
@pytest.mark.parametrize("overflow", OVERFLOWS)
@given(job=jobs(), seed=st.integers(0, 99))
def test_first_fit_is_that_of_single_records(
    job: Any, overflow: str, limit_unsplit: bool, seed: int
) -> None:
    data, plan, hashed = job
    rules = Rules("first_fit", overflow, limit_unsplit)
    found = place_records(data, plan, hashed, rules, generator(seed))
    u = rounding(data, plan, limit_unsplit, seed)
    twin = reference.Job(records_of(data.matrix), plan.buckets, hashed.tolist())
    loads, pairs = twin.place(entries(plan), overflow, limit_unsplit, u)
    records, sizes = found.per_split()
    assert found.loads.tolist() == np.sum(loads, axis=0).tolist()
    np.testing.assert_array_equal(records.sum(axis=0), found.loads)
    np.testing.assert_array_equal(records.sum(axis=1), data.split_records)
    np.testing.assert_allclose(sizes, 10 * records)
    if overflow != "least_loaded":  # where only the loads follow from the model
        assert records.tolist() == loads
        assert set(zip(found.key.tolist(), found.bucket.tolist(), strict=True)) == pairs


@given(job=jobs(), seed=st.integers(0, 99))
def test_proportional_parts_are_those_of_single_records(job: Any, seed: int) -> None:
    data, plan, hashed = job
    found = place_records(data, plan, hashed, Rules("proportional"), generator(seed))
    u = rounding(data, plan, False, seed)
    twin = reference.Job(records_of(data.matrix), plan.buckets, hashed.tolist())
    assert found.per_split()[0].tolist() == twin.place_in_proportion(entries(plan), u)


def rounding(data: KeyCounts, plan: BucketPlan, limit_unsplit: bool, seed: int) -> Any:
    """The numbers that `place` rounds by, for every key."""
    parts = np.bincount(plan.key, minlength=plan.keys)
    limited = np.flatnonzero((parts > 1) | (limit_unsplit & (parts > 0)))
    u = np.full((data.splits, plan.keys), 0.5)
    u[:, limited] = generator(seed).random((data.splits, len(limited)))
    return u


def one_key(counts: list[int], amounts: list[float]) -> tuple[KeyCounts, BucketPlan]:
    data = from_matrix([[c] for c in counts], generator(1))
    buckets = np.arange(len(amounts))
    return data, make_bucket_plan(
        len(amounts), 1, np.zeros_like(buckets), buckets, np.array(amounts)
    )


def test_limits_by_hand() -> None:
    """10 records on a split of two alike, planned 9 and 5: limits 4.5 and 2.5, so 5 and 3 fit.

    2 are over on each split: the hash is bucket 1, the last bucket is 1, and 9 : 5 of 2 is
    1.29 : 0.71. Least loaded is bucket 1, 6 against 10, for all 4.
    """
    data, plan = one_key([10, 10], [9.0, 5.0])
    hashed = np.array([0])
    expected = {"hash": [14, 6], "last": [10, 10], "least_loaded": [10, 10]}
    for overflow, loads in expected.items():
        rules = Rules("first_fit", overflow)
        assert place_records(data, plan, hashed, rules, generator(1)).loads.tolist() == loads
    shared = place_records(
        data, plan, hashed, Rules("first_fit", "proportional"), generator(1)
    ).loads
    assert shared.sum() == 20
    assert 12 <= shared[0] <= 14


def test_proportional_parts_are_right_on_average() -> None:
    """One record a split, on 4000 splits, planned 3 : 1; six standard deviations."""
    data, plan = one_key([1] * 4000, [3.0, 1.0])
    loads = place_records(data, plan, np.array([0]), Rules(), generator(1)).loads
    assert abs(loads[0] - 3000) < 6 * (4000 * 3 / 16) ** 0.5


def test_first_fit_sends_single_records_to_the_first_bucket() -> None:
    """A limit of 0.75 lets one record in."""
    data, plan = one_key([1] * 400, [300.0, 100.0])
    loads = place_records(data, plan, np.array([0]), Rules("first_fit"), generator(1)).loads
    assert loads.tolist() == [400, 0]


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8), st.integers(0, 60))
def test_filling_is_one_record_after_another(loads: list[int], records: int) -> None:
    now = list(loads)
    for _ in range(records):
        now[now.index(min(now))] += 1
    assert filled(np.array(loads), records).tolist() == now


def test_limits_of_too_many_keys_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core.shuffle.keys, "DENSE_CELLS", 0)
    monkeypatch.setattr(core.shuffle.placement, "MAX_CELLS", 5)
    data = KeyCounts(
        core.shuffle.Keys(3),
        np.array([2, 2, 2]),
        np.array([3, 3]),
        np.ones(3),
        6,
        (1, 2),
    )
    plan = planned([2, 2, 2], 1)
    rules = Rules("first_fit", "hash", True)
    with pytest.raises(
        ShuffleError, match=r"limits 3 keys .* 2 splits, with shuffle.limits_on_unsplit_keys=true"
    ):
        place_records(data, plan, np.zeros(3, np.int64), rules, generator(1))


# all of it


@cache
def scid_by_records(
    total: tuple[int, ...], splits: int, buckets: int, rate: float, seed: int
) -> Any:
    """Loads of the whole algorithm, record by record."""
    rng = generator(seed)
    records = np.repeat(np.arange(len(total)), total)
    rng.shuffle(records)
    parts = [part.tolist() for part in np.array_split(records, splits)]
    sizes: dict[int, Fraction] = {}
    for part in parts:
        kept = max(1, round(rate * len(part)))
        for key in reference.algorithm_r(part, kept, rng):
            sizes[key] = sizes.get(key, Fraction(0)) + Fraction(len(part), kept)
    rank = dict(enumerate(rng.permutation(len(total)).tolist()))
    plan = [(k, b, float(p)) for k, b, p in reference.split_and_combine(sizes, rank, buckets)]
    hashed = [reference.murmur3(f"w{k + 1:06d}") % buckets for k in range(len(total))]
    return np.sum(reference.Job(parts, buckets, hashed).place(plan, "hash", True, None)[0], axis=0)


@pytest.mark.compiled
@pytest.mark.parametrize("cells", [0, 10**6])
def test_all_of_scid_is_that_of_single_records(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean load of every bucket, smallest and largest over 300 seeds, within 5 standard errors."""
    monkeypatch.setattr(core.shuffle.keys, "DENSE_CELLS", cells)
    total = np.rint(900 / np.arange(1, 31)).astype(int)
    values = {"shuffle.sampling_rate": 0.05, "shuffle.limits_on_unsplit_keys": True}
    words = [f"w{k + 1:06d}" for k in range(30)]
    found, expected = [], []
    for seed in range(300):
        data = from_table(words, total, 5, generator(seed))
        loads = partitioners()["scid"].partition(data, 6, values, generator(seed + 1000)).loads
        found.append([*loads, loads.min(), loads.max()])
        loads = scid_by_records(tuple(total.tolist()), 5, 6, 0.05, seed)
        expected.append([*loads, loads.min(), loads.max()])
    difference = np.mean(found, axis=0) - np.mean(expected, axis=0)
    error = np.sqrt((np.var(found, axis=0) + np.var(expected, axis=0)) / 300)
    assert (abs(difference) < 5 * error).all()
    spread = np.std(found, axis=0) / np.std(expected, axis=0)
    assert (abs(np.log(spread)) < 0.25).all()  # six standard errors of a ratio of spreads
