"""Exact continuous time: what a fabric does under a scheduler, event by event.

`rules` is what a scheduler declares and `view` what a rule in plain Python gets to see. `demand` is
the trace as the fabric carries it, `state` lays out the arrays of the coflow-level kernels. There
`events` moves the clock, `ends` takes out what ends on the way, `bits` holds sets of ports;
`madd`, with `loads`, and `shares`, with `within` and `filling`, decide, and `backfill` follows.
`pairs` is the state of the flow-level kernels `fair` and `matching`. `drive` goes from a rule to
its kernel, `engine` from a trace to an outcome.
"""

from __future__ import annotations

from core.fluid.engine import ENGINE, run
from core.fluid.rules import FairPerFlow, Matching, Ordered, Queues
from core.fluid.view import View

__all__ = ["ENGINE", "FairPerFlow", "Matching", "Ordered", "Queues", "View", "run"]
