"""`KeyCounts`: the map side of one job, as counts of records per key and per split.

Records lie in the splits in random order: given the totals of the keys, every assignment of
records to the splits' places is equally likely. So the totals are drawn first (one multinomial
draw of all records), and counts per split are drawn from them only on request: all of
them for small jobs, else those of single keys, through a binary tree over the keys whose nodes
have their own random streams. Requests in any order get the same counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.errors import ShuffleError
from core.shuffle.draws import Floats, Ints, random_table, spread
from core.shuffle.hashes import Keys

DENSE_CELLS = 2**18
"""Most (split, key) pairs that are kept as a matrix."""
MAX_CELLS = 2**24
"""Most (split, key) pairs whose counts are drawn for single keys."""
MAX_RECORDS = 2**53
"""Beyond that a double no longer counts records one by one."""

_MATRIX, _TREE, _CHOSEN, _TABLE = range(4)  # what a random stream of the data is for


@dataclass(frozen=True, eq=False)
class KeyCounts:
    """What the map tasks of one job have for its reducers.

    Attributes
    ----------
    keys : Keys
        Identity of the K keys.
    total : array of int64, shape (K,)
        Records of each key; key i is cluster i.
    split_records : array of int64, shape (M,)
        Records that each split's map task puts out. Splits without records are allowed.
    record_bytes : array of float64, shape (K,)
        Size of one record of each key [B].
    input_records : int
        Records that the map tasks read, for the costs; more than `records` after a combine.
    seed : tuple of int
        Two 64-bit numbers that all later draws of this job follow from.
    combined : bool
        Each split puts out at most one record a key.
    counts : array of int64, shape (M, K), optional
        Records of each key in each split, where they are known.
    """

    keys: Keys
    total: Ints
    split_records: Ints
    record_bytes: Floats
    input_records: int
    seed: tuple[int, int]
    combined: bool = False
    counts: Ints | None = None

    def __post_init__(self) -> None:
        for value in (self.total, self.split_records, self.record_bytes, self.counts):
            if value is not None:
                value.flags.writeable = False

    @property
    def records(self) -> int:
        """Number of records N."""
        return int(self.split_records.sum())

    @property
    def splits(self) -> int:
        """Number of splits M."""
        return len(self.split_records)

    @cached_property
    def matrix(self) -> Ints | None:
        """Records of each key in each split, shape (M, K); None beyond `DENSE_CELLS`."""
        if self.counts is not None or self.splits * self.keys.count > DENSE_CELLS:
            return self.counts
        return random_table(self.stream(_MATRIX), self.total, self.split_records).T

    def stream(self, purpose: int, number: int = 0) -> np.random.Generator:
        """Return this job's random numbers for one purpose."""
        counter = np.array([0, 0, purpose, number], np.uint64)
        return np.random.Generator(np.random.Philox(key=self.seed, counter=counter))

    def per_split(self, keys: Ints) -> Ints:
        """Return the records of some keys in each split, shape (M, len(keys)).

        Parameters
        ----------
        keys : array of int64
            Ascending, each once.

        Raises
        ------
        ShuffleError
            Too many (split, key) pairs for a matrix.

        Notes
        -----
        Of a combined job without a matrix, each key's splits are chosen at random among all,
        independently of other keys.
        """
        if self.matrix is not None:
            return self.matrix[:, keys]
        if self.splits * len(keys) > MAX_CELLS:
            raise ShuffleError(
                f"counts of {len(keys)} keys on {self.splits} splits were requested; "
                f"at most {MAX_CELLS} (split, key) pairs can be"
            )
        if self.combined:
            return self._chosen(keys)
        return self._from_tree(keys)

    def per_split_of_rest(self, totals: Ints, taken: Ints) -> Ints:
        """Spread aggregates of other keys over the splits.

        Parameters
        ----------
        totals : array of int64, shape (n,)
            Records of each aggregate; all that is not in `taken`.
        taken : array of int64, shape (M,)
            Records of each split that are accounted for.

        Returns
        -------
        array of int64, shape (M, n)
            Distributed as the sums of the aggregates' keys are, given `taken`; not the sums of
            the very counts that `per_split` gives. A combined job without a matrix: as if each
            record's split were drawn independently.
        """
        stream = self.stream(_TABLE)
        left = self.split_records - taken
        if self.combined and self.matrix is None:
            share = self.split_records / max(self.records, 1)
            return stream.multinomial(totals, share).T.astype(np.int64)
        return random_table(stream, left, totals)

    def _chosen(self, keys: Ints) -> Ints:
        out = np.zeros((self.splits, len(keys)), np.int64)
        filled = np.flatnonzero(self.split_records)
        for column, key in enumerate(keys):
            order = self.stream(_CHOSEN, int(key)).permutation(filled)
            out[order[: self.total[key]], column] = 1
        return out

    def _from_tree(self, keys: Ints) -> Ints:
        """Halve the keys again and again; a half's records are spread over those of the whole."""
        before = np.concatenate(([0], np.cumsum(self.total)))
        out = np.zeros((self.splits, len(keys)), np.int64)
        nodes = [(1, 0, self.keys.count, self.split_records, 0, len(keys))]
        while nodes:
            node, low, high, counts, first, last = nodes.pop()
            if high - low == 1:
                out[:, first] = counts
                continue
            middle = (low + high) // 2
            cut = first + int(np.searchsorted(keys[first:last], middle))
            left = spread(self.stream(_TREE, node), counts, int(before[middle] - before[low]))
            if cut > first:
                nodes.append((2 * node, low, middle, left, first, cut))
            if cut < last:
                nodes.append((2 * node + 1, middle, high, counts - left, cut, last))
        return out


def split_sizes(records: int, splits: int) -> Ints:
    """Share records out over splits; sizes differ by at most 1.

    >>> split_sizes(8, 3).tolist()
    [3, 3, 2]
    """
    return records // splits + (np.arange(splits) < records % splits).astype(np.int64)
