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


def isolation(load: Loads) -> Bound:
    """Mean of Γ: every coflow alone in the fabric."""
    port = np.full(len(load), NO_PORT, np.int64)
    return Bound(evaluate(load, port), "isolation", port)


def single_port(load: Loads) -> Bound:
    """One port, with every coflow that has load there: the port for which this proves most."""
    order = np.argsort(load.port, kind="stable")
    starts = np.searchsorted(load.port[order], np.arange(2 * load.ports + 1))
    coflow = load.coflow_of_entry
    work = (load.arrival_s[coflow[order]], load.seconds[order])
    gain = srpt_by_port(*work, starts) - np.bincount(
        load.port, weights=load.gamma_s[coflow], minlength=2 * load.ports
    )
    best = int(np.argmax(gain))
    port = np.full(len(load), NO_PORT, np.int64)
    port[coflow[load.port == best]] = best
    return Bound(evaluate(load, port), "single_port", port)


def evaluate(load: Loads, port: Ints) -> float:
    """Return the lower bound that a partition proves, from scratch [s].

    Parameters
    ----------
    load : Loads
    port : array of int64, shape (n,)
        Port of each coflow or `NO_PORT`. A coflow on a port that it does not use counts as 0.
    """
    chosen = np.flatnonzero(load.port == port[load.coflow_of_entry])
    chosen = chosen[np.argsort(load.port[chosen], kind="stable")]
    starts = np.searchsorted(load.port[chosen], np.arange(2 * load.ports + 1))
    coflow = load.coflow_of_entry[chosen]
    shared = srpt_by_port(load.arrival_s[coflow], load.seconds[chosen], starts)
    total = math.fsum([*shared, *load.gamma_s[port == NO_PORT]])
    return total / max(len(load), 1)
