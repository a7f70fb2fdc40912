"""Exact continuous time: what a fabric does under a scheduler, event by event.

=====================  =====================================================================
`core.fluid.rules`     what a scheduler declares for this engine, and the rules' parameters
`core.fluid.view`      `View`: what a rule in plain Python may see of the coflows
`core.fluid.engine`    `ENGINE`; `run`: from a trace and a scheduler to an outcome
`core.fluid.stepping`  `decisions`: a schedule decision by decision, for charts and tests
`core.fluid.demand`    the trace as the fabric carries it, on the hosts in use
`core.fluid.runner`    from a rule to its kernel
`core.fluid.state`     the arrays of a run, and how they are laid out
`core.fluid.kernels`   the compiled loops
=====================  =====================================================================
"""

from __future__ import annotations

from core.fluid.engine import ENGINE, run
from core.fluid.rules import FairPerFlow, Matching, Ordered, Queues
from core.fluid.view import View

__all__ = ["ENGINE", "FairPerFlow", "Matching", "Ordered", "Queues", "View", "run"]
