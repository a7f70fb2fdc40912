"""Aalo: coflows in queues by the bytes they have sent."""

from __future__ import annotations

import numpy as np

from core import coflowsim, fluid
from core.coflowsim.sizes import RoundedDemand
from core.parameters import Values
from core.schedulers import Scheduler
from core.trace import Floats


def weight(demand: RoundedDemand, values: Values) -> Floats:
    """Attained bytes count as they are."""
    return np.ones(len(demand))


def same(view: fluid.View, values: Values) -> Floats:
    """Attained bytes count as they are."""
    return np.ones(len(view))


SCHEDULER = Scheduler(
    name="aalo",
    summary="D-CLAS: queues by attained bytes, FIFO inside a queue",
    source="Chowdhury, Stoica: Efficient Coflow Scheduling Without Prior Knowledge, SIGCOMM 2015",
    info="blind",
    rules={"coflowsim": coflowsim.Queues(weight), "fluid": fluid.Queues(same)},
)
