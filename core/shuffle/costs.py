"""What sampling costs, what balance is worth, and the rate that is worth its cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np

from core.errors import ParameterError
from core.parameters import Values
from core.shuffle._base import Rule
from core.shuffle.balance import fos, predicted_fos
from core.shuffle.bucket_plan import BucketPlan
from core.shuffle.draws import Floats
from core.shuffle.keys import KeyCounts
from core.shuffle.parameters import (
    AUTO,
    MAP_S,
    MERGE_S,
    PLAN_S,
    REDUCE_S,
    SAMPLING_RATE,
    SCAN_S,
    SLOTS,
)
from core.shuffle.partition import Curve, Partition, predict
from core.shuffle.sampling import Sample, draw_sample, reservoir_sizes

RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Rates that ``sampling_rate=auto`` tries."""

SampleRule = Callable[[KeyCounts, int, Values, np.random.Generator, Sample], Partition]


def prepass_s(data: KeyCounts, sampled: float, keys: int, values: Values) -> float:
    """Return the time of a sampling pre-pass [s].

    All input records are read, map work is done on the sampled ones, both on `slots` tasks at a
    time, and the sampled keys are planned by one.

    Parameters
    ----------
    data : KeyCounts
    sampled : float
        Share of the records in the sample.
    keys : int
        Distinct keys in the sample.
    values : mapping
        The costs, see `parameters`.
    """
    scan, work, plan = (cast(float, values[p.key]) for p in (SCAN_S, MAP_S, PLAN_S))
    slots = min(cast(int, values[SLOTS.key] or data.splits), data.splits)
    return (scan + work * sampled) * data.input_records / slots + plan * keys


def reduce_s(partition: Partition, values: Values) -> Floats:
    """Return the time of each bucket's reduce work [s], shape (n,), merging included."""
    work, merge = cast(float, values[REDUCE_S.key]), cast(float, values[MERGE_S.key])
    return work * partition.loads + merge * partition.fragment_records


def total_s(data: KeyCounts, buckets: int, rate: float, cost_s: float, values: Values) -> float:
    """Return T(s) [s]: the pre-pass, and the slowest of n reducers whose loads spread by ε(s)."""
    slowest = 1 + predicted_fos(data.records, buckets, rate) * math.sqrt(2 * math.log(buckets))
    return cost_s + cast(float, values[REDUCE_S.key]) * data.records / buckets * slowest


def check_auto(values: Values) -> None:
    """Refuse to choose a rate where balance is worth nothing.

    Raises
    ------
    ParameterError
    """
    if values[SAMPLING_RATE.key] == AUTO and not values[REDUCE_S.key]:
        raise ParameterError(
            f"{SAMPLING_RATE.key}={AUTO} weighs the cost of a sample against reduce work: "
            f"give {REDUCE_S.key} > 0 (s)"
        )


def sampling(rule: SampleRule) -> Rule:
    """Turn a rule that is given a sample into one that draws it, at the rate asked for."""

    def partition(
        data: KeyCounts, buckets: int, values: Values, rng: np.random.Generator
    ) -> Partition:
        rate = values[SAMPLING_RATE.key]
        if rate != AUTO:
            return _at_rate(rule, data, buckets, values, rng, cast(float, rate))
        seeds = rng.integers(0, 2**63, len(RATES))
        tried = [
            _at_rate(rule, data, buckets, values, np.random.default_rng(seed), rate)
            for rate, seed in zip(RATES, seeds, strict=True)
        ]
        curve = _curve(data, buckets, values, tried)
        return replace(tried[curve.chosen], curve=curve)

    return partition


def with_prediction(
    partition: Partition, sample: Sample, plan: BucketPlan | None, values: Values
) -> Partition:
    """Add what the sample told, and what it cost."""
    data = partition.data
    cost = prepass_s(data, sample.size / max(data.records, 1), sample.distinct, values)
    known = predict(data, partition.buckets, sample, plan, cost)
    return replace(partition, prediction=known, plan=plan)


def _at_rate(
    rule: SampleRule,
    data: KeyCounts,
    buckets: int,
    values: Values,
    rng: np.random.Generator,
    rate: float,
) -> Partition:
    sample = draw_sample(data, reservoir_sizes(data.split_records, rate), rng)
    placed = rule(data, buckets, values, rng, sample)
    return with_prediction(placed, sample, placed.plan, values)


def _curve(data: KeyCounts, buckets: int, values: Values, tried: list[Partition]) -> Curve:
    known = [p.prediction for p in tried if p.prediction is not None]
    total = [
        total_s(data, buckets, rate, k.cost_s, values) for rate, k in zip(RATES, known, strict=True)
    ]
    return Curve(
        rate=np.array(RATES),
        cost_s=np.array([k.cost_s for k in known]),
        total_s=np.array(total),
        predicted_fos=np.array([predicted_fos(data.records, buckets, rate) for rate in RATES]),
        actual_fos=np.array([fos(p.loads) for p in tried]),
        chosen=int(np.argmin(total)),
    )
