"""The seam between partitioners and their sample: `sampling` draws it for every rule.

A partitioner that plans by a sample writes a `SampleRule` and wraps it. All of them then get the
same sample for one seed, pay the same time for it, and can let ``sampling_rate=auto`` choose the
rate: the rule runs at each of `RATES`, and the smallest predicted time counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np

from core.job_measures import Curve
from core.parameters import Values
from core.shuffle._base import Rule
from core.shuffle.balance import fos, predicted_fos
from core.shuffle.bucket_plan import BucketPlan
from core.shuffle.costs import prepass_s, total_s
from core.shuffle.keys import KeyCounts
from core.shuffle.parameters import AUTO, SAMPLING_RATE
from core.shuffle.partition import Partition, predict
from core.shuffle.sample import Sample, draw_sample, reservoir_sizes

RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Rates that ``sampling_rate=auto`` tries."""

SampleRule = Callable[[KeyCounts, int, Values, np.random.Generator, Sample], Partition]
"""A rule that is passed the sample: (data, buckets, values, rng, sample) → Partition."""


def sampling(rule: SampleRule) -> Rule:
    """Turn a rule that takes a sample into one that draws it, at the requested rate."""

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
    """Add what the sample predicts, and what it costs."""
    data = partition.data
    cost = prepass_s(data, sample.size / max(data.records, 1), sample.distinct, values)
    prediction = predict(data, partition.buckets, sample, plan, cost)
    return replace(partition, prediction=prediction, plan=plan)


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
    predictions = [p.prediction for p in tried if p.prediction is not None]
    total = [
        total_s(data, buckets, rate, k.cost_s, values)
        for rate, k in zip(RATES, predictions, strict=True)
    ]
    return Curve(
        rate=np.array(RATES),
        cost_s=np.array([p.cost_s for p in predictions]),
        total_s=np.array(total),
        predicted_fos=np.array([predicted_fos(data.records, buckets, rate) for rate in RATES]),
        actual_fos=np.array([fos(p.loads) for p in tried]),
        chosen=int(np.argmin(total)),
    )
