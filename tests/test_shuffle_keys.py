"""Hashes, sources of keys, counts per split and samples (each chi-square: false alarm 10^−6)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import shuffle_records as reference
from hypothesis import given
from hypothesis import strategies as st

import core.shuffle.keys
from core.errors import ShuffleError
from core.parameters import defaults
from core.shuffle import Keys, bucket_of, draw, from_matrix, from_table, java_hash, murmur3
from core.shuffle.keys import KeyCounts, split_sizes
from core.shuffle.parameters import KEY_PARAMETERS
from core.shuffle.sampling import draw_sample, reservoir_sizes
from core.shuffle.sources import SOURCES, zipf_shares

RUNS = 10_000


def values(**changes: Any) -> dict[str, Any]:
    return defaults(KEY_PARAMETERS) | {f"shuffle.{k}": v for k, v in changes.items()}


def generator(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    """No job is small enough for a matrix."""
    monkeypatch.setattr(core.shuffle.keys, "DENSE_CELLS", 0)


# hashes


def test_spark_places_these_keys_here() -> None:
    assert bucket_of(java_hash(["", "a", "w000001", "hello", "键"]), 16).tolist() == [
        0,
        1,
        8,
        2,
        14,
    ]
    assert bucket_of(java_hash(np.array([-1, -17], np.int32)), 16).tolist() == [15, 15]
    assert murmur3(["w000001"]).tolist() == [-1416498922]
    assert bucket_of(murmur3(["w000001"]), 16).tolist() == [6]


def test_murmur3_of_ints_and_longs() -> None:
    """Published vectors of Spark's Murmur3_x86_32, seed 0."""
    ints = np.array([0, -42, 42, -(2**31), 2**31 - 1], np.int32)
    expected = [593689054, -189366624, -1134849565, -1718298732, -1653689534]
    assert murmur3(ints, 0).tolist() == expected
    longs = np.array([0, -42, 42, -(2**63), 2**63 - 1], np.int64)
    expected = [1669671676, -846261623, 1871679806, 1366273829, -2106506049]
    assert murmur3(longs, 0).tolist() == expected


def test_java_hash_of_longs_folds_the_halves() -> None:
    longs = np.array([0, 1, -1, 2**32, -(2**63)], np.int64)
    assert java_hash(longs).tolist() == [0, 1, 0, 1, -(2**31)]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=9), min_size=1))
def test_hashes_of_any_text_are_those_by_hand(texts: list[str]) -> None:
    texts = [t.rstrip("\0") for t in [*texts, "键", "𝄞 clef"]]  # numpy's texts end there
    assert java_hash(np.array(texts)).tolist() == [reference.java_hash(t) for t in texts]
    assert murmur3(np.array(texts)).tolist() == [reference.murmur3(t) for t in texts]


def test_generated_keys_are_their_names() -> None:
    keys = Keys(1_000_100)
    some = [0, 1, 19_999, 999_998, 999_999, 1_000_099]
    names = [keys.name(k) for k in some]
    assert names[:2] == ["w000001", "w000002"]
    assert names[-2:] == ["w1000000", "w1000100"]
    assert keys.java[some].tolist() == [reference.java_hash(n) for n in names]
    assert keys.sql[some].tolist() == [reference.murmur3(n) for n in names]
    first = [keys.name(int(k)) for k in keys.order[:300]]
    assert first == sorted(first)
    assert "w1000000" in [keys.name(int(k)) for k in keys.order[99_999:100_001]]


def test_order_of_given_keys() -> None:
    assert Keys(3, np.array(["b", "a", "c"])).order.tolist() == [1, 0, 2]
    assert Keys(3, np.array([5, -1, 3])).order.tolist() == [1, 2, 0]


# sources


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("combine", [None, False, True])
def test_a_source_draws_what_it_says(source: str, combine: bool | None) -> None:
    data = draw(values(keys=50, combine=combine), 3000, 7, generator(1), source)
    assert data.input_records == 3000
    assert data.total.sum() == data.records == data.split_records.sum()
    assert data.combined == (combine if combine is not None else source == "word_count")
    if data.combined:
        assert data.matrix is not None
        assert data.matrix.max() == 1
    else:
        assert data.records == (3 if source == "text_search" else 3000)
    assert data.keys.count == {"sort": 3000, "text_search": 3}.get(source, 50)


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_reads_only_what_it_declares(source: str) -> None:
    given = defaults(SOURCES[source].parameters)
    assert draw(given, 100, 2, generator(1), source).input_records == 100


def test_zipf_totals_follow_the_law_and_the_permutation_is_the_seeds() -> None:
    a, b, c = (draw(values(keys=30), 10**6, 4, generator(s)) for s in (1, 1, 2))
    np.testing.assert_array_equal(a.total, b.total)
    assert (a.total != c.total).any()
    expected = 10**6 * zipf_shares(30, 1.0)
    assert (abs(np.sort(a.total)[::-1] - expected) < 6 * np.sqrt(expected)).all()
    assert a.total.argmax() != c.total.argmax()


def test_no_exponent_means_all_keys_alike() -> None:
    np.testing.assert_allclose(zipf_shares(4, 0.0), 0.25)


def test_value_sizes_keep_their_mean() -> None:
    data = draw(values(keys=20_000, value_spread=1.0, record_bytes=300.0), 20_000, 2, generator(4))
    assert data.record_bytes.std() > 100
    sd = 300 * np.sqrt(np.e - 1) / np.sqrt(20_000)
    assert abs(data.record_bytes.mean() - 300) < 6 * sd


def test_splits_differ_by_one_record_at_most_and_may_be_empty() -> None:
    assert split_sizes(3, 5).tolist() == [1, 1, 1, 0, 0]
    data = draw(values(keys=2), 3, 5, generator(1))
    assert data.split_records.tolist() == [1, 1, 1, 0, 0]
    assert reservoir_sizes(data.split_records, 0.01).tolist() == [1, 1, 1, 0, 0]


def test_a_table_is_taken_as_it_is() -> None:
    data = from_table(["x", "y"], [3, 0], 2, generator(1), record_bytes=[10, 20])
    assert data.total.tolist() == [3, 0]
    assert data.keys.name(1) == "y"
    assert data.record_bytes.tolist() == [10, 20]
    assert from_table(np.array([7, 8]), [1.0, 2.0], 1, generator(1)).total.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("names", "counts", "said"),
    [
        ([], [], "no rows"),
        (["a", "b"], [1, -1], r"t.csv row 2: count -1; whole numbers"),
        (["a", "b"], [1, 0.5], r"t.csv row 2: count 0.5"),
        (["a", "b"], [1, float("nan")], r"t.csv row 2: count nan"),
        (["a", "b"], [1, float("inf")], r"t.csv row 2: count inf"),
        (["a", "b"], [True, "x"], "counts are"),
        (["a", None], [1, 1], r"t.csv row 2: key None"),
        (np.array(["a", np.nan], object), [1, 1], r"t.csv row 2: key nan"),
        ([1.5, 2.0], [1, 1], "keys are float64"),
        (["a", "b", "a"], [1, 1, 1], r"t.csv row 3: key a again"),
        (["a", "b"], [1], "2 keys but 1 counts"),
        (["a", "b"], [0, 0], "0 records"),
    ],
)
def test_a_bad_table_is_refused(names: Any, counts: Any, said: str) -> None:
    with pytest.raises(ShuffleError, match=said):
        from_table(names, counts, 2, generator(1), source="t.csv")


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(ShuffleError, match="0 records"):
        draw(values(), 0, 1, generator(1))
    with pytest.raises(ShuffleError, match="0 splits"):
        draw(values(), 10, 0, generator(1))
    with pytest.raises(ShuffleError, match="exponent -1"):
        draw(values(zipf=-1.0), 10, 1, generator(1))
    with pytest.raises(ShuffleError, match="0 keys"):
        draw(values(keys=0), 10, 1, generator(1))
    with pytest.raises(ShuffleError, match="whole numbers ≥ 0"):
        from_matrix([[1, -1]], generator(1))
    with pytest.raises(ShuffleError, match="record size"):
        from_table(["a"], [1], 1, generator(1), record_bytes=-1.0)


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


TOTAL, SPLITS = [5, 0, 3, 2], 3


def corner(counts: Any) -> tuple[int, ...]:
    """What is compared: two keys on two splits."""
    return int(counts[0][0]), int(counts[0][2]), int(counts[1][0]), int(counts[1][2])


def corner_pmf() -> dict[Any, float]:
    """Splits of 4, 3, 3 records; the second's records are drawn from what the first leaves."""
    pmf: dict[Any, float] = {}
    for first, p in reference.hypergeometric_pmf([5, 3, 2], 4).items():
        left = [t - f for t, f in zip([5, 3, 2], first, strict=True)]
        for second, q in reference.hypergeometric_pmf(left, 3).items():
            cell = (first[0], first[1], second[0], second[1])
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
    """Key 0 by the tree, keys 2 and 3 as aggregates given key 0."""
    seen: Counter[Any] = Counter()
    for s in range(RUNS // 2):
        data = fixed(TOTAL, SPLITS, s)
        first = data.per_split(np.array([0]))[:, 0]
        rest = data.per_split_of_rest(np.array([3, 2]), first)
        np.testing.assert_array_equal(first + rest.sum(axis=1), data.split_records)
        seen[int(first[0]), int(rest[0, 0]), int(first[1]), int(rest[1, 0])] += 1
    assert reference.agrees(seen, corner_pmf())


@pytest.mark.usefixtures("lazy")
@given(st.lists(st.integers(0, 40), min_size=1, max_size=20), st.integers(1, 5), st.data())
def test_whoever_asks_gets_the_same_counts(total: list[int], splits: int, choice: Any) -> None:
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
