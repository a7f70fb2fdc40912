"""Placing a job's records by a plan: which bucket each map task sends them to."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from core.errors import ShuffleError
from core.shuffle.bucket_plan import BucketPlan
from core.shuffle.draws import Floats, Ints
from core.shuffle.keys import MAX_CELLS, KeyCounts
from core.shuffle.parameters import LIMITS
from core.shuffle.partition import Partition, Pieces, gather

Number = TypeVar("Number", Ints, Floats)


class Rules(NamedTuple):
    """How records of planned keys find their bucket.

    Attributes
    ----------
    fill : {"first_fit", "proportional"}
        `first_fit`: on each split, the first of the key's buckets that has fewer of its records
        from this split than the limit, planned records × the split's share of all records.
        `proportional`: a split that has all its records divides those of a key in the plan's
        proportions, each part rounded up or down at random and right on average.
    overflow : {"hash", "last", "proportional", "least_loaded"}
        Where records go when all limits of a key are used up: the hash's bucket; the key's last
        bucket; the key's buckets in the plan's proportions; the bucket with the fewest records
        of the whole job, one record after another.
    limit_unsplit : bool
        Whether limits hold for keys with one bucket, too.
    """

    fill: str = "proportional"
    overflow: str = "hash"
    limit_unsplit: bool = False


def place_records(
    data: KeyCounts, plan: BucketPlan, hashed: Ints, rules: Rules, rng: np.random.Generator
) -> Partition:
    """Place a job: planned keys by the plan, the others by hash.

    Parameters
    ----------
    data : KeyCounts
    plan : BucketPlan
    hashed : array of int64, shape (K,)
        Bucket of each key's hash.
    rules : Rules
    rng : numpy.random.Generator
        Rounds proportional parts.

    Raises
    ------
    ShuffleError
        Limits on too many (split, key) pairs.
    """
    planned = np.bincount(plan.key, minlength=plan.keys)
    limited = planned > 1
    if rules.limit_unsplit and rules.fill == "first_fit":
        limited |= planned > 0
    whole = hashed.copy()
    single = planned[plan.key] == 1
    whole[plan.key[single]] = plan.bucket[single]
    free = np.flatnonzero(~limited)
    parts = [(free, whole[free], data.total[free])]
    if not limited.any():
        return gather(data, plan.buckets, parts, plan=plan)
    others = np.bincount(whole[free], data.total[free], plan.buckets).astype(np.int64)
    pieces = _share_out(data, plan, np.flatnonzero(limited), hashed, others, rules, rng)
    return gather(data, plan.buckets, parts, pieces, plan)


def _share_out(
    data: KeyCounts,
    plan: BucketPlan,
    keys: Ints,
    hashed: Ints,
    others: Ints,
    rules: Rules,
    rng: np.random.Generator,
) -> Pieces:
    """Share out the records of limited keys; `others` are the loads of all the other keys."""
    if data.matrix is None and data.splits * len(keys) > MAX_CELLS:
        raise ShuffleError(
            f"the plan limits {len(keys)} keys on each of {data.splits} splits"
            f"{f', with {LIMITS.key}=true' if rules.limit_unsplit else ''}: at most "
            f"{MAX_CELLS} (split, key) pairs can be worked out"
        )
    entry = np.isin(plan.key, keys)
    owner = np.searchsorted(keys, plan.key[entry])  # column of each entry's key
    bucket, amount = plan.bucket[entry], plan.records[entry]
    counts = data.per_split(keys)
    u = rng.random(counts.shape)
    if rules.fill == "proportional":
        return Pieces(keys[owner], bucket, _in_proportion(counts, u, owner, amount))
    share = data.split_records / max(data.records, 1)
    per_split, left = _first_fit(counts, owner, np.multiply.outer(share, amount))
    if rules.overflow == "last":
        per_split[:, np.flatnonzero(np.diff(owner, append=-1))] += left
    elif rules.overflow == "proportional":
        per_split += _in_proportion(left, u, owner, amount)
    placed = Pieces(keys[owner], bucket, per_split)
    if rules.overflow == "hash":
        return _joined(placed, Pieces(keys, hashed[keys], left))
    if rules.overflow == "least_loaded":
        here = np.bincount(bucket, per_split.sum(axis=0), plan.buckets).astype(np.int64)
        return _joined(placed, _least_loaded(left, keys, others + here))
    return placed


def _joined(one: Pieces, other: Pieces) -> Pieces:
    return Pieces(
        np.concatenate((one.key, other.key)),
        np.concatenate((one.bucket, other.bucket)),
        np.concatenate((one.per_split, other.per_split), axis=1),
    )


def _before(values: Number, owner: Ints) -> Number:
    """Sum of a key's earlier entries, along the last axis; entries of a key are neighbours."""
    running = np.cumsum(values, axis=-1) - values
    first = np.searchsorted(owner, owner)
    earlier: Number = running - running[..., first]
    return earlier


def _first_fit(counts: Ints, owner: Ints, limit: Floats) -> tuple[Ints, Ints]:
    """Fill the entries of each key in turn; shapes (M, keys), (F,), (M, F).

    A bucket takes one more record as long as it has fewer than the limit, so up to the limit
    rounded up.

    Returns
    -------
    placed : array of int64, shape (M, F)
    left : array of int64, shape (M, keys)
    """
    room = np.ceil(limit).astype(np.int64)
    placed = np.clip(counts[:, owner] - _before(room, owner), 0, room)
    left = counts.copy()
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    left -= np.add.reduceat(placed, first, axis=1)
    return placed, left


def _in_proportion(counts: Ints, u: Floats, owner: Ints, amount: Floats) -> Ints:
    """Divide counts over the entries of each key; `u` shifts where the parts are rounded.

    Part f of a count c is ⌊c·S_f + u⌋ − ⌊c·S_(f−1) + u⌋, S the cumulative shares: within one of
    its share, and right on average for a uniform u.
    """
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    total = np.add.reduceat(amount, first)[owner]
    reach = (_before(amount, owner) + amount) / total
    of_entry = counts[:, owner]
    bound = np.minimum(np.floor(of_entry * reach + u[:, owner]).astype(np.int64), of_entry)
    last = np.flatnonzero(np.diff(owner, append=-1))
    bound[:, last] = of_entry[:, last]
    parts = np.diff(bound, axis=1, prepend=0)
    parts[:, first] = bound[:, first]
    return parts


def _least_loaded(left: Ints, keys: Ints, loads: Ints) -> Pieces:
    """Send one record after another to the bucket with the fewest, of equal ones the first.

    The loads are exact; which of the records goes to which bucket follows the order of keys,
    splits and buckets, for the order of records is not part of the model.
    """
    gains = filled(loads, int(left.sum())) - loads
    bounds = np.cumsum(gains)
    runs = np.cumsum(left.T.ravel())  # key by key, split by split
    edges = np.unique(np.concatenate(([0], bounds, runs)))
    cell = np.searchsorted(runs, edges[:-1], side="right")
    bucket = np.searchsorted(bounds, edges[:-1], side="right")
    splits = len(left)
    pair, column = np.unique(cell // splits * len(loads) + bucket, return_inverse=True)
    per_split = np.zeros((splits, len(pair)), np.int64)
    np.add.at(per_split, (cell % splits, column), np.diff(edges))
    return Pieces(keys[pair // len(loads)], pair % len(loads), per_split)


def filled(loads: Ints, records: int) -> Ints:
    """Return the loads after adding records one by one to the lowest, of equal ones the first.

    >>> filled(np.array([5, 1, 2]), 4).tolist()
    [5, 4, 3]
    """
    order = np.argsort(loads, kind="stable")
    ascending = loads[order]
    # Records needed to lift the k lowest to the height of the next one.
    needed = np.arange(1, len(loads) + 1) * ascending - np.cumsum(ascending)
    under = int(np.searchsorted(needed, records, side="right"))
    level, extra = divmod(int(ascending[:under].sum()) + records, under)
    result = loads.copy()
    lifted = np.sort(order[:under])
    result[lifted] = level
    result[lifted[:extra]] += 1
    return result
