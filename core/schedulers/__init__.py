"""Schedulers. One file a scheduler; each exports ``SCHEDULER = Scheduler(…)``.

=======================  ================================================
`core.schedulers._base`  `Scheduler`: the record that a scheduler exports
`core.schedulers.aalo`   D-CLAS by attained bytes
`core.schedulers.asebf`  D-CLAS by attained bytes / width
`core.schedulers.fair`   per-flow fairness
`core.schedulers.fifo`   coflows in the order of their arrival
`core.schedulers.lcf`    least coflow first: fewest bytes
`core.schedulers.ncf`    narrowest coflow first
`core.schedulers.pfp`    per-flow prioritisation as CoflowSim has it
`core.schedulers.scf`    shortest coflow first: smallest largest flow
`core.schedulers.srpt`   flow with the fewest remaining bytes first
`core.schedulers.varys`  SEBF: smallest effective bottleneck first
=======================  ================================================
"""

from __future__ import annotations

import sys
from functools import cache

from core.plugins import discover
from core.schedulers._base import Scheduler

__all__ = ["Scheduler", "schedulers"]


@cache
def schedulers() -> dict[str, Scheduler]:
    """Return every scheduler by name."""
    return discover(sys.modules[__name__], Scheduler, "SCHEDULER")
