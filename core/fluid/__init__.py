"""Exact continuous time: what a fabric does under a scheduler, event by event.

`rules` is what a scheduler declares and `view` what a rule in plain Python gets to see. `state`
lays out the arrays of the coflow-level kernels, `events` moves the clock, `bits` holds sets of
ports, `madd`, `shares` and `backfill` give rates. `pairs` is the state of the flow-level kernels
`fair` and `matching`. `engine` puts them together.
"""

from __future__ import annotations

from core.fluid.engine import ENGINE, run
from core.fluid.rules import FairPerFlow, Matching, Ordered, Queues
from core.fluid.view import View

__all__ = ["ENGINE", "FairPerFlow", "Matching", "Ordered", "Queues", "View", "run"]
