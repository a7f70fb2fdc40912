"""What the kernels share: the arrays of one run, and the constants of the reference."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.coflowsim.sizes import MB, RoundedDemand
from core.trace import Floats, Ints, Ports

QUANTUM_MS = 8
EPOCH_MS = 10240
LINK = MB
"""Bytes that a link carries in a quantum."""
ZERO = 1e-3
"""Bytes that count as nothing."""
ZERO_RATE = ZERO / 1024
"""Bytes a quantum that count as nothing: ZERO bits per 1024 ms. Powers of two lose no bit."""
ULP = 2.3e-16
"""A little more than the spacing of doubles, relative."""
MORE = 1.0 + 1e-9
"""Covers the rounding of a sum of steps."""
UNTIL_END = np.inf
"""`full` of a flow that has not ended in the running advance."""

COFLOW = np.dtype(
    [
        ("first", "i8"),  # reducers first:last
        ("last", "i8"),
        ("open", "i8"),  # reducers that are not complete
        ("queue", "i8"),
        ("lowest", "i8"),  # queue that its bytes cannot take it out of
        ("ended", "i8"),  # flows that ended in the running advance
        ("key", "f8"),  # of the list
        ("weight", "f8"),  # of the attained bytes
        ("attained", "f8"),  # [B]
        ("arrival", "f8"),  # [ms], and all below
        ("deadline", "f8"),  # after the start
        ("start", "f8"),
        ("finish", "f8"),  # −1 until then
    ]
)
REDUCER = np.dtype(
    [
        ("first", "i8"),  # flows first:last
        ("last", "i8"),
        ("rack", "i8"),
        ("live", "i8"),  # flows that have not ended
        ("done", "i8"),  # 1: complete; 2: and what its flows still hold is frozen
        ("left", "f8"),  # [B]
        ("tally", "f8"),  # the second tally [B]
        ("inflow", "f8"),  # sum of the steps, rounded [B a quantum]
        ("noise", "f8"),  # bound on left − what the flows hold [B]
    ]
)
PORT = np.dtype(
    [
        ("free_src", "f8"),  # [B a quantum]
        ("free_dst", "f8"),
        ("sum_src", "f8"),  # scratch: counts, or sums of what is used
        ("sum_dst", "f8"),
        ("share_src", "f8"),  # scratch: equal share of what is free
        ("share_dst", "f8"),
    ]
)


class State(NamedTuple):
    """Arrays of one run: records per coflow (n,), reducer (R,) and port (P,), values per flow (F,).

    `remaining` [B] of a flow that has ended is −1 times its last step. `step` is what a flow
    moves in a quantum [B], its rate; 0 once it has ended. `full`, `part` and `ended` log the
    flows that end while a coflow is advanced: the quanta in which they moved a whole step, what
    they moved in the next [B], and which they are (from the coflow's first flow on).
    """

    coflow: Any
    reducer: Any
    port: Any
    src: Ports
    remaining: Floats
    step: Floats
    full: Floats
    part: Floats
    ended: Ints


def new_state(demand: RoundedDemand, arrival_ms: Floats) -> State:
    """Return the state before the first admission."""
    flows, reducers, n = len(demand.src), len(demand.rack), len(demand)
    coflow = np.zeros(n, COFLOW).view(np.recarray)
    coflow.first, coflow.last = demand.first_reducer[:-1], demand.first_reducer[1:]
    coflow.open = demand.receivers
    coflow.weight = 1.0
    coflow.arrival = arrival_ms
    coflow.start = coflow.finish = -1.0
    reducer = np.zeros(reducers, REDUCER).view(np.recarray)
    reducer.first, reducer.last = demand.first_flow[:-1], demand.first_flow[1:]
    reducer.rack = demand.rack
    reducer.live = np.diff(demand.first_flow)
    reducer.left = demand.reducer_bytes
    reducer.tally = demand.tally_bytes
    return State(
        coflow=coflow,
        reducer=reducer,
        port=np.zeros(demand.ports, PORT).view(np.recarray),
        src=demand.src.copy(),
        remaining=demand.moved_bytes.copy(),
        step=np.zeros(flows),
        full=np.full(flows, UNTIL_END),
        part=np.zeros(flows),
        ended=np.zeros(flows, np.int64),
    )
