"""Rules for the `fluid` engine: what a scheduler declares in order to run there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from core.fluid.view import View
from core.parameters import Parameter, Values
from core.queues import BASE, COUNT, FIRST_THRESHOLD
from core.trace import Floats

ORDER = Parameter(
    "order",
    str,
    "static",
    "rank coflows by their size at arrival (static) or by what remains at each decision",
    choices=("static", "remaining"),
)
BACKFILL = Parameter(
    "engine.backfill",
    bool,
    True,
    "backfill: offer unused port capacity to waiting flows, in scheduling order",
)
WITHIN = Parameter(
    "engine.within",
    str,
    "equal_split",
    "rates of a coflow's flows: each port split equally among them, or max-min fair",
    choices=("equal_split", "max_min"),
)
THRESHOLD_MODE = Parameter(
    "queue.threshold_mode",
    str,
    "cumulative",
    "compare thresholds with all attained bytes, or with those since the coflow entered the queue",
    choices=("cumulative", "per_queue"),
)
BETWEEN = Parameter(
    "queue.between",
    str,
    "strict",
    "how queues share the ports: by strict priority, or each with its weight",
    choices=("strict", "wfq"),
)
WEIGHTS = Parameter(
    "queue.weights",
    str,
    None,
    "weights of the queues, highest priority first, as in '3 2 1'; null stands for K, K−1, …, 1",
    when=(("queue.between", ("wfq",)),),
)
QUEUE_PARAMETERS = (
    FIRST_THRESHOLD,
    BASE,
    COUNT,
    THRESHOLD_MODE,
    BETWEEN,
    WEIGHTS,
    WITHIN,
    BACKFILL,
)


@dataclass(frozen=True)
class Ordered:
    """Coflows in a total order, smallest key first, rates by MADD, backfill.

    Equal keys go by arrival, then by place in the trace.

    Attributes
    ----------
    key : callable (view, values) → array of float, shape (n,)
        One number per coflow of the view, in plain Python or numpy.
    kernel : {None, "once", "length", "size", "gamma"}
        None: the key is asked for at each decision, for the active coflows. ``"once"``: it is
        asked for once, for coflows that have sent nothing yet. Otherwise it is what
        ``order=static`` stands for, and the kernel knows how to recompute it for
        ``order=remaining``.
    parameters : tuple of Parameter
        What the rule reads, the key included.
    """

    uses_sizes: ClassVar[bool] = True
    key: Callable[[View, Values], Floats]
    kernel: Literal["once", "length", "size", "gamma"] | None = None
    parameters: tuple[Parameter, ...] = (BACKFILL,)


@dataclass(frozen=True)
class Queues:
    """D-CLAS on attained bytes / weight, FIFO inside a queue.

    `weight` maps view and values to shape (n,), > 0; it is asked for once.
    """

    uses_sizes: ClassVar[bool] = False
    weight: Callable[[View, Values], Floats]
    parameters: tuple[Parameter, ...] = QUEUE_PARAMETERS


@dataclass(frozen=True)
class FairPerFlow:
    """Max-min fairness over all live flows."""

    uses_sizes: ClassVar[bool] = False
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Matching:
    """The flow with the fewest remaining bytes first; it takes both its ports whole or waits."""

    uses_sizes: ClassVar[bool] = True
    parameters: tuple[Parameter, ...] = ()


Rule = Ordered | Queues | FairPerFlow | Matching
