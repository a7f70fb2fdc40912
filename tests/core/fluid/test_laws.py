"""Laws of the fluid engine: what holds for every trace, scheduler and parameter."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.fluid import run
from core.fluid.engine import prepared
from core.fluid.kernels.clock import DECIDE
from core.fluid.runner import new_run, queue_weights
from core.fluid.state import FluidState
from core.fluid.stepping import decisions
from core.schedulers import schedulers
from core.trace import Floats, Ints, Trace, from_flows
from tests.fluid_cases import SCHEDULERS
from tests.profiles import examples
from tests.strategies import GIGABIT, SHIFTS, traces, values

COFLOW_LEVEL = [s for s in SCHEDULERS if s not in ("fair", "srpt")]
many = examples(60)


def cct(trace: Trace, scheduler: str, values: dict[str, Any]) -> Floats:
    outcome = run(trace, schedulers()[scheduler], values)
    return outcome.finish_s - outcome.start_s


def changed(trace: Trace, **fields: Any) -> Trace:
    return Trace(**{**vars(trace), **fields})


# --- At each decision ---------------------------------------------------------------------------


def ports_of(trace: Trace) -> tuple[Ints, Ints]:
    """Return the two ports of each flow: hosts as senders, then as receivers."""
    return trace.src.astype(int), trace.ports + trace.dst.astype(int)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(trace=traces(), values=values())
@many
def test_ports_carry_no_more_than_they_can(
    scheduler: str, trace: Trace, values: dict[str, Any]
) -> None:
    sender, receiver = ports_of(trace)
    capacity = np.full(2 * trace.ports, GIGABIT * values["fabric.gbps"])
    for step in decisions(trace, schedulers()[scheduler], values):
        assert np.all(step.rate_bps >= 0)
        assert np.all(step.left_bytes[step.rate_bps > 0] > 0)
        used = np.bincount(sender, step.rate_bps, len(capacity))
        used += np.bincount(receiver, step.rate_bps, len(capacity))
        assert np.all(used <= capacity * (1 + 1e-9))
        np.testing.assert_allclose(capacity - used, step.free_bps, rtol=1e-9, atol=1.0)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(trace=traces(), values=values())
@many
def test_the_active_coflows_are_those_with_bytes_left(
    scheduler: str, trace: Trace, values: dict[str, Any]
) -> None:
    last = -1.0
    for step in decisions(trace, schedulers()[scheduler], values):
        left = np.bincount(trace.coflow_of_flow, step.left_bytes, len(trace))
        assert sorted(step.active) == np.flatnonzero(left).tolist()
        assert np.all(step.queue[left > 0] < values["queue.count"])
        assert step.time_s >= last
        last = step.time_s
    assert len(step.active) == 0


@pytest.mark.parametrize("scheduler", [*COFLOW_LEVEL, "fair"])
@given(trace=traces(), values=values())
@many
def test_backfill_leaves_no_flow_with_both_ports_free(
    scheduler: str, trace: Trace, values: dict[str, Any]
) -> None:
    """Max-min over all flows leaves none either; a matching leaves no port of a flow free."""
    values["engine.backfill"] = True
    sender, receiver = ports_of(trace)
    for step in decisions(trace, schedulers()[scheduler], values):
        waiting = step.left_bytes > 0
        assert not np.any(waiting & (step.free_bps[sender] > 0) & (step.free_bps[receiver] > 0))


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(trace=traces(), values=values())
@many
def test_bytes_are_conserved(scheduler: str, trace: Trace, values: dict[str, Any]) -> None:
    """Between two decisions a live flow loses rate · time, and what has gone was carried."""
    values["engine.trigger"] = "flow"
    carried = np.zeros(len(trace.src))
    for step, following in pairwise(decisions(trace, schedulers()[scheduler], values)):
        # With ticks a flow may end, and its rate with it, before the next decision.
        moved = step.rate_bps * (following.time_s - step.time_s)
        moved = np.minimum(step.left_bytes, moved)
        live = step.left_bytes > 0
        surplus = np.abs(step.left_bytes - moved - following.left_bytes)[live]
        assert np.all(surplus <= 1e-6 * np.maximum(1.0, step.left_bytes[live]))
        carried += moved
    local = trace.src == trace.dst
    expected = np.where(local & values["fabric.local_is_free"], 0.0, trace.size_bytes)
    np.testing.assert_allclose(carried, expected, rtol=1e-9, atol=1.0)


@pytest.mark.compiled
@pytest.mark.parametrize("scheduler", ["fifo", "varys"])
@pytest.mark.parametrize("trigger", ["flow", "coflow"])
def test_loads_are_what_the_flows_have_left(scheduler: str, trigger: str) -> None:
    """Of meshes large enough that many flows of a port end in one decision."""
    r = random.Random(5)
    coflows = []
    for k in range(12):
        senders, receivers = (r.sample(range(70), r.randint(1, 30)) for _ in range(2))
        sizes = {j: r.randint(1, 40) * 1e6 for j in receivers}
        coflows.append((k, 0.05 * k, [(i, j, sizes[j]) for j in receivers for i in senders]))
    trace = from_flows("meshes", 70, coflows)
    record, values = schedulers()[scheduler], {"engine.trigger": trigger}
    sizes, rule, complete = prepared(trace, record, values, None, None)
    slots, state = sizes.slots, new_run(sizes, record, rule, complete)
    net = state.net
    assert isinstance(net, FluidState)
    seen = 0
    while state.proceed(True) == DECIDE:
        left = np.bincount(slots.of_sender, net.left, len(net.slot))
        left += np.bincount(slots.of_receiver, net.left, len(net.slot))
        for k in net.order[: net.clock[0].active]:
            slots_of_k = slice(net.coflow[k].first, net.coflow[k]["last"])
            seen += int((net.slot.live[slots_of_k] < net.row.width[slots_of_k]).sum())
            np.testing.assert_allclose(
                net.slot.load[slots_of_k], left[slots_of_k], rtol=1e-11, atol=1e-6
            )
    assert seen > 100


# --- Of outcomes --------------------------------------------------------------------------------


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(trace=traces(), values=values())
@many
def test_no_coflow_beats_its_bottleneck(
    scheduler: str, trace: Trace, values: dict[str, Any]
) -> None:
    outcome = run(trace, schedulers()[scheduler], values)
    assert np.all(outcome.finish_s - outcome.start_s >= outcome.gamma_s * (1 - 1e-9) - 1e-8)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(trace=traces(), values=values())
@many
def test_all_is_done_in_time(scheduler: str, trace: Trace, values: dict[str, Any]) -> None:
    """While coflows are active a port is full, so one port's time for all bytes is enough.

    With trigger=coflow the ports of an ended flow may idle, and the rates at the last decision
    are what counts. Under MADD all flows of the first coflow end together, and a matching has
    whole ports: both keep a port full. D-CLAS serves the first coflow of the order with at least
    1 / its flows of a port each, or that part of the queue's share; `fair` serves every flow
    with at least 1 / all flows.
    """
    delta = values["engine.interval_ms"] / 1e3
    capacity = GIGABIT * values["fabric.gbps"]
    waits = (len(trace.src) + 1) * delta
    enough = trace.size_bytes.sum() / capacity
    if values["engine.trigger"] == "coflow" and scheduler in ("aalo", "asebf"):
        weights = np.ones(1)
        if values["queue.between"] == "wfq":
            weights = queue_weights(values)
        smallest = weights.min() / weights.sum()
        enough = (trace.flows_per_coflow() * trace.length_bytes()).sum() / (capacity * smallest)
    elif values["engine.trigger"] == "coflow" and scheduler == "fair":
        enough = len(trace.src) * trace.size_bytes.max() / capacity
    finish = run(trace, schedulers()[scheduler], values).finish_s
    assert finish.max() - trace.arrival_s.max() <= (enough + waits) * (1 + 1e-9) + 1e-8


@pytest.mark.parametrize("scheduler", COFLOW_LEVEL[:5])
@given(trace=traces(), values=values())
@many
def test_a_lone_coflow_under_madd_finishes_at_gamma(
    scheduler: str, trace: Trace, values: dict[str, Any]
) -> None:
    values["engine.interval_ms"] = 0.0
    first, last = trace.first_flow[:2]
    flows = zip(
        trace.src[first:last], trace.dst[first:last], trace.size_bytes[first:last], strict=True
    )
    lone = from_flows("lone", trace.ports, [(1, 0.25, list(flows))])
    outcome = run(lone, schedulers()[scheduler], values)
    np.testing.assert_allclose(outcome.finish_s - 0.25, outcome.gamma_s, rtol=1e-9)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(trace=traces(), values=values())
@many
def test_twice_the_bytes_and_gaps_take_twice_as_long(
    scheduler: str, trace: Trace, values: dict[str, Any]
) -> None:
    double = changed(trace, size_bytes=trace.size_bytes * 2, arrival_s=trace.arrival_s * 2)
    doubled = values | {
        "engine.interval_ms": values["engine.interval_ms"] * 2,
        "queue.first_threshold_mb": values["queue.first_threshold_mb"] * 2,
    }
    expected = 2 * cct(trace, scheduler, values)
    np.testing.assert_allclose(cct(double, scheduler, doubled), expected, rtol=1e-9, atol=4e-9)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(trace=traces(), values=values())
@many
def test_twice_the_bytes_on_twice_the_capacity_take_as_long(
    scheduler: str, trace: Trace, values: dict[str, Any]
) -> None:
    double = changed(trace, size_bytes=trace.size_bytes * 2)
    doubled = values | {
        "fabric.gbps": values["fabric.gbps"] * 2,
        "queue.first_threshold_mb": values["queue.first_threshold_mb"] * 2,
    }
    expected = cct(trace, scheduler, values)
    np.testing.assert_allclose(cct(double, scheduler, doubled), expected, rtol=1e-9, atol=4e-9)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(trace=traces(), values=values(), shift=SHIFTS)
@many
def test_names_of_ports_do_not_matter(
    scheduler: str, trace: Trace, values: dict[str, Any], shift: int
) -> None:
    """Shifting all hosts keeps the order of flows, which breaks ties in backfill and srpt."""
    moved = changed(trace, ports=trace.ports + shift, src=trace.src + shift, dst=trace.dst + shift)
    np.testing.assert_allclose(
        cct(moved, scheduler, values), cct(trace, scheduler, values), rtol=1e-9, atol=2e-9
    )


@pytest.mark.parametrize("scheduler", ["aalo", "asebf", "fair"])
@given(trace=traces(), values=values(), hidden=st.integers(0, 6))
@many
def test_sizes_are_not_seen_before_they_show(
    scheduler: str, trace: Trace, values: dict[str, Any], hidden: int
) -> None:
    """Give the last flow of a coflow more bytes: nothing differs before that coflow's old end.

    The coflow keeps one flow, so that its end is that of the flow.
    """
    hidden %= len(trace)

    def with_size(size: float) -> Trace:
        coflows = []
        for k in range(len(trace)):
            first, last = trace.first_flow[k : k + 2]
            ports = zip(trace.src[first:last], trace.dst[first:last], strict=True)
            flows = [
                (i, j, b) for (i, j), b in zip(ports, trace.size_bytes[first:last], strict=True)
            ]
            if k == hidden:
                flows = [(flows[0][0], flows[0][1], size)]
            coflows.append((k, float(trace.arrival_s[k]), flows))
        return from_flows("hidden", trace.ports, coflows)

    rules = schedulers()[scheduler]
    small = run(with_size(3e6), rules, values).finish_s
    large = run(with_size(90e6), rules, values).finish_s
    before = small < small[hidden] - 1e-8
    np.testing.assert_allclose(large[before], small[before], rtol=1e-9)
    assert np.all(large[~before] >= small[hidden] - 1e-8)
