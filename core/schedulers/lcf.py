"""LCF: least coflow (fewest bytes) first."""

from __future__ import annotations

from core.coflowsim import InOrder
from core.schedulers._base import Scheduler

SCHEDULER = Scheduler(
    name="lcf",
    summary="fewest bytes remaining at insertion first, rates by MADD, backfill",
    source="Chowdhury, Zhong, Stoica: Efficient Coflow Scheduling with Varys, SIGCOMM 2014, §5",
    info="clairvoyant",
    rules={"coflowsim": InOrder(None)},
)
