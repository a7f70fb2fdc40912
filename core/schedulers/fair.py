"""Per-flow fairness: what TCP would do."""

from __future__ import annotations

from core import coflowsim, fluid
from core.schedulers import Scheduler

SCHEDULER = Scheduler(
    name="fair",
    summary="every flow gets its fair share of its two ports; coflows are ignored",
    source="Chowdhury, Zhong, Stoica: Efficient Coflow Scheduling with Varys, SIGCOMM 2014, §7",
    info="blind",
    rules={"coflowsim": coflowsim.FairPerFlow(), "fluid": fluid.FairPerFlow()},
)
