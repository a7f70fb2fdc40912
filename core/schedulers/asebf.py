"""A-SEBF: coflows in queues by the bytes they have sent, divided by their width."""

from __future__ import annotations

from core import coflowsim, fluid
from core.coflowsim.sizes import RoundedDemand
from core.fluid.rules import QUEUE_PARAMETERS
from core.parameters import Values
from core.queues import BASE, COUNT, FIRST_THRESHOLD, WIDTH
from core.schedulers import Scheduler
from core.trace import Floats


def weight(demand: RoundedDemand, values: Values) -> Floats:
    """Width of each coflow, by the chosen definition."""
    return coflowsim.widths(demand, str(values["width"]))


def width(view: fluid.View, values: Values) -> Floats:
    """Width of each coflow, by the chosen definition."""
    return view.width(str(values["width"]))


SCHEDULER = Scheduler(
    name="asebf",
    summary="D-CLAS by attained bytes / width: approximates SEBF without sizes",
    source="A-SEBF: approximate smallest effective bottleneck first (attained bytes / width)",
    info="width",
    rules={
        "coflowsim": coflowsim.Queues(weight, (WIDTH, FIRST_THRESHOLD, BASE, COUNT)),
        "fluid": fluid.Queues(width, (WIDTH, *QUEUE_PARAMETERS)),
    },
)
