"""The engine: from a trace and a scheduler to an outcome."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from core.coflowsim import fair, loop, matching
from core.coflowsim.rules import FairPerFlow, InOrder, Matching, Queues, Rule
from core.coflowsim.sizes import MB, RoundedDemand, demand
from core.coflowsim.state import State, new_state
from core.engine import Engine, Scheduler
from core.errors import SimulationError
from core.outcome import Outcome
from core.parameters import Values, defaults, number
from core.queues import note_if_unreached
from core.trace import Floats, Ints, Trace, from_flows
from core.watch import watch

_SECOND_BYTES = 134217728.0
"""Bytes that a link carries in 1024 ms."""


def run(trace: Trace, scheduler: Scheduler, values: Values) -> Outcome:
    """Simulate a trace as CoflowSim does, coflow by coflow to the millisecond.

    Times are CoflowSim's milliseconds / 1000: a link of 1024 Mb per 1024 ms moves one MB of
    2^20 B in a quantum of 8 ms.

    Raises
    ------
    SimulationError
        Coflows that can never complete, or sizes beyond what a double counts exactly.
    """
    rule = cast(Rule, scheduler.rules["coflowsim"])
    sizes = demand(trace)
    if sizes.reducer_bytes.max() >= 2.0**53:
        raise SimulationError(f"{trace.name}: a reducer of {sizes.reducer_bytes.max():.3g} B")
    # Milliseconds with the noise of seconds · 1000 removed: admissions compare them exactly.
    arrival_ms = np.round(trace.arrival_s * 1e3, 6)
    state = new_state(sizes, arrival_ms)
    watch(state.coflow.finish)
    events = _simulate(state, sizes, rule, values)
    if isinstance(rule, Queues):
        key_mb = sizes.size_bytes / state.coflow.weight / MB
        note_if_unreached(trace.name, scheduler.name, values, key_mb)
    stuck = np.flatnonzero(state.coflow.finish < 0)
    if len(stuck):
        ids = ", ".join(str(i) for i in trace.coflow_id[stuck[:5]])
        raise SimulationError(
            f"{trace.name}: {len(stuck)} coflows get no capacity and nothing is left to arrive "
            f"(ids {ids}…)"
        )
    return Outcome(
        start_s=state.coflow.start / 1e3,
        finish_s=state.coflow.finish / 1e3,
        size_bytes=sizes.size_bytes,
        length_bytes=sizes.length_bytes,
        gamma_s=sizes.gamma_bytes / MB * 0.008,
        events=int(events),
        exact_cct_s=(state.coflow.finish - state.coflow.start) / 1e3,
    )


def _simulate(state: State, sizes: RoundedDemand, rule: Rule, values: Values) -> int:
    if isinstance(rule, FairPerFlow):
        return fair.simulate_fair(state)
    if isinstance(rule, Matching):
        reducer_of = np.repeat(np.arange(len(sizes.rack)), np.diff(sizes.first_flow))
        coflow_of = np.repeat(np.arange(len(sizes)), sizes.receivers)
        return matching.simulate_matching(state, reducer_of, coflow_of)
    if isinstance(rule, Queues):
        limits = queue_limits(values)
        state.coflow.weight = rule.weight(sizes, values)
        state.coflow.lowest = lowest_queue(sizes, state.coflow.weight, limits)
        return loop.simulate(state, loop.QUEUES, limits)
    state.coflow.deadline = deadline_ms(sizes)
    if rule.key is None:
        return loop.simulate(state, loop.LIST_BY_TALLY, np.empty(0))
    state.coflow.key = rule.key(sizes)
    return loop.simulate(state, loop.LIST, np.empty(0))


def lowest_queue(sizes: RoundedDemand, weight: Floats, limits: Floats) -> Ints:
    """Queue that each coflow cannot leave with all its bytes sent, shape (n,).

    There its attained bytes need not be known. The rounding of the sum over all moves is far
    below the margin.
    """
    moved = np.add.reduceat(sizes.moved_bytes, sizes.first_flow[sizes.first_reducer[:-1]])
    return np.searchsorted(limits, 1.001 * moved / weight)


def queue_limits(values: Values) -> Floats:
    """Upper limits of all queues but the last [B], shape (K − 1,); multiplied up one by one."""
    limit = number(values, "queue.first_threshold_mb") * MB
    limits = []
    for _ in range(int(number(values, "queue.count")) - 1):
        limits.append(limit)
        limit *= number(values, "queue.base")
    return np.array(limits, np.float64)


def deadline_ms(sizes: RoundedDemand) -> Floats:
    """Deadline of each coflow after its start, by which the backfill sorts, shape (n,)."""
    draws = java_doubles(17, len(sizes))
    return sizes.gamma_bytes / _SECOND_BYTES * (1 + draws) * 1000


def java_doubles(seed: int, n: int) -> Floats:
    """Return the first n values of ``new java.util.Random(seed).nextDouble()``."""
    mask = (1 << 48) - 1
    state = (seed ^ 0x5DEECE66D) & mask
    draws = np.empty(n)
    for i in range(n):
        state = (state * 0x5DEECE66D + 0xB) & mask
        high = state >> 22
        state = (state * 0x5DEECE66D + 0xB) & mask
        draws[i] = ((high << 27) + (state >> 21)) / 2**53
    return draws


def warm(schedulers: Iterable[Scheduler]) -> None:
    """Compile the kernels that some schedulers need, or load them from the cache.

    Runs three coflows under each kind of rule. Functions of a scheduler are not called: they may
    fail, or know only the coflows of their own trace.
    """
    mesh = [(s, d, 3e6 * (1 + s + d)) for s in (0, 1) for d in (0, 1, 2)]
    trace = from_flows("warm", 3, [(1, 0.0, mesh), (2, 0.5, mesh[:3]), (3, 30.0, mesh[1:2])])
    kinds: dict[Any, tuple[Scheduler, Rule]] = {}
    for scheduler in schedulers:
        rule = scheduler.rules.get("coflowsim")
        if isinstance(rule, Rule):
            kernel = loop if isinstance(rule, InOrder | Queues) else type(rule)
            kinds[kernel] = scheduler, rule
    for scheduler, rule in kinds.values():
        if isinstance(rule, InOrder) and rule.key is not None:
            rule = replace(rule, key=lambda demand: np.zeros(len(demand.senders)))
        elif isinstance(rule, Queues):
            rule = replace(rule, weight=lambda demand, _: np.ones(len(demand.senders)))
        run(trace, replace(scheduler, rules={"coflowsim": rule}), defaults(rule.parameters))


ENGINE = Engine(
    name="coflowsim",
    summary="the reference simulator's numbers: epochs of 10 240 ms, quanta of 8 ms",
    version=1,
    parameters=(),
    # A MB of the file is a MB of the simulator, whatever it is said to be.
    ignores=frozenset({"workload.mb_bytes"}),
    run=run,
    warm=warm,
)
