"""`Partition`: which records each bucket gets, and what follows from that."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from core.errors import ShuffleError
from core.job_measures import Curve
from core.shuffle.balance import predicted_fos
from core.shuffle.bucket_plan import BucketPlan
from core.shuffle.draws import Floats, Ints
from core.shuffle.keys import KeyCounts
from core.shuffle.sample import Sample

MAX_FLOWS = 2**26
"""Most pairs of a split and a bucket."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a partitioner knew before the job ran.

    Attributes
    ----------
    rate : float
        Sampling rate s: the share of the records that was sampled.
    sample_size : int
        Records in the sample.
    sampled_keys : int
        Distinct keys in the sample.
    unseen : float
        Estimated share of the records whose key is not in the sample (Good and Turing).
    predicted_fos : float
        ε(s), what noise alone would leave.
    planned_fos : float
        Factor of skew of the plan's loads.
    cost_s : float
        Time of the sampling pre-pass, by which the job starts later [s].
    """

    rate: float
    sample_size: int
    sampled_keys: int
    unseen: float
    predicted_fos: float
    planned_fos: float
    cost_s: float = 0.0


@dataclass(frozen=True, eq=False)
class Pieces:
    """Entries of a placement whose counts per split are known.

    Attributes
    ----------
    key, bucket : array of int64, shape (f,)
    per_split : array of int64, shape (M, f)
    """

    key: Ints
    bucket: Ints
    per_split: Ints


@dataclass(frozen=True, eq=False)
class Partition:
    """A job's records in their buckets.

    Attributes
    ----------
    data : KeyCounts
    buckets : int
        Number of buckets n; empty ones count.
    key, bucket, records : array of int64, shape (E,)
        So many records of the key are in the bucket: each pair once, sorted by key, then bucket.
    pieces : Pieces, optional
        Where a key's records go to other buckets on other splits: its counts per split.
    plan : BucketPlan, optional
        P, of partitioners that plan.
    prediction : Prediction, optional
        Of partitioners that sample.
    curve : Curve, optional
        With ``sampling_rate=auto``.
    origin : array of int64, shape (n,), optional
        Bucket of the shuffle that each bucket was split off from, where buckets were split.
    sent : tuple of arrays, shapes (M, n), optional
        What `per_split` returns, where it is known already.
    """

    data: KeyCounts
    buckets: int
    key: Ints
    bucket: Ints
    records: Ints
    pieces: Pieces | None = None
    plan: BucketPlan | None = None
    prediction: Prediction | None = None
    curve: Curve | None = None
    origin: Ints | None = None
    sent: tuple[Ints, Floats] | None = None

    @cached_property
    def loads(self) -> Ints:
        """Records of each bucket, shape (n,)."""
        return self._summed(self.records).astype(np.int64)

    @cached_property
    def load_bytes(self) -> Floats:
        """Bytes of each bucket, shape (n,)."""
        return self._summed(self.records * self.data.record_bytes[self.key])

    @cached_property
    def fragments(self) -> Ints:
        """Number of buckets that have records of each key, shape (K,)."""
        return np.bincount(self.key, minlength=self.data.keys.count)

    @property
    def fragments_per_key(self) -> float:
        """Mean of `fragments` over the keys that have records."""
        present = np.count_nonzero(self.fragments)
        return len(self.key) / present if present else 0.0

    @cached_property
    def fragment_records(self) -> Ints:
        """Records of each bucket whose key is in other buckets as well, shape (n,)."""
        return self._summed(self.records * (self.fragments[self.key] > 1)).astype(np.int64)

    @property
    def empty_buckets(self) -> int:
        """Number of buckets without records."""
        return int(np.count_nonzero(self.loads == 0))

    def per_split(self) -> tuple[Ints, Floats]:
        """Return records and bytes that each split sends to each bucket, shapes (M, n).

        Counts of single keys are used where they are known: those of pieces, and with a matrix
        those of whole keys. The rest is spread over the splits bucket by bucket, each record of
        the mean size of these records in its bucket.

        Raises
        ------
        ShuffleError
            More than `MAX_FLOWS` pairs.
        """
        if self.sent is not None:
            return self.sent
        data, width = self.data, self.buckets
        if data.splits * width > MAX_FLOWS:
            raise ShuffleError(
                f"{data.splits} splits × {width} buckets are more than {MAX_FLOWS} flows"
            )
        records = np.zeros((data.splits, width), np.int64)
        sizes = np.zeros((data.splits, width))
        rest = np.ones(len(self.key), np.bool_)
        for columns in self._with_known_splits(rest):
            for m, counts in enumerate(columns.per_split):
                of_key = counts * data.record_bytes[columns.key]
                records[m] += np.bincount(columns.bucket, counts, width).astype(np.int64)
                sizes[m] += np.bincount(columns.bucket, of_key, width)
        left = self._summed(self.records * rest).astype(np.int64)
        if left.any():
            mean = self._summed(self.records * rest * data.record_bytes[self.key])
            mean /= np.maximum(left, 1)
            spread = data.per_split_of_rest(left, records.sum(axis=1))
            records += spread
            sizes += spread * mean
        return records, sizes

    def _with_known_splits(self, rest: npt.NDArray[np.bool_]) -> list[Pieces]:
        """Return the entries with known counts, and clear them in `rest`."""
        pieces = []
        if self.pieces is not None:
            pieces.append(self.pieces)
            rest[np.isin(self.key, self.pieces.key)] = False
        if self.data.matrix is not None:
            whole = np.flatnonzero(rest & (self.fragments[self.key] == 1))
            rest[whole] = False
            key = self.key[whole]
            pieces.append(Pieces(key, self.bucket[whole], self.data.matrix[:, key]))
        return pieces

    def _summed(self, weights: Floats | Ints) -> Floats:
        sums = np.bincount(self.bucket, weights=weights, minlength=self.buckets)
        return sums.astype(np.float64, copy=False)


def gather(
    data: KeyCounts,
    buckets: int,
    parts: list[tuple[Ints, Ints, Ints]],
    pieces: Pieces | None = None,
    plan: BucketPlan | None = None,
    origin: Ints | None = None,
    sent: tuple[Ints, Floats] | None = None,
) -> Partition:
    """Build a partition from (key, bucket, records) entries, in any order, pairs repeated or not.

    The entries of `pieces` are added to them.
    """
    if pieces is not None:
        parts = [*parts, (pieces.key, pieces.bucket, pieces.per_split.sum(axis=0))]
    key, bucket, records = (np.concatenate(column) for column in zip(*parts, strict=True))
    present = np.flatnonzero(records)
    pair = key[present] * buckets + bucket[present]
    order = np.argsort(pair, kind="stable")
    pair, records = pair[order], records[present][order]
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    merged = np.add.reduceat(records, first) if len(first) else records
    pair = pair[first]
    return Partition(
        data,
        buckets,
        pair // buckets,
        pair % buckets,
        merged,
        pieces,
        plan,
        origin=origin,
        sent=sent,
    )


def predict(
    data: KeyCounts, buckets: int, sample: Sample, plan: BucketPlan | None, cost_s: float
) -> Prediction:
    """Put together what a sample tells before the job runs."""
    rate = sample.size / max(data.records, 1)
    return Prediction(
        rate=rate,
        sample_size=sample.size,
        sampled_keys=sample.distinct,
        unseen=sample.unseen,
        predicted_fos=predicted_fos(data.records, buckets, rate) if rate else float("inf"),
        planned_fos=plan.fos if plan is not None else float("nan"),
        cost_s=cost_s,
    )
