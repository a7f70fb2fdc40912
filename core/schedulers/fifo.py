"""FIFO: coflows in the order of their arrival."""

from __future__ import annotations

import numpy as np

from core.coflowsim import InOrder
from core.coflowsim.sizes import RoundedDemand
from core.fluid import Ordered, View
from core.parameters import Values
from core.schedulers import Scheduler
from core.trace import Floats


def arrival(demand: RoundedDemand) -> Floats:
    """All equal: a new coflow goes to the end of the list."""
    return np.zeros(len(demand))


def same(view: View, values: Values) -> Floats:
    """All equal: the arrival decides."""
    return np.zeros(len(view))


SCHEDULER = Scheduler(
    name="fifo",
    summary="first come, first served, rates by MADD, backfill",
    source="Chowdhury, Zhong, Stoica: Efficient Coflow Scheduling with Varys, SIGCOMM 2014, §7",
    info="clairvoyant",
    rules={"coflowsim": InOrder(arrival), "fluid": Ordered(same, "once")},
)
