"""Spark's hashes: published vectors, and any text against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.shuffle import Keys, bucket_of, java_hash, murmur3
from tests.twins import shuffle as reference


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
