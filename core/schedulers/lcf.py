"""LCF: least coflow (fewest bytes) first."""

from __future__ import annotations

from core.coflowsim import InOrder
from core.fluid import Ordered, View
from core.fluid.rules import BACKFILL, ORDER
from core.parameters import Values
from core.schedulers import Scheduler
from core.trace import Floats


def size(view: View, values: Values) -> Floats:
    """Bytes of all flows together."""
    return view.size_bytes


SCHEDULER = Scheduler(
    name="lcf",
    summary="fewest bytes remaining at insertion first, rates by MADD, backfill",
    source="Chowdhury, Zhong, Stoica: Efficient Coflow Scheduling with Varys, SIGCOMM 2014, §5",
    info="clairvoyant",
    rules={
        "coflowsim": InOrder(None),
        "fluid": Ordered(size, "size", (ORDER, BACKFILL)),
    },
)
