"""Where keys come from, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.errors import ShuffleError
from core.parameters import defaults
from core.shuffle import draw, from_matrix, from_table
from core.shuffle.keys import split_sizes
from core.shuffle.parameters import KEY_PARAMETERS
from core.shuffle.sample import reservoir_sizes
from core.shuffle.sources import SOURCES, zipf_shares


def values(**changes: Any) -> dict[str, Any]:
    return defaults(KEY_PARAMETERS) | {f"shuffle.{k}": v for k, v in changes.items()}


def generator(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


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
        (["a", "b"], [1, -1], r"t.csv row 2: count -1; allowed are whole numbers"),
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
