"""PFP: the ideal of per-flow prioritisation."""

from __future__ import annotations

from core.coflowsim import Matching
from core.schedulers import Scheduler

SCHEDULER = Scheduler(
    name="pfp",
    summary="smallest flow first at each receiver, one flow a port at a time",
    source="Alizadeh et al.: pFabric, SIGCOMM 2013 (the ideal, as CoflowSim has it)",
    info="clairvoyant",
    rules={"coflowsim": Matching()},
)
