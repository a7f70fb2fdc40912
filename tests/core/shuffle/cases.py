"""Jobs, and a partitioner run on one."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.parameters import defaults
from core.shuffle import KeyCounts, Partition, draw
from core.shuffle.parameters import KEY_PARAMETERS
from core.shuffle.partitioners import partitioners

ALL = partitioners()
SAMPLING = [n for n, p in ALL.items() if "shuffle.sampling_rate" in {q.key for q in p.parameters}]


def job(records: int = 5000, splits: int = 5, seed: int = 1, **changes: Any) -> KeyCounts:
    values = defaults(KEY_PARAMETERS) | {"shuffle.keys": 60, "shuffle.value_spread": 0.5}
    values |= {f"shuffle.{k}": v for k, v in changes.items()}
    return draw(values, records, splits, np.random.default_rng(seed))


def run(name: str, data: KeyCounts, buckets: int, seed: int = 3, **changes: Any) -> Partition:
    values = {f"shuffle.{k}": v for k, v in changes.items()}
    return ALL[name].partition(data, buckets, values, np.random.default_rng(seed))
