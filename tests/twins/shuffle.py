"""The shuffle record by record, in plain Python: what the count-level code has to agree with."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

Entry = tuple[int, int, float]
"""Key, bucket, planned records."""


def java_hash(text: str) -> int:
    state = 0
    for unit in np.frombuffer(text.encode("utf-16-le"), "<u2").tolist():
        state = (31 * state + unit) % 2**32
    return signed(state)


def murmur3(text: str, seed: int = 42) -> int:
    """Murmur3_x86_32 with Spark's tail: one signed byte at a time."""
    data = text.encode()
    state = seed
    for i in range(0, len(data) // 4 * 4, 4):
        state = mixed(state, int.from_bytes(data[i : i + 4], "little"))
    for byte in data[len(data) // 4 * 4 :]:
        state = mixed(state, byte - 256 if byte > 127 else byte)
    state ^= len(data)
    state = (state ^ state >> 16) * 0x85EBCA6B % 2**32
    state = (state ^ state >> 13) * 0xC2B2AE35 % 2**32
    return signed(state ^ state >> 16)


def mixed(state: int, word: int) -> int:
    word = rotated(word * 0xCC9E2D51 % 2**32, 15) * 0x1B873593 % 2**32
    return (rotated(state ^ word, 13) * 5 + 0xE6546B64) % 2**32


def rotated(word: int, by: int) -> int:
    return (word << by | word >> 32 - by) % 2**32


def signed(word: int) -> int:
    return word - 2**32 if word >= 2**31 else word


def algorithm_r(records: Sequence[int], size: int, rng: np.random.Generator) -> list[int]:
    """Reservoir sampling (Vitter's Algorithm R)."""
    kept = list(records[:size])
    for i in range(size, len(records)):
        slot = int(rng.integers(0, i, endpoint=True))
        if slot < size:
            kept[slot] = records[i]
    return kept


def split_and_combine(sizes: dict[int, Fraction], rank: dict[int, int], buckets: int) -> list[Any]:
    """SCID's plan with a sorted list and exact numbers; smaller ranks are taken first."""
    clusters: list[tuple[Fraction, int, int]] = []
    for key, size in sizes.items():
        insort(clusters, (size, -rank[key], key))
    capacity = sum(sizes.values(), Fraction(0)) / buckets
    plan = []
    for bucket in range(buckets):
        room = capacity
        while clusters:
            size, order, key = clusters.pop()
            if bucket == buckets - 1 or size < room:
                plan.append((key, bucket, size))
                room -= size
                continue
            plan.append((key, bucket, room))
            if size > room:
                insort(clusters, (size - room, order, key))
            break
    return plan


def is_a_run_of_split_and_combine(
    plan: Sequence[Entry], sizes: Sequence[int], rank: dict[int, int], buckets: int
) -> bool:
    """Whether SCID with exact numbers can give a plan (keys, buckets, amounts up to rounding).

    The largest cluster is next. Of equal ones that are whole, the first in rank is; the rest of a
    cut one may come before or after its equals, because in doubles it is equal up to rounding.
    """
    left = {key: Fraction(size) for key, size in enumerate(sizes)}
    capacity = sum(left.values(), Fraction(0)) / buckets
    entries = {(key, bucket): amount for key, bucket, amount in plan}
    for bucket in range(buckets):
        room = capacity
        while left:
            largest = max(left.values())
            equal = [key for key, size in left.items() if size == largest]
            whole = sorted((key for key in equal if largest == sizes[key]), key=rank.__getitem__)
            candidates = [key for key in equal if largest < sizes[key]] + whole[:1]
            amount = largest if bucket == buckets - 1 else min(largest, room)
            planned = [k for k in candidates if _close(entries.get((k, bucket)), amount)]
            if not planned:
                return False
            key = planned[0]
            del entries[key, bucket]
            left[key] -= amount
            if not left[key]:
                del left[key]
            if bucket < buckets - 1:
                room -= amount
                if not room:
                    break
    return not entries


def _close(planned: float | None, exact: Fraction) -> bool:
    return planned is not None and abs(planned - float(exact)) <= 1e-9 * float(exact)


class Job:
    """A job's records on their splits, placed one after another."""

    def __init__(self, splits: Sequence[Sequence[int]], buckets: int, hashed: Sequence[int]):
        self.splits = splits
        self.buckets = buckets
        self.hashed = hashed
        self.records = sum(map(len, splits))

    def place(
        self, plan: Sequence[Entry], overflow: str, limit_unsplit: bool, u: Any
    ) -> tuple[list[list[int]], set[tuple[int, int]]]:
        """First fit: return loads per split and bucket, and all (key, bucket) pairs.

        `overflow` may be hash, last, proportional or least_loaded. The overflow of a key on a
        split is divided in proportion once all of it is known; `u` rounds the parts.
        """
        buckets_of: dict[int, list[tuple[int, float]]] = {}
        for key, bucket, amount in sorted(plan):
            buckets_of.setdefault(key, []).append((bucket, amount))
        loads = [[0] * self.buckets for _ in self.splits]
        pairs = set()
        late = []
        for m, records in enumerate(self.splits):
            placed: dict[tuple[int, int], int] = {}
            over: dict[int, int] = {}
            for key in records:
                goes = self._bucket(key, m, buckets_of.get(key), placed, limit_unsplit)
                if goes is None and overflow == "hash":
                    goes = self.hashed[key]
                if goes is None and overflow == "last":
                    goes = buckets_of[key][-1][0]
                if goes is None:
                    over[key] = over.get(key, 0) + 1
                    continue
                placed[key, goes] = placed.get((key, goes), 0) + 1
                loads[m][goes] += 1
                pairs.add((key, goes))
            for key, count in over.items():
                if overflow == "least_loaded":
                    late += [(m, key)] * count
                    continue
                for bucket, part in in_proportion(count, buckets_of[key], u[m][key]):
                    loads[m][bucket] += part
                    pairs |= {(key, bucket)} if part else set()
        for m, _ in late:
            total = [sum(column) for column in zip(*loads, strict=True)]
            loads[m][total.index(min(total))] += 1
        return loads, pairs

    def _bucket(
        self,
        key: int,
        m: int,
        planned: list[tuple[int, float]] | None,
        placed: dict[tuple[int, int], int],
        limit_unsplit: bool,
    ) -> int | None:
        if planned is None:
            return self.hashed[key]
        if len(planned) == 1 and not limit_unsplit:
            return planned[0][0]
        for bucket, amount in planned:
            if placed.get((key, bucket), 0) < len(self.splits[m]) / self.records * amount:
                return bucket
        return None

    def place_in_proportion(self, plan: Sequence[Entry], u: Any) -> list[list[int]]:
        """Records of a key that has several buckets, in the plan's proportions on each split."""
        buckets_of: dict[int, list[tuple[int, float]]] = {}
        for key, bucket, amount in sorted(plan):
            buckets_of.setdefault(key, []).append((bucket, amount))
        loads = [[0] * self.buckets for _ in self.splits]
        for m, records in enumerate(self.splits):
            for key in set(records):
                planned = buckets_of.get(key, [(self.hashed[key], 1.0)])
                for bucket, part in in_proportion(records.count(key), planned, u[m][key]):
                    loads[m][bucket] += part
        return loads


def in_proportion(count: int, planned: list[tuple[int, float]], u: float) -> list[tuple[int, int]]:
    """Record i of `count` goes to the first bucket whose rounded cumulative share is above i."""
    total = sum(amount for _, amount in planned)
    ends, running = [], 0.0
    for _, amount in planned:
        running += amount
        ends.append(math.floor(count * (running / total) + u))
    ends[-1] = count
    parts = [0] * len(planned)
    for i in range(count):
        parts[next(f for f, end in enumerate(ends) if i < end)] += 1
    return [(bucket, part) for (bucket, _), part in zip(planned, parts, strict=True)]


def least_loaded(sizes: Sequence[float], loads: Sequence[float]) -> list[int]:
    now, out = list(loads), []
    for size in sizes:
        out.append(now.index(min(now)))
        now[out[-1]] += size
    return out


def two_choices(records: Sequence[int], one: Any, other: Any, buckets: int) -> Any:
    """Partial key grouping; return loads and (key, bucket) pairs."""
    loads, pairs = [0] * buckets, set()
    for key in records:
        a, b = int(one[key]), int(other[key])
        goes = a if loads[a] <= loads[b] else b
        loads[goes] += 1
        pairs.add((key, goes))
    return loads, pairs


def range_bounds(candidates: Sequence[tuple[str, float]], buckets: int) -> list[str]:
    """Spark's bounds, candidate by candidate, with exact weights."""
    partitions = min(buckets, len(candidates))
    step = sum(Fraction(w) for _, w in candidates) / partitions
    running, target = Fraction(0), step
    bounds: list[str] = []
    for key, weight in sorted(candidates):
        running += Fraction(weight)
        new = not bounds or key > bounds[-1]
        if running >= target and new and len(bounds) < partitions - 1:
            bounds.append(key)
            target += step
    return bounds


def hypergeometric_pmf(counts: Sequence[int], sample: int) -> dict[tuple[int, ...], float]:
    """Exact probabilities of a multivariate hypergeometric draw."""
    ways = {
        drawn: math.prod(map(math.comb, counts, drawn))
        for drawn in product(*(range(c + 1) for c in counts))
        if sum(drawn) == sample
    }
    return {drawn: n / math.comb(sum(counts), sample) for drawn, n in ways.items()}


def chi_square_limit(freedom: int, normal_quantile: float = 4.75) -> float:
    """Value that chi-square exceeds with probability 10^−6 (Wilson and Hilferty)."""
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + normal_quantile * math.sqrt(spread)) ** 3)


def agrees(observed: dict[Any, int], expected: dict[Any, float]) -> bool:
    """Whether counts fit probabilities: chi-square, false alarm 10^−6.

    Outcomes are put together, the likeliest first, until at least 8 of each are expected.
    """
    draws = sum(observed.values())
    if set(observed) - set(expected):
        return False
    groups: list[list[float]] = []
    for outcome, p in sorted(expected.items(), key=lambda item: -item[1]):
        if not groups or groups[-1][1] >= 8:
            groups.append([0.0, 0.0])
        groups[-1][0] += observed.get(outcome, 0)
        groups[-1][1] += p * draws
    if len(groups) > 1 and groups[-1][1] < 8:
        seen, wanted = groups.pop()
        groups[-1][0] += seen
        groups[-1][1] += wanted
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in groups)
    return len(groups) < 2 or statistic < chi_square_limit(len(groups) - 1)
