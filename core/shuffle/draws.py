"""Draws without replacement, for any counts below 2^53: the kernels that everything random uses.

numpy's own hypergeometric stops at 10^9. Uniform numbers come from the generator that is passed
in, never from a global state, so that a seed gives the same draw on any machine.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from core.jit import inner, kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Stadlober (1990), The ratio of uniforms approach for generating discrete random variates.
_WIDTH = 2 * math.sqrt(2 / math.e)
_SHIFT = 3 - 2 * math.sqrt(3 / math.e)
_SEARCH_MEAN = 10.0
"""Below this mean, search upwards from 0."""


@inner
def _log_rise(a: int, d: int) -> float:
    """Return log((a + d)! / a!) without the loss of digits of a difference of large numbers."""
    z = a + 1.0
    w = z + d
    if min(z, w) < 8.0:
        return math.lgamma(w) - math.lgamma(z)
    series = (1 / w - 1 / z) / 12 - (1 / (w * w * w) - 1 / (z * z * z)) / 360
    return (z - 0.5) * math.log1p(d / z) + d * math.log(w) - d + series


@inner
def _searched(rng: Any, good: int, bad: int, sample: int) -> int:
    """Draw by adding probabilities up from 0; sample ≤ bad."""
    few, many = min(good, sample), max(good, sample)
    total = good + bad
    if few <= 16:
        p = 1.0
        for i in range(few):
            p *= (total - many - i) / (total - i)
    else:
        p = math.exp(_log_rise(total, -few) - _log_rise(total - many, -few))
    u = rng.random()
    x = 0
    while u > p and x < few:
        u -= p
        p *= (good - x) * float(sample - x) / ((x + 1.0) * (bad - sample + x + 1.0))
        x += 1
    return x


@inner
def _ratio_of_uniforms(rng: Any, good: int, bad: int, sample: int) -> int:
    """Draw by rejection under a table mountain around the mode; good ≤ bad, sample ≤ half."""
    total = float(good + bad)
    share = good / total
    mean = sample * share
    variance = mean * (1 - share) * (total - sample) / (total - 1)
    width = _WIDTH * math.sqrt(variance + 0.5) + _SHIFT
    mode = int((sample + 1.0) * (good + 1.0) / (total + 2.0))
    last = min(good, sample)
    while True:
        u = rng.random()
        value = mean + 0.5 + width * (rng.random() - 0.5) / max(u, 1e-300)
        if value < 0 or value >= last + 1:
            continue
        x = int(value)
        d = x - mode
        log_ratio = -(
            _log_rise(mode, d)
            + _log_rise(good - mode, -d)
            + _log_rise(sample - mode, -d)
            + _log_rise(bad - sample + mode, d)
        )
        if 2 * math.log(max(u, 1e-300)) <= log_ratio:
            return x


@inner
def hypergeometric(rng: Any, good: int, bad: int, sample: int) -> int:
    """Draw how many of `sample` records taken out of good + bad are good."""
    if sample == 0 or good == 0:
        return 0
    if bad == 0:
        return sample
    few_good, few_bad = min(good, bad), max(good, bad)
    taken = min(sample, good + bad - sample)
    if few_good * (taken / (good + bad)) < _SEARCH_MEAN:
        x = _searched(rng, few_good, few_bad, taken)
    else:
        x = _ratio_of_uniforms(rng, few_good, few_bad, taken)
    if good > bad:
        x = taken - x
    return x if taken == sample else good - x


@inner
def _spread(rng: Any, counts: Ints, sample: int, out: Ints) -> None:
    left_total = counts.sum()
    left = sample
    for i in range(len(counts)):
        left_total -= counts[i]
        out[i] = hypergeometric(rng, counts[i], left_total, left)
        left -= out[i]


@kernel
def _deal(rng: Any, counts: Ints, samples: Ints, out: Ints) -> None:
    """Fill ``out[h]`` from ``counts[h]``, or all from one row of counts that is used up."""
    left = counts.copy()
    for h in range(len(samples)):
        row = left[h if len(left) > 1 else 0]
        _spread(rng, row, samples[h], out[h])
        for i in range(len(row)):
            row[i] -= out[h, i]


def spread(rng: np.random.Generator, counts: Ints, sample: int) -> Ints:
    """Take `sample` records at random out of `counts`; return how many of each kind.

    >>> spread(np.random.default_rng(1), np.array([3, 0, 5]), 8).tolist()
    [3, 0, 5]
    """
    return random_table(rng, counts, np.array([sample], np.int64))[:, 0]


def spread_rows(rng: np.random.Generator, counts: Ints, samples: Ints) -> Ints:
    """Take ``samples[m]`` records at random out of ``counts[m]``; shapes (M, K) and (M,)."""
    out = np.empty(counts.shape, np.int64)
    _deal(rng, counts, samples, out)
    return out


def random_table(rng: np.random.Generator, row_totals: Ints, column_totals: Ints) -> Ints:
    """Draw a table with these margins, as if records were dealt out; shape (rows, columns)."""
    out = np.empty((len(column_totals), len(row_totals)), np.int64)
    _deal(rng, row_totals[None, :], column_totals, out)
    return out.T
