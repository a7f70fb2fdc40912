"""SCF: shortest coflow first."""

from __future__ import annotations

from core.coflowsim import InOrder
from core.coflowsim.sizes import RoundedDemand
from core.fluid import Ordered, View
from core.fluid.rules import BACKFILL, ORDER
from core.parameters import Values
from core.schedulers import Scheduler
from core.trace import Floats


def length(demand: RoundedDemand) -> Floats:
    """Bytes of the coflow's largest flow."""
    return demand.length_bytes


def longest(view: View, values: Values) -> Floats:
    """Bytes of the coflow's largest flow."""
    return view.length_bytes


SCHEDULER = Scheduler(
    name="scf",
    summary="shortest coflow (largest flow) first, rates by MADD, backfill",
    source="Chowdhury, Zhong, Stoica: Efficient Coflow Scheduling with Varys, SIGCOMM 2014, §5",
    info="clairvoyant",
    rules={
        "coflowsim": InOrder(length),
        "fluid": Ordered(longest, "length", (ORDER, BACKFILL)),
    },
)
