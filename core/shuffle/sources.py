"""Where the keys of a job come from: a Zipf law, a table of counts, or a kind of job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from core.errors import ShuffleError
from core.parameters import Parameter, Values
from core.shuffle.draws import Floats, Ints
from core.shuffle.hashes import Keys
from core.shuffle.keys import MAX_RECORDS, KeyCounts, split_sizes
from core.shuffle.parameters import COMBINE, KEYS, RECORD_BYTES, VALUE_SPREAD, ZIPF

MAX_SORT_KEYS = 10**6
ONE_BY_ONE = 32
"""Records of a key that are thrown into the splits one by one."""


@dataclass(frozen=True)
class Source:
    """How keys are distributed over a job's records.

    Attributes
    ----------
    summary : str
    zipf : float, optional
        The law's exponent; None: ``shuffle.zipf``.
    keys : int, optional
        Distinct keys; None: ``shuffle.keys``. Never more than there are records.
    matching : float
        Share of the input records that the map tasks put out.
    combine : bool
        Default of ``shuffle.combine``.
    """

    summary: str
    zipf: float | None = None
    keys: int | None = None
    matching: float = 1.0
    combine: bool = False

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What a job of this kind reads."""
        law = (*((KEYS,) if self.keys is None else ()), *((ZIPF,) if self.zipf is None else ()))
        return (*law, RECORD_BYTES, VALUE_SPREAD, COMBINE)


SOURCES = {
    "zipf": Source("every record has a key, keys follow a Zipf law"),
    "sort": Source("sorting: nearly unique keys", zipf=0.0, keys=MAX_SORT_KEYS),
    "text_search": Source("searching: one record in a thousand matches", matching=1e-3),
    "word_count": Source("counting words: each map task sends a word once", combine=True),
}
"""Kinds of job by name. `sort` has as many keys as records, up to 10^6, all equally likely."""

SOURCE = Parameter(
    "shuffle.source", str, "zipf", "kind of job that the keys come from", choices=tuple(SOURCES)
)


def draw(
    values: Values, records: int, splits: int, rng: np.random.Generator, source: str = "zipf"
) -> KeyCounts:
    """Draw a job.

    Parameters
    ----------
    values : mapping
        The source's `Source.parameters`, checked.
    records : int
        Records of the input.
    splits : int
        Map tasks; their inputs differ by at most one record.
    rng : numpy.random.Generator
    source : str
        One of `SOURCES`.

    Raises
    ------
    ShuffleError
        Fewer than one record, split or key.
    """
    kind = SOURCES[source]
    _check_size(records, splits)
    matching = max(1, round(records * kind.matching))
    count = min(kind.keys or cast(int, values["shuffle.keys"]), matching)
    exponent = cast(float, values["shuffle.zipf"]) if kind.zipf is None else kind.zipf
    combine = values["shuffle.combine"]
    shares = zipf_shares(count, exponent)[rng.permutation(count)]
    size = value_sizes(
        count,
        cast(float, values["shuffle.record_bytes"]),
        cast(float, values["shuffle.value_spread"]),
        rng,
    )
    total = rng.multinomial(matching, shares).astype(np.int64)
    job = _job(Keys(count), total, splits, size, records, rng)
    return combined(job) if (kind.combine if combine is None else combine) else job


def zipf_shares(count: int, exponent: float) -> Floats:
    """Return p_i ∝ i^(−exponent), i = 1 … count.

    >>> zipf_shares(2, 1.0).round(3).tolist()
    [0.667, 0.333]

    Raises
    ------
    ShuffleError
        A negative exponent or no key.
    """
    if count < 1 or not exponent >= 0:
        raise ShuffleError(f"{count} keys with Zipf exponent {exponent}: at least 1 key, and ≥ 0")
    weights: Floats = np.arange(1, count + 1, dtype=np.float64) ** -exponent
    weights /= weights.sum()
    return weights


def value_sizes(count: int, mean: float, spread: float, rng: np.random.Generator) -> Floats:
    """Draw the record size of each key [B]: lognormal with this mean; `spread` is σ of the log."""
    if spread == 0:
        return np.full(count, float(mean))
    return np.asarray(mean * np.exp(spread * rng.standard_normal(count) - spread**2 / 2))


def from_table(
    names: npt.ArrayLike,
    counts: npt.ArrayLike,
    splits: int,
    rng: np.random.Generator,
    *,
    record_bytes: float | npt.ArrayLike = 100.0,
    combine: bool = False,
    source: str = "key table",
) -> KeyCounts:
    """Build a job from a table of keys and counts; its records lie in the splits at random.

    Parameters
    ----------
    names : array-like, shape (K,)
        Text or integers, each once. int32 hashes as Java's Integer, int64 as Long.
    counts : array-like of int, shape (K,)
    splits : int
    record_bytes : float or array-like, shape (K,)
        Size of a record, of all keys or of each [B].
    combine : bool
        Each split sends a key once.
    source : str
        What the table is, for messages.

    Raises
    ------
    ShuffleError
        An empty table, a null or repeated key, a count that is not a whole number ≥ 0.
    """
    keys = _checked_names(names, source)
    total = _checked_counts(counts, len(keys), source)
    records = int(total.sum())
    _check_size(records, splits)
    size = np.broadcast_to(np.asarray(record_bytes, np.float64), total.shape).copy()
    if not (np.isfinite(size) & (size >= 0)).all():
        raise ShuffleError(f"{source}: a record size is not a number ≥ 0 (bytes)")
    job = _job(Keys(len(keys), keys), total, splits, size, records, rng)
    return combined(job) if combine else job


def from_matrix(
    matrix: npt.ArrayLike, rng: np.random.Generator, *, record_bytes: float = 100.0
) -> KeyCounts:
    """Build a job from the records of each key in each split, shape (M, K); generated keys."""
    counts = np.array(matrix, np.int64)
    if counts.ndim != 2 or counts.size == 0 or (counts < 0).any():
        raise ShuffleError("counts per split and key have to be a matrix of whole numbers ≥ 0")
    return KeyCounts(
        keys=Keys(counts.shape[1]),
        total=counts.sum(axis=0),
        split_records=counts.sum(axis=1),
        record_bytes=np.full(counts.shape[1], float(record_bytes)),
        input_records=int(counts.sum()),
        seed=_seed(rng),
        counts=counts,
    )


def combined(job: KeyCounts) -> KeyCounts:
    """Return the job after a map-side combine: one record for each (split, key) that has any.

    Exact where the job has a matrix. Beyond, each key's records fall into every split with equal
    probability, independently of other keys', and all splits count as having equally many.
    """
    if job.matrix is not None:
        present = (job.matrix > 0).astype(np.int64)
        total, sizes = present.sum(axis=0), present.sum(axis=1)
    else:
        rng = np.random.default_rng(list(job.seed))
        present, total = None, _occupied(job.total, int((job.split_records > 0).sum()), rng)
        sizes = split_sizes(int(total.sum()), job.splits)
    return KeyCounts(
        job.keys, total, sizes, job.record_bytes, job.input_records, job.seed, True, present
    )


def _occupied(records: Ints, splits: int, rng: np.random.Generator) -> Ints:
    """Draw the number of splits that each key's records fall into, shape (K,).

    One record after another up to `ONE_BY_ONE`. For more, the number of splits that stay
    without is rounded from a normal law with the right mean and variance.
    """
    nonempty = np.zeros(len(records), np.int64)
    for i in range(min(ONE_BY_ONE, int(records.max()))):
        nonempty += (records > i) & (rng.random(len(records)) * splits >= nonempty)
    many = np.flatnonzero(records > ONE_BY_ONE)
    others = records[many] - ONE_BY_ONE
    empty = (splits - nonempty[many]).astype(np.float64)
    stays, both_stay = (1 - 1 / splits) ** others, max(1 - 2 / splits, 0.0) ** others
    mean = empty * stays
    variance = np.maximum(empty * (empty - 1) * both_stay + mean - mean**2, 0)
    drawn = np.rint(mean + np.sqrt(variance) * rng.standard_normal(len(many)))
    nonempty[many] = splits - np.clip(drawn, 0, empty).astype(np.int64)
    return np.minimum(nonempty, records)


def _job(
    keys: Keys, total: Ints, splits: int, size: Floats, records: int, rng: np.random.Generator
) -> KeyCounts:
    sizes = split_sizes(int(total.sum()), splits)
    return KeyCounts(keys, total, sizes, size, records, _seed(rng))


def _seed(rng: np.random.Generator) -> tuple[int, int]:
    first, second = rng.integers(0, 2**63, 2)
    return int(first), int(second)


def _check_size(records: int, splits: int) -> None:
    if not 1 <= records <= MAX_RECORDS:
        raise ShuffleError(f"{records} records: a job has from 1 to 2^53")
    if splits < 1:
        raise ShuffleError(f"{splits} splits: a job has at least 1")


def _checked_names(names: npt.ArrayLike, source: str) -> npt.NDArray[Any]:
    keys = np.asarray(names)
    if keys.ndim != 1 or len(keys) == 0:
        raise ShuffleError(f"{source}: no rows; a job has at least 1 key")
    if keys.dtype.kind not in "UiO":
        raise ShuffleError(f"{source}: keys are {keys.dtype}; text or whole numbers are allowed")
    if keys.dtype.kind == "O":
        for row, key in enumerate(keys, 1):
            if not isinstance(key, str):
                raise ShuffleError(f"{source} row {row}: key {key!r}; every key has to be text")
        keys = keys.astype(np.str_)
    distinct, first = np.unique(keys, return_index=True)
    if len(distinct) < len(keys):
        row = int(np.setdiff1d(np.arange(len(keys)), first)[0])
        raise ShuffleError(f"{source} row {row + 1}: key {keys[row]} again; a key has one row")
    return keys


def _checked_counts(counts: npt.ArrayLike, expected: int, source: str) -> Ints:
    numbers = np.asarray(counts)
    if numbers.shape != (expected,):
        raise ShuffleError(f"{source}: {expected} keys but {numbers.size} counts")
    if numbers.dtype.kind not in "iuf":
        raise ShuffleError(f"{source}: counts are {numbers.dtype}; whole numbers are allowed")
    wrong = ~((numbers >= 0) & (numbers <= MAX_RECORDS) & (numbers == np.floor(numbers)))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ShuffleError(
            f"{source} row {row + 1}: count {numbers[row]}; allowed are whole numbers "
            "from 0 to 2^53"
        )
    return numbers.astype(np.int64)
