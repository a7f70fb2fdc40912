"""Rules for the `coflowsim` engine: what a scheduler declares in order to run there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from core import queues
from core.coflowsim.sizes import RoundedDemand
from core.parameters import Parameter, Values
from core.queues import BASE, COUNT, FIRST_THRESHOLD
from core.trace import Floats


@dataclass(frozen=True)
class InOrder:
    """MADD in list order, the skipped together, then backfill by deadline.

    A coflow is inserted before the first listed one whose key is strictly greater. `key` maps
    the demand to one number per coflow, shape (n,); ``None`` stands for the bytes that remain of
    each coflow's reducer records at the moment of insertion.
    """

    uses_sizes: ClassVar[bool] = True
    key: Callable[[RoundedDemand], Floats] | None
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Queues:
    """D-CLAS on attained bytes / weight; `weight` maps demand and values to shape (n,), > 0."""

    uses_sizes: ClassVar[bool] = False
    weight: Callable[[RoundedDemand, Values], Floats]
    parameters: tuple[Parameter, ...] = (FIRST_THRESHOLD, BASE, COUNT)


@dataclass(frozen=True)
class FairPerFlow:
    """Every live flow moves the smaller of its two ports' equal shares."""

    uses_sizes: ClassVar[bool] = False
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Matching:
    """pFabric's ideal: per receiver the smallest flow whose sender is idle, whole ports."""

    uses_sizes: ClassVar[bool] = True
    parameters: tuple[Parameter, ...] = ()


Rule = InOrder | Queues | FairPerFlow | Matching


def widths(demand: RoundedDemand, kind: str) -> Floats:
    """Return the width of each coflow by one of the choices of `core.queues.WIDTH`, shape (n,)."""
    return queues.widths(kind, demand.senders, demand.receivers, demand.flows)
