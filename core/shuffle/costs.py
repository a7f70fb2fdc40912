"""Times: of a sampling pre-pass, of reduce work, and of both for the choice of a rate."""

from __future__ import annotations

import math
from typing import cast

from core.errors import ParameterError
from core.parameters import Values
from core.shuffle.balance import predicted_fos
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
from core.shuffle.partition import Partition


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
