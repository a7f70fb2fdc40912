"""What a scheduler declares for the `coflowsim` engine, and the parameters of its queues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.coflowsim.sizes import RoundedDemand
from core.parameters import Parameter, Values
from core.trace import Floats

FIRST_THRESHOLD = Parameter(
    "queue.first_threshold_mb",
    float,
    10.0,
    "upper limit of the highest queue (Q0)",
    unit="MB",
    minimum=0.0,
    open_minimum=True,
)
BASE = Parameter(
    "queue.base",
    float,
    10.0,
    "growth of the limit from queue to queue (E)",
    minimum=1.0,
    open_minimum=True,
)
COUNT = Parameter("queue.count", int, 10, "number of queues (K)", minimum=1, maximum=1000)
WIDTH = Parameter(
    "width",
    str,
    "receiver",
    "what the attained bytes are divided by",
    choices=("receiver", "sender", "max", "min", "sum", "flows"),
)


@dataclass(frozen=True)
class InOrder:
    """MADD in list order, the skipped together, then backfill by deadline.

    A coflow is inserted before the first listed one whose key is strictly greater. `key` maps
    the demand to one number per coflow, shape (n,); ``None`` stands for the bytes that remain of
    each coflow's reducer records at the moment of insertion.
    """

    key: Callable[[RoundedDemand], Floats] | None
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Queues:
    """D-CLAS on attained bytes / weight; `weight` maps demand and values to shape (n,), > 0."""

    weight: Callable[[RoundedDemand, Values], Floats]
    parameters: tuple[Parameter, ...] = (FIRST_THRESHOLD, BASE, COUNT)


@dataclass(frozen=True)
class FairPerFlow:
    """Every live flow moves the smaller of its two ports' equal shares."""

    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Matching:
    """pFabric's ideal: per receiver the smallest flow whose sender is idle, whole ports."""

    parameters: tuple[Parameter, ...] = ()


Rule = InOrder | Queues | FairPerFlow | Matching


def widths(demand: RoundedDemand, width: str) -> Floats:
    """Width of each coflow by one of the definitions of `WIDTH`, shape (n,)."""
    senders, receivers = demand.senders, demand.receivers
    by_name = {
        "receiver": receivers,
        "sender": senders,
        "max": np.maximum(senders, receivers),
        "min": np.minimum(senders, receivers),
        "sum": senders + receivers,
        "flows": demand.flows,
    }
    return by_name[width].astype(np.float64)
