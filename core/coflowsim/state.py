"""What the kernels share: the arrays of one run, and the constants of the reference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.coflowsim.sizes import MB, Demand
from core.trace import Floats, Ints, Ports
from core.trace import Ints as Flags

QUANTUM_MS = 8
EPOCH_MS = 10240
LINK = 1024.0 * MB
"""Bits that a link carries in 1024 ms."""
ZERO = 1e-3
"""Bytes, and bits per 1024 ms, that count as nothing."""
GONE = -1.0
"""Remaining bytes of a flow that has ended."""


class State(NamedTuple):
    """Arrays of one run; flows (F,), reducers (R,), coflows (n,), ports (P,).

    `step` is what a flow moves in a quantum [B], 0 where it does not move; `rate` [bits per
    1024 ms] outlives the flow's end. `inflow` is the sum of the steps of a reducer, rounded.
    `full` and `part` log an advance: quanta in which a flow moved a whole step, and the bytes
    that it moved in its last one. `done` is 1 once a reducer is complete and 2 once what its flows
    still hold is frozen.
    """

    first_reducer: Ints
    first_flow: Ints
    src: Ports
    rack: Ports
    remaining: Floats
    rate: Floats
    step: Floats
    full: Floats
    part: Floats
    left: Floats
    tally: Floats
    noise: Floats
    inflow: Floats
    live: Ints
    done: Flags
    open: Ints
    moving: Flags
    attained: Floats
    free_src: Floats
    free_dst: Floats
    port_src: Floats
    port_dst: Floats


def new_state(demand: Demand) -> State:
    """Return the state before the first admission."""
    flows, reducers, n = len(demand.src), len(demand.rack), len(demand)
    zeros = [np.zeros(flows) for _ in range(4)]
    return State(
        first_reducer=demand.first_reducer,
        first_flow=demand.first_flow,
        src=demand.src.copy(),
        rack=demand.rack,
        remaining=demand.moved_bytes.copy(),
        rate=zeros[0],
        step=zeros[1],
        full=zeros[2],
        part=zeros[3],
        left=demand.reducer_bytes.copy(),
        tally=demand.tally_bytes.copy(),
        noise=demand.reducer_bytes * 1e-9,
        inflow=np.zeros(reducers),
        live=np.diff(demand.first_flow),
        done=np.zeros(reducers, np.int64),
        open=demand.receivers.copy(),
        moving=np.zeros(n, np.int64),
        attained=np.zeros(n),
        free_src=np.zeros(demand.ports),
        free_dst=np.zeros(demand.ports),
        port_src=np.zeros(demand.ports),
        port_dst=np.zeros(demand.ports),
    )
