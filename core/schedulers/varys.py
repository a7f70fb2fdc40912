"""Varys: smallest effective bottleneck first."""

from __future__ import annotations

from core.coflowsim import InOrder
from core.coflowsim.sizes import RoundedDemand
from core.fluid import Ordered, View
from core.fluid.rules import BACKFILL, ORDER
from core.parameters import Values
from core.schedulers import Scheduler
from core.trace import Floats


def gamma(demand: RoundedDemand) -> Floats:
    """Bytes at the coflow's busiest port."""
    return demand.gamma_bytes


def bottleneck(view: View, values: Values) -> Floats:
    """Γ: seconds that the coflow's busiest port needs for it alone."""
    return view.gamma_s


SCHEDULER = Scheduler(
    name="varys",
    summary="SEBF: smallest bottleneck Γ first, rates by MADD, backfill",
    source="Chowdhury, Zhong, Stoica: Efficient Coflow Scheduling with Varys, SIGCOMM 2014",
    info="clairvoyant",
    rules={
        "coflowsim": InOrder(gamma),
        "fluid": Ordered(bottleneck, "gamma", (ORDER, BACKFILL)),
    },
)
