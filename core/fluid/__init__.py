"""Exact continuous time: what a fabric does under a scheduler, event by event.

`core.fluid.rules`          what a scheduler declares: the four kinds of rule, their parameters
`core.fluid.view`           `View`: what a rule in plain Python may look at
`core.fluid.engine`         from a trace and a scheduler to an outcome
`core.fluid.stepping`       a schedule decision by decision, for charts, tests and debugging
`core.fluid.runner`         from a rule to its kernel
`core.fluid.demand`         the trace as the fabric carries it, on the ports in use
`core.fluid.state`          the arrays of the coflow-level kernels
`core.fluid.kernels`        the compiled parts: allocations, the clock, ends of flows
==========================  =======================================================================
=======
====================  ======================================================================
`core.fluid.rules`    what a scheduler declares for this engine, and the rules' parameters
`core.fluid.view`     `View`: what a rule in plain Python may see of the coflows
`core.fluid.engine`   `ENGINE`; `run`: from a trace and a scheduler to an outcome
`core.fluid.demand`   the trace as the fabric carries it
`core.fluid.runner`   from a rule to its kernel
`core.fluid.state`    the arrays of a run, and how they are laid out
`core.fluid.kernels`  the compiled loops
====================  ======================================================================
"""

from __future__ import annotations

from core.fluid.engine import ENGINE, run
from core.fluid.rules import FairPerFlow, Matching, Ordered, Queues
from core.fluid.view import View

__all__ = ["ENGINE", "FairPerFlow", "Matching", "Ordered", "Queues", "View", "run"]
