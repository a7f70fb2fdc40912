"""SRPT: the flow with the fewest remaining bytes first."""

from __future__ import annotations

from core.fluid import Matching
from core.schedulers import Scheduler

SCHEDULER = Scheduler(
    name="srpt",
    summary="flow with the fewest remaining bytes first, one flow a port at a time",
    source="Alizadeh et al.: pFabric, SIGCOMM 2013 (the ideal)",
    info="clairvoyant",
    rules={"fluid": Matching()},
)
