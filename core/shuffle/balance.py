"""How even a set of bucket loads is."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def fos(loads: npt.ArrayLike) -> float:
    """Return the factor of skew, std / mean of the loads (population std); 0 without any load.

    >>> fos([1, 3])
    0.5
    """
    values = np.asarray(loads, np.float64)
    mean = values.mean()
    return float(values.std() / mean) if mean > 0 else 0.0


def skewed(loads: npt.ArrayLike) -> int:
    """Return the number of skewed buckets, those more than one std away from the mean.

    >>> skewed([1, 1, 1, 5])
    1
    """
    values = np.asarray(loads, np.float64)
    return int(np.count_nonzero(np.abs(values.mean() - values) > values.std()))


def max_over_mean(loads: npt.ArrayLike) -> float:
    """Return the largest load over the mean; 1 without any load.

    >>> max_over_mean([1, 3])
    1.5
    """
    values = np.asarray(loads, np.float64)
    mean = values.mean()
    return float(values.max() / mean) if mean > 0 else 1.0


def predicted_fos(records: int, buckets: int, rate: float) -> float:
    """Return ε(s) = sqrt((1 − s)(n − 1) / (s N)), the FoS that the sample's noise alone leaves."""
    return math.sqrt((1 - rate) * (buckets - 1) / (rate * records))
