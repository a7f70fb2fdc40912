"""A bound is a partition of the coflows over ports; two of them need no search."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.bounds.port_loads import Loads
from core.bounds.srpt import srpt_by_port
from core.trace import Ints

NO_PORT = -1


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound together with the partition that proves it.

    Attributes
    ----------
    mean_s : float
        No schedule has a smaller average CCT [s] (up to rounding, 1e-12 of the value).
    method : {"isolation", "single_port", "partition"}
    port : array of int64, shape (n,)
        Port that each coflow is assigned to, as numbered in `Loads`, or `NO_PORT`.
    """

    mean_s: float
    method: str
    port: Ints


def isolation(found: Loads) -> Bound:
    """Mean of Γ: every coflow alone in the fabric."""
    port = np.full(len(found), NO_PORT, np.int64)
    return Bound(evaluate(found, port), "isolation", port)


def single_port(found: Loads) -> Bound:
    """One port, with every coflow that has load there: the port for which this proves most."""
    order = np.argsort(found.port, kind="stable")
    starts = np.searchsorted(found.port[order], np.arange(2 * found.ports + 1))
    coflow = found.coflow_of_entry
    work = (found.arrival_s[coflow[order]], found.seconds[order])
    gain = srpt_by_port(*work, starts) - np.bincount(
        found.port, weights=found.gamma_s[coflow], minlength=2 * found.ports
    )
    best = int(np.argmax(gain))
    port = np.full(len(found), NO_PORT, np.int64)
    port[coflow[found.port == best]] = best
    return Bound(evaluate(found, port), "single_port", port)


def evaluate(found: Loads, port: Ints) -> float:
    """Return the lower bound that a partition proves, from scratch [s].

    Parameters
    ----------
    found : Loads
    port : array of int64, shape (n,)
        Port of each coflow or `NO_PORT`. A coflow on a port that it does not use counts as 0.
    """
    chosen = np.flatnonzero(found.port == port[found.coflow_of_entry])
    chosen = chosen[np.argsort(found.port[chosen], kind="stable")]
    starts = np.searchsorted(found.port[chosen], np.arange(2 * found.ports + 1))
    coflow = found.coflow_of_entry[chosen]
    shared = srpt_by_port(found.arrival_s[coflow], found.seconds[chosen], starts)
    total = math.fsum([*shared, *found.gamma_s[port == NO_PORT]])
    return total / max(len(found), 1)
