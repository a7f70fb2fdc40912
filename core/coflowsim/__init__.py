"""CoflowSim's numbers, coflow by coflow to the millisecond.

CoflowSim (M. Chowdhury, https://github.com/coflow/coflowsim) is the time-stepped simulator that
the published figures of Varys, Aalo and A-SEBF come from. Modules: `sizes` rounds a trace as it
does, `rates` computes rates at a recomputation, `advance`, `attained` and `exact` move flows on
bit for bit, `loop` and `perflow` are its loops, `rules` is what a scheduler declares.
"""

from __future__ import annotations

from core.coflowsim.engine import ENGINE
from core.coflowsim.rules import FairPerFlow, InOrder, Matching, Queues, widths

__all__ = ["ENGINE", "FairPerFlow", "InOrder", "Matching", "Queues", "widths"]
