"""When coflows can complete at the earliest, and when flows can end."""

from __future__ import annotations

import numpy as np

from core.coflowsim.advance import drift
from core.coflowsim.state import MORE, ULP, ZERO, State
from core.jit import inner


@inner
def due(s: State, k: int) -> float:
    """Lower bound (≥ 1) on the quanta until coflow k completes; infinite if it never does.

    A reducer is complete when its bytes are, or when its flows have ended: its bytes over the sum
    of its steps bound both from below, up to ZERO a flow and the noise of subtractions.
    """
    latest = 1.0
    for r in range(s.coflow[k].first, s.coflow[k].last):
        d = s.reducer[r]
        if d.done == 0 and d.left > ZERO:
            if not d.inflow > 0:
                return np.inf
            spare = d.left - d.noise - ZERO * (d.last - d.first + 1)
            latest = max(latest, np.floor(spare / (d.inflow * MORE + drift(s, r))))
    return latest


@inner
def due_by_flow(s: State, k: int) -> float:
    """Tighter bound than `due`: no reducer completes before its slowest flow ends."""
    latest = 1.0
    for r in range(s.coflow[k].first, s.coflow[k].last):
        d = s.reducer[r]
        if d.done == 0 and d.left > ZERO:
            margin = d.noise + ZERO * (d.last - d.first + 1)
            grain = drift(s, r)
            for i in range(d.first, d.last):
                spare = s.remaining[i] - margin
                if spare > latest * (s.step[i] * MORE + grain):
                    if s.step[i] == 0:
                        return np.inf
                    latest = np.floor(spare / (s.step[i] * MORE + grain))
    return latest


@inner
def quiet_quanta(s: State, r: int) -> float:
    """Lower bound (≥ 0) on the quanta in which no flow of reducer r ends, nor the reducer.

    The margin of an ulp a quantum and of one whole quantum covers what rounding can do.
    """
    d = s.reducer[r]
    if d.done != 0:
        return 0.0
    quiet = np.floor((d.left - ZERO) / (d.inflow * MORE + drift(s, r))) - 1.0
    for i in range(d.first, d.last):
        if s.step[i] > 0:
            spare, grain = s.remaining[i] - ZERO, s.step[i] + s.remaining[i] * ULP
            if spare < (quiet + 1.0) * grain:
                quiet = np.floor(spare / grain) - 1.0
    return float(max(quiet, 0.0))
