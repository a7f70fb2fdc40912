"""Draws that the generated workloads share; all keep close to what they are drawn from.

They use uniform numbers and permutations of a `numpy.random.Generator` only, so that a seed gives
the same trace whichever version of numpy runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from core.trace import Floats, Ints, Ports


def quotas(weights: Sequence[float], total: int, rng: np.random.Generator) -> Ints:
    """Share `total` out over classes in proportion to their weights (systematic sampling).

    Each class gets its exact share rounded down or up, and so does every run of neighbouring
    classes. Which way is random and right on average, so that rare classes do appear in some of
    many small traces; a largest-remainder rule would never let them.

    Parameters
    ----------
    weights : sequence of float
        At least one is positive.
    total : int
    rng : numpy.random.Generator

    Returns
    -------
    array of int64, shape (classes,)
        Sums to `total`.
    """
    bounds = np.cumsum(np.asarray(weights, np.float64))
    bounds *= total / bounds[-1]
    # Where a bound is meant to be whole, as 526 × 63/526, its last digits must not move a coflow.
    bounds = np.round(bounds, 9)
    passed: Ints = np.ceil(bounds - rng.random()).astype(np.int64)
    passed[1:] -= passed[:-1].copy()
    return passed


def stratified(count: int, rng: np.random.Generator) -> Floats:
    """Draw one uniform number from each of `count` equal parts of [0, 1), in random order."""
    return (rng.permutation(count) + rng.random(count)) / max(count, 1)


def between(low: Ints, high: Ints, rng: np.random.Generator) -> Ints:
    """Draw whole numbers from `low` to `high`, both included; shape of `low`."""
    return np.minimum(low + (rng.random(len(low)) * (high - low + 1)).astype(np.int64), high)


def distinct_ports(widths: Iterable[int], ports: int, rng: np.random.Generator) -> list[Ports]:
    """Draw for each width that many different ports, uniformly, in random order."""
    return [rng.permutation(ports)[:width].astype(np.int32) for width in widths]


def arrivals_ms(gaps_ms: Floats) -> Ints:
    """Add gaps up from 0, each rounded to whole milliseconds, at least one: no two coincide."""
    gaps = np.maximum(np.rint(gaps_ms), 1).astype(np.int64)
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(gaps)))
