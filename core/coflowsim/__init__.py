"""CoflowSim's numbers, coflow by coflow to the millisecond.

CoflowSim (M. Chowdhury, https://github.com/coflow/coflowsim) is the time-stepped simulator that
the published figures of Varys, Aalo and A-SEBF come from.

=========================  =============================================================
`core.coflowsim.engine`    from a trace and a scheduler to an outcome
`core.coflowsim.rules`     kinds of rules that a scheduler declares for this engine
`core.coflowsim.sizes`     `RoundedDemand`: sizes in whole MB, as CoflowSim rounds them
`core.coflowsim.loop`      its loop for coflows: admissions in epochs, recomputations
`core.coflowsim.fair`      its loop for per-flow fairness
`core.coflowsim.matching`  its loop for pFabric's ideal
`core.coflowsim.rates`     rates at a recomputation: MADD, and the equal split of D-CLAS
`core.coflowsim.advance`   move coflows on by whole quanta while their rates stand
`core.coflowsim.due`       when coflows and flows can end at the earliest
`core.coflowsim.tally`     bytes that a row of flows moves, added up in its order
`core.coflowsim.exact`     repeated additions of doubles, to the last bit
`core.coflowsim.state`     arrays of one run, and the constants of the reference
=========================  =============================================================
"""

from __future__ import annotations

from core.coflowsim.engine import ENGINE
from core.coflowsim.rules import FairPerFlow, InOrder, Matching, Queues, widths

__all__ = ["ENGINE", "FairPerFlow", "InOrder", "Matching", "Queues", "widths"]
