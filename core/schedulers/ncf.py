"""NCF: narrowest coflow first."""

from __future__ import annotations

from core.coflowsim import InOrder, widths
from core.coflowsim.sizes import RoundedDemand
from core.fluid import Ordered, View
from core.parameters import Values
from core.schedulers import Scheduler
from core.trace import Floats


def narrowness(demand: RoundedDemand) -> Floats:
    """Senders or receivers, whichever are fewer."""
    return widths(demand, "min")


def flows(view: View, values: Values) -> Floats:
    """Width in flows."""
    return view.width("flows")


SCHEDULER = Scheduler(
    name="ncf",
    summary="narrowest coflow first, rates by MADD, backfill",
    source="Chowdhury, Zhong, Stoica: Efficient Coflow Scheduling with Varys, SIGCOMM 2014, §5",
    info="clairvoyant",
    rules={"coflowsim": InOrder(narrowness), "fluid": Ordered(flows, "once")},
)
