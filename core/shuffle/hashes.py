"""The hashes by which Spark's partitioners place a key, vectorised and exact.

`java_hash` is what ``HashPartitioner`` uses on RDDs, `murmur3` what Spark SQL uses. Both return
signed 32-bit numbers, as the JVM has them; `bucket_of` takes the non-negative remainder.

A key is text, a 32-bit integer (Java ``Integer``, SQL ``INT``) or a 64-bit one (``Long``,
``BIGINT``), by the dtype of the array. Generated keys are the texts ``w%06d`` % 1, 2, …: six
digits up to w999999, then seven and more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.int32]
_Words = npt.NDArray[np.uint32]

SQL_SEED = 42
"""Seed of Spark SQL's ``hash``."""
GENERATED_DIGITS = 6


@dataclass(frozen=True, eq=False)
class Keys:
    """The identity of K keys: what a hash and an order need.

    Attributes
    ----------
    count : int
    names : array, shape (K,), optional
        Text (dtype U), int32 or int64; None for generated keys.
    """

    count: int
    names: npt.NDArray[Any] | None = None

    def name(self, key: int) -> str:
        """Return key number `key`, from 0, as text."""
        return f"w{key + 1:0{GENERATED_DIGITS}d}" if self.names is None else str(self.names[key])

    @cached_property
    def java(self) -> Hashes:
        """Java's ``hashCode`` of each key, shape (K,)."""
        return _generated(self.count)[0] if self.names is None else java_hash(self.names)

    @cached_property
    def sql(self) -> Hashes:
        """Spark SQL's ``hash`` of each key, shape (K,)."""
        return _generated(self.count)[1] if self.names is None else murmur3(self.names)

    def hashed(self, which: str) -> Hashes:
        """Return `java` for ``"spark"``, `sql` for ``"murmur3"``."""
        return self.java if which == "spark" else self.sql

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """Key numbers in ascending order of the keys (text by code point), shape (K,)."""
        if self.names is not None:
            return np.argsort(self.names, kind="stable").astype(np.int64)
        number = np.arange(1, self.count + 1, dtype=np.int64)
        # As text: w1000000 is before w100001. Align to the left; of equal ones the shorter first.
        widest = max(len(str(self.count)), GENERATED_DIGITS)
        aligned = number * 10 ** (widest - _digits(number))
        return np.argsort(aligned, kind="stable").astype(np.int64)


def bucket_of(hashes: Hashes, buckets: int) -> npt.NDArray[np.int64]:
    """Return the non-negative remainder, Spark's bucket of each hash.

    >>> bucket_of(java_hash(["", "a", "w000001", "hello", "键"]), 16).tolist()
    [0, 1, 8, 2, 14]
    >>> bucket_of(java_hash(np.array([-1, -17], np.int32)), 16).tolist()
    [15, 15]
    """
    return hashes.astype(np.int64) % buckets


def java_hash(keys: npt.ArrayLike) -> Hashes:
    """Return Java's ``hashCode`` of each key: ``String``, ``Integer`` or ``Long``.

    >>> java_hash(["hello", "w000001"]).tolist()
    [99162322, -341238472]
    """
    keys = np.asarray(keys)
    if keys.dtype.kind != "U":
        if keys.dtype.itemsize <= 4:
            return keys.astype(np.int32)
        low, high = _halves(keys)
        return (low ^ high).view(np.int32)
    result = np.zeros(len(keys), np.uint32)
    for at, units in _by_length(keys, "utf-16-le", np.dtype("<u2")):
        result[at] = _java(units)
    return result.view(np.int32)


def murmur3(keys: npt.ArrayLike, seed: int | Hashes = SQL_SEED) -> Hashes:
    """Return Spark's Murmur3_x86_32 of each key: of UTF-8 bytes, of an int or of a long.

    Parameters
    ----------
    keys : array-like, shape (K,)
    seed : int or array of int32, shape (K,)
        Spark SQL hashes several columns by taking the hash of one as the seed of the next.

    Notes
    -----
    Bytes beyond the last whole word are mixed one by one, each as a signed int. That is Spark's
    own way; the published algorithm mixes them together.

    >>> murmur3(["w000001"]).tolist()
    [-1416498922]
    """
    keys = np.asarray(keys)
    state = np.empty(len(keys), np.uint32)
    state[:] = np.asarray(seed, np.int32).view(np.uint32)
    if keys.dtype.kind == "U":
        for at, units in _by_length(keys, "utf-8", np.dtype(np.uint8)):
            state[at] = _murmur3(units, state[at])
        return state.view(np.int32)
    if keys.dtype.itemsize <= 4:
        return _finish(_mix(state, keys.astype(np.int32).view(np.uint32)), 4).view(np.int32)
    low, high = _halves(keys)
    return _finish(_mix(_mix(state, low), high), 8).view(np.int32)


@lru_cache(maxsize=8)
def _generated(count: int) -> tuple[Hashes, Hashes]:
    """Both hashes of the generated keys, read-only."""
    number = np.arange(1, count + 1, dtype=np.int64)
    digits = _digits(number)
    java, sql = np.empty(count, np.uint32), np.empty(count, np.uint32)
    for width in np.unique(digits):
        at = np.flatnonzero(digits == width)
        units = np.empty((len(at), width + 1), np.uint8)
        units[:, 0] = ord("w")
        for digit in range(width):
            units[:, width - digit] = ord("0") + number[at] // 10**digit % 10
        java[at] = _java(units)
        sql[at] = _murmur3(units, np.full(len(at), SQL_SEED, np.uint32))
    java.flags.writeable = sql.flags.writeable = False
    return java.view(np.int32), sql.view(np.int32)


def _digits(number: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Digits of ``%06d``, shape of `number`."""
    digits = np.full(len(number), GENERATED_DIGITS, np.int64)
    for limit in range(GENERATED_DIGITS, 18):
        digits += number >= 10**limit
    return digits


def _by_length(
    keys: npt.NDArray[Any], encoding: str, unit: np.dtype[Any]
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[Any]]]:
    """Yield texts of one encoded length: their numbers, and their units, shape (texts, length)."""
    encoded = [str(key).encode(encoding) for key in keys]
    lengths = np.array([len(e) for e in encoded], np.int64)
    for length in np.unique(lengths):
        at = np.flatnonzero(lengths == length)
        units = np.frombuffer(b"".join(encoded[i] for i in at), unit)
        yield at, units.reshape(len(at), length // unit.itemsize)


def _halves(keys: npt.NDArray[Any]) -> tuple[_Words, _Words]:
    """Low and high words of 64-bit integers."""
    bits = keys.astype(np.int64).view(np.uint64)
    return bits.astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32)


def _java(units: npt.NDArray[Any]) -> _Words:
    state = np.zeros(len(units), np.uint32)
    for i in range(units.shape[1]):
        state = state * np.uint32(31) + units[:, i].astype(np.uint32)
    return state


def _murmur3(units: npt.NDArray[np.uint8], state: _Words) -> _Words:
    length = units.shape[1]
    whole = length // 4 * 4
    words = np.ascontiguousarray(units[:, :whole]).view("<u4")
    for i in range(whole // 4):
        state = _mix(state, words[:, i].astype(np.uint32))
    for i in range(whole, length):
        state = _mix(state, units[:, i].astype(np.int8).astype(np.int32).view(np.uint32))
    return _finish(state, length)


def _rotated(words: _Words, by: int) -> _Words:
    return (words << np.uint32(by)) | (words >> np.uint32(32 - by))


def _mix(state: _Words, word: _Words) -> _Words:
    word = _rotated(word * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    return _rotated(state ^ word, 13) * np.uint32(5) + np.uint32(0xE6546B64)


def _finish(state: _Words, length: int) -> _Words:
    state = state ^ np.uint32(length)
    state = (state ^ (state >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    state = (state ^ (state >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return state ^ (state >> np.uint32(16))
