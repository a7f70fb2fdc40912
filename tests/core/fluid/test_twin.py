"""The twin of the fluid engine, by hand and by law: it has to be right before it can judge."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.trace import Trace, from_flows
from core.workloads.toy import UNIT, build
from tests.fluid_cases import SCHEDULERS
from tests.profiles import examples
from tests.strategies import flows_of_4, make, traces_of_4
from tests.twins.fluid import D_CLAS, IN_ORDER, Decision, Twin, exact, options_of

F = Fraction
Flows = list[tuple[int, int, float]]


def finish(trace: Trace, scheduler: str, **options: Any) -> list[F]:
    return Twin(trace, scheduler, **options).run()


def first_rates(trace: Trace, scheduler: str, **options: Any) -> dict[int, F]:
    twin = Twin(trace, scheduler, **options)
    twin.run()
    return twin.decisions[0].rates


# --- The worked example ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheduler", "mode", "expected"),
    [
        ("varys", "cumulative", [2, 6, 5]),
        ("aalo", "per_queue", [5, 6, F(9, 2)]),
        ("asebf", "per_queue", [3, 6, 5]),
        ("aalo", "cumulative", [4, 6, 5]),
        ("asebf", "cumulative", [3, 6, 5]),
    ],
)
def test_worked_example(scheduler: str, mode: str, expected: list[F]) -> None:
    """Capacity 1; C1 sends 2 on 0→1 and 2 on 1→2, C2 sends 4 on 0→1, C3 sends 3 on 1→2.

    C1 meets C2 on one pair of ports and C3 on another; whoever runs does so at rate 1 a flow.
    varys: Γ = 2, 4, 3. C1 ends at 2; then C2 and C3 use disjoint ports: 2 + 4 = 6, 2 + 3 = 5.

    Thresholds 1, 2, 4, … as quotas per queue.
    aalo: S of C1 grows at 2: it leaves queue 0 at 0.5 with 1.5 left on each flow. C2, C3 take
    queue 0 until S = 1 at 1.5. Queue 1, quota 2: C1 again first, S + 2 at 2.5, 0.5 left on each.
    C2, C3 have queue 1 until S = 3 at 4.5: C3 ends there, C2 has 1 left. Queue 2: C1 first, ends
    at 5; C2 ends at 6.
    asebf: W = 2, 1, 1, so λ of C1 grows at 1: out of queue 0 at 1, C2 and C3 at 2; in queue 1 C1
    is first and ends at 3, before its quota. C2 has 3 left: 6. C3 has 2 left: 5.

    Thresholds 1, 2, 4, … cumulative.
    aalo: C1 to S = 1 at 0.5; C2, C3 to 1 at 1.5; C1 to 2 at 2; C2, C3 to 2 at 3; C1 has 1 left on
    each flow and stays below 4 until it ends at 4; C2 has 2 left: 6; C3 has 1 left: 5.
    asebf: as before; C1 reaches λ = 2 just as it ends.
    """
    toy = build({}, np.random.default_rng(0))
    options = {"first_threshold": UNIT, "base": 2, "threshold_mode": mode}
    assert finish(toy, scheduler, out_bps=UNIT, in_bps=UNIT, **options) == expected


def test_worked_example_in_the_engine_s_parameters() -> None:
    values = {
        "fabric.gbps": 1.0,
        "queue.first_threshold_mb": 125.0,
        "queue.base": 2.0,
        "queue.threshold_mode": "per_queue",
        "engine.interval_ms": 0.0,
        "queue.weights": "",
        "workload.seed": 0,
    }
    toy = build({}, np.random.default_rng(0))
    assert Twin(toy, "aalo", options_of(values)).run() == [5, 6, F(9, 2)]


def test_fair_and_srpt_on_the_worked_example() -> None:
    """fair: every port is halved; C1 ends at 4, C2 has 2 left: 6, C3 has 1 left: 5.

    srpt: C1's flows are the smallest on their ports; then C2 and C3 run alone.
    """
    toy = build({}, np.random.default_rng(0))
    assert finish(toy, "fair", out_bps=UNIT, in_bps=UNIT) == [4, 6, 5]
    assert finish(toy, "srpt", out_bps=UNIT, in_bps=UNIT) == [2, 6, 5]


# --- Orders ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheduler", "rival", "expected"),
    [
        ("fifo", 2, [3, 5]),
        ("scf", 2, [5, 2]),  # largest flow 3 against 2
        ("ncf", 2, [3, 5]),  # 1 flow against 2
        ("lcf", 2, [3, 5]),  # 3 bytes against 4
        ("lcf", 1, [4, 1]),  # 3 bytes against 2
        ("varys", 2, [5, 2]),  # Γ 3 against 2
    ],
)
def test_orders(scheduler: str, rival: int, expected: list[int]) -> None:
    """One flow of 3 against two flows of `rival`, one of which shares its ports."""
    trace = make((0, [(0, 1, 3)]), (0, [(0, 1, rival), (2, 3, rival)]))
    assert finish(trace, scheduler) == expected


@pytest.mark.parametrize("scheduler", ["scf", "lcf", "varys"])
def test_static_and_remaining(scheduler: str) -> None:
    """4 bytes at 0, 3 at 2 on the same ports: at 2 the first has 4 (static) or 2 (remaining)."""
    trace = make((0, [(0, 1, 4)]), (2, [(0, 1, 3)]))
    assert finish(trace, scheduler, order="static") == [7, 5]
    assert finish(trace, scheduler, order="remaining") == [4, 7]


def test_equal_keys_go_by_arrival_then_position() -> None:
    trace = make((0, [(0, 1, 2)]), (0, [(0, 1, 2)]), (1, [(0, 1, 2)]))
    for scheduler in ("scf", "ncf", "lcf", "varys"):
        assert finish(trace, scheduler) == [2, 4, 6]


def test_ranks_decide_for_given() -> None:
    trace = make((0, [(0, 1, 2)]), (0, [(0, 1, 3)]))
    assert finish(trace, "given", ranks=[1, 0]) == [5, 3]


# --- Allocation -----------------------------------------------------------------------------


def test_madd_ends_all_flows_together() -> None:
    """Γ = 3 at sender 0: rates 2/3 and 1/3."""
    trace = make((0, [(0, 1, 2), (0, 2, 1)]))
    assert first_rates(trace, "varys", backfill=False) == {0: F(2, 3), 1: F(1, 3)}
    assert finish(trace, "varys") == [3]


def test_madd_waits_for_a_port_and_backfill_does_not() -> None:
    """C1 holds sender 0 until 4. C2 sends 2 from 0 and 2 from 3 to host 2, Γ = 4.

    Without backfill C2 waits: 4 + 4. With it 3→2 runs from 0 to 2, and 0→2 from 4 to 6.
    """
    trace = make((0, [(0, 1, 4)]), (0, [(0, 2, 2), (3, 2, 2)]))
    assert finish(trace, "fifo", backfill=False) == [4, 8]
    assert finish(trace, "fifo", backfill=True) == [4, 6]


def test_madd_on_what_is_left_of_a_port() -> None:
    """C1 sends 2 and 1 to two hosts from 0: rates 2/3, 1/3. C2 gets 1/3 of host 1."""
    trace = make((0, [(0, 1, 2), (0, 2, 1)]), (0, [(3, 1, 1)]))
    rates = first_rates(trace, "fifo", backfill=False)
    assert rates == {0: F(2, 3), 1: F(1, 3), 2: F(1, 3)}
    assert finish(trace, "fifo", backfill=False) == [3, 3]


def test_equal_split_max_min_and_backfill_inside_a_coflow() -> None:
    """0→1, 0→2, 3→2, 4→2: sender 0 has two flows, receiver 2 has three.

    Equal split: 0→1 gets min(1/2, 1), the others min(1/2, 1/3). Max-min: 1/3 each fills receiver
    2, then 0→1 takes what sender 0 has left, 2/3; backfill brings equal split to the same.
    """
    trace = make((0, [(0, 1, 1), (0, 2, 1), (3, 2, 1), (4, 2, 1)]), ports=5)
    third = F(1, 3)
    for within, backfill, top in [
        ("equal_split", False, F(1, 2)),
        ("equal_split", True, F(2, 3)),
        ("max_min", False, F(2, 3)),
    ]:
        rates = first_rates(trace, "aalo", within=within, backfill=backfill)
        assert rates == {0: top, 1: third, 2: third, 3: third}


def test_equal_split_counts_only_flows_that_can_move() -> None:
    """C1 fills receiver 1. Of C2's 2→1 and 2→3 only the second can move, so it is not halved."""
    trace = make((0, [(0, 1, 4)]), (0, [(2, 1, 1), (2, 3, 1)]))
    assert first_rates(trace, "aalo", backfill=False) == {0: 1, 2: 1}


def test_matching_takes_both_ports_whole() -> None:
    """2 bytes 0→1 lose both ports to 1 byte 0→2 and 1 byte 3→1: they go from 1 to 3."""
    trace = make((0, [(0, 1, 2)]), (0, [(0, 2, 1)]), (0, [(3, 1, 1)]))
    assert first_rates(trace, "srpt") == {1: 1, 2: 1}
    assert finish(trace, "srpt") == [3, 1, 1]


def test_capacities_per_port() -> None:
    """Sender 0 has 1/2, receiver 1 has 3, receiver 2 has 1/4: 4 bytes take 8 s, 1 byte 4 s."""
    out_bps, in_bps = [0.5, 9, 9], [9, 3, 0.25]
    trace = make((0, [(0, 1, 4)]), (0, [(1, 2, 1)]), ports=3)
    for scheduler in SCHEDULERS:
        assert finish(trace, scheduler, out_bps=out_bps, in_bps=in_bps) == [8, 4]


# --- Queues ---------------------------------------------------------------------------------


def test_weights_between_queues() -> None:
    """C1 (4 bytes) is demoted at 1, just as C2 (2 bytes) arrives on the same ports; weights 2 : 1.

    C2 runs at 2/3 and reaches 1 byte at 2.5, when C1 has sent 1 + 1/2. Both are in the last queue
    now, C1 first: 2.5 + 2.5 = 5, then 1 byte of C2: 6.
    """
    trace = make((0, [(0, 1, 4)]), (1, [(0, 1, 2)]))
    options: dict[str, Any] = {
        "between": "wfq",
        "weights": [2, 1],
        "count": 2,
        "first_threshold": 1,
    }
    assert finish(trace, "aalo", **options) == [5, 6]
    assert finish(trace, "aalo", **{**options, "between": "strict"}) == [5, 6]
    twin = Twin(trace, "aalo", **options)
    twin.run()
    assert twin.decisions[1] == Decision(F(1), {0: F(1, 3), 1: F(2, 3)})


def test_default_weights_and_unused_shares_flow_down() -> None:
    """K = 3: weights 3, 2, 1. After 1 s C1 is in queue 1 and C2, on other ports, in queue 0.

    C2 has 3/5 of its ports, the rest only by backfill; C1 has 2/5 and the 3/5 unused above it.
    """
    trace = make((0, [(0, 1, 4)]), (1, [(2, 3, 1)]))
    options: dict[str, Any] = {"between": "wfq", "count": 3, "first_threshold": 1, "base": 10}
    for backfill, rate in [(False, F(3, 5)), (True, F(1))]:
        twin = Twin(trace, "aalo", backfill=backfill, **options)
        twin.run()
        assert twin.decisions[1] == Decision(F(1), {0: F(1), 1: rate})


def test_inside_a_queue_by_arrival_not_by_entry() -> None:
    """C2 is demoted first, being alone on its ports; on 0→1 C1 is before it all the same.

    Q0 = 2, K = 2. C1 has 3 bytes on 0→1, C2 1 byte on 0→1 and 3 on 2→3. C2 enters queue 1 at 2,
    together with C1 by now; C1 ends at 3 and C2's flow on 0→1 at 4.
    """
    trace = make((0, [(0, 1, 3)]), (0, [(0, 1, 1), (2, 3, 3)]))
    assert finish(trace, "aalo", count=2, first_threshold=2) == [3, 4]


@pytest.mark.parametrize(
    ("width", "expected"),
    [("receiver", 1), ("sender", 2), ("max", 2), ("min", 1), ("sum", 3), ("flows", 2)],
)
def test_widths(width: str, expected: int) -> None:
    trace = make((0, [(0, 2, 1), (1, 2, 0)]))
    assert Twin(trace, "asebf", width=width).width == [expected]
    assert Twin(trace, "aalo", width=width).width == [1]


# --- Triggers -------------------------------------------------------------------------------


def test_trigger() -> None:
    """1 byte to host 1 and 3 to host 2 from sender 0, half the port each: the first ends at 2.

    By flows the second then has the port alone: 2 + 2. By coflows it keeps its half: 6.
    """
    trace = make((0, [(0, 1, 1), (0, 2, 3)]))
    for scheduler in ("aalo", "asebf", "fair"):
        assert finish(trace, scheduler, trigger="flow") == [4]
        assert finish(trace, scheduler, trigger="coflow") == [6]


def test_matching_by_coflow_events_goes_on_when_nothing_moves() -> None:
    """1 byte, then 2 bytes: the end of the first is no coflow's end, but nothing else will come."""
    trace = make((0, [(0, 1, 1), (0, 2, 2)]))
    assert finish(trace, "srpt", trigger="coflow") == [3]


def test_interval() -> None:
    """Ticks every 2 s. C1 arrives at 1 and starts at 2, with C2; C1 ends at 3, C2 goes 4 → 5."""
    trace = make((1, [(0, 1, 1)]), (2, [(0, 1, 1)]))
    assert finish(trace, "fifo", interval=2) == [3, 5]
    assert finish(trace, "fifo", interval=0) == [2, 3]


def test_demotion_at_ticks() -> None:
    """C1 reaches the threshold 1 at 1 but holds the ports until 2; C2 goes 2 → 3; C1 4 → 6.

    At once: C1 0 → 1, C2 1 → 2, C1 2 → 5.
    """
    trace = make((0, [(0, 1, 4)]), (0, [(0, 1, 1)]))
    options = {"first_threshold": 1, "count": 2}
    assert finish(trace, "aalo", interval=2, **options) == [6, 3]
    assert finish(trace, "aalo", interval=0, **options) == [5, 2]


def test_per_queue_growth_counts_from_the_tick_of_the_demotion() -> None:
    """Ticks every 4 s, quotas 1, 2, 4. C1 sends 4 bytes by 4 and only then enters queue 1.

    So it is still in queue 1 at 4, not two queues down; with cumulative thresholds 1, 2, 4 it has
    passed all three.
    """
    trace = make((0, [(0, 1, 5)]))
    options: dict[str, Any] = {"interval": 4, "first_threshold": 1, "base": 2, "count": 4}
    for mode, queue in [("per_queue", 1), ("cumulative", 3)]:
        twin = Twin(trace, "aalo", threshold_mode=mode, **options)
        twin.run()
        assert twin.queue == [queue]


def test_milliseconds_meet_their_ticks() -> None:
    """0.003 and three ticks of 0.001 are one instant, whatever binary makes of them."""
    assert exact(0.003) == 3 * exact(0.001)
    trace = make((0.003, [(0, 1, 1)]))
    assert finish(trace, "fifo", interval=0.001) == [1 + F(3, 1000)]


# --- Nothing to send ------------------------------------------------------------------------


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("interval", [0, 2])
def test_zero_bytes_are_done_on_arrival(scheduler: str, interval: int) -> None:
    trace = make((1, [(0, 1, 0), (2, 3, 0)]), (2, [(0, 1, 2), (0, 2, 0)]))
    twin = Twin(trace, scheduler, interval=interval)
    assert twin.run() == [1, 4]
    assert twin.flow_finish == [1, 1, 4, 2]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_local_flows(scheduler: str) -> None:
    """1→1 with 5 bytes uses both ports of host 1, unless local flows are free."""
    trace = make((0, [(1, 1, 5), (0, 2, 1)]), (7, [(3, 3, 2)]))
    assert finish(trace, scheduler) == [5, 9]
    assert finish(trace, scheduler, local_is_free=True) == [1, 7]


def test_free_local_flows_do_not_enter_the_keys() -> None:
    """A has 9 local bytes and 1 on 0→1, B has 2 there: with free local flows A is the smaller."""
    trace = make((0, [(0, 0, 9), (0, 1, 1)]), (0, [(0, 1, 2)]))
    for scheduler in ("scf", "lcf", "varys"):
        assert finish(trace, scheduler, local_is_free=True) == [1, 3]
        assert finish(trace, scheduler)[1] == 2


# --- Laws -----------------------------------------------------------------------------------

capacities = st.lists(st.sampled_from([F(1, 2), 1, 2]), min_size=4, max_size=4)
options = st.fixed_dictionaries(
    {
        "out_bps": capacities,
        "in_bps": capacities,
        "local_is_free": st.booleans(),
        "order": st.sampled_from(["static", "remaining"]),
        "count": st.integers(1, 3),
        "first_threshold": st.integers(1, 4),
        "base": st.sampled_from([1, 2, 3.5]),
        "threshold_mode": st.sampled_from(["cumulative", "per_queue"]),
        "width": st.sampled_from(["receiver", "sender", "max", "min", "sum", "flows"]),
        "between": st.sampled_from(["strict", "wfq"]),
        "within": st.sampled_from(["equal_split", "max_min"]),
        "backfill": st.booleans(),
        "trigger": st.sampled_from(["flow", "coflow"]),
        "interval": st.sampled_from([0, 0, F(3, 2)]),
    }
)
names = st.sampled_from(SCHEDULERS)


def live_at(twin: Twin, time: F) -> list[int]:
    arrival = [twin.arrival[k] for k in twin.coflow]
    return [
        f
        for f in range(len(twin.size))
        if arrival[f] <= time < twin.flow_finish[f] and twin._starts_with(f) > 0
    ]


def port_sums(twin: Twin, rates: dict[int, F]) -> list[F]:
    total = [F(0)] * len(twin.capacity)
    for f, rate in rates.items():
        for p in twin.ends[f]:
            total[p] += rate
    return total


@given(traces_of_4, names, options)
@examples(300)
def test_laws(trace: Trace, scheduler: str, chosen: dict[str, Any]) -> None:
    """Rates fit the ports, bytes are conserved, nobody beats Γ, nothing idles that need not."""
    twin = Twin(trace, scheduler, **chosen)
    gamma = [twin.gamma(twin.live(k), twin.capacity) for k in range(len(trace))]
    finish = twin.run()
    assert all(f - a >= g for f, a, g in zip(finish, twin.arrival, gamma, strict=True))
    sent = [F(0)] * len(twin.size)
    ends = [d.time for d in twin.decisions[1:]] + [max(finish)]
    for (time, rates), end in zip(twin.decisions, ends, strict=False):
        assert twin.next_tick(time) == time
        used = port_sums(twin, rates)
        assert all(rate > 0 for rate in rates.values())
        assert all(u <= c for u, c in zip(used, twin.capacity, strict=True))
        for f, rate in rates.items():
            sent[f] += rate * (min(end, twin.flow_finish[f]) - time)
        for f in live_at(twin, time):
            a, b = twin.ends[f]
            if scheduler == "srpt":
                assert used[a] > 0 or used[b] > 0
            elif chosen["backfill"] or scheduler == "fair":
                assert used[a] == twin.capacity[a] or used[b] == twin.capacity[b]
    assert sent == [twin._starts_with(f) for f in range(len(sent))]


@given(traces_of_4, names, options)
@examples(100)
def test_twice_the_bytes_and_the_gaps_take_twice_as_long(
    trace: Trace, scheduler: str, chosen: dict[str, Any]
) -> None:
    double = from_flows(
        "double",
        trace.ports,
        [
            (
                k,
                2 * trace.arrival_s[k],
                [
                    (int(trace.src[f]), int(trace.dst[f]), 2 * trace.size_bytes[f])
                    for f in range(trace.first_flow[k], trace.first_flow[k + 1])
                ],
            )
            for k in range(len(trace))
        ],
    )
    scaled = {
        **chosen,
        "interval": 2 * chosen["interval"],
        "first_threshold": 2 * chosen["first_threshold"],
    }
    once, twice = finish(trace, scheduler, **chosen), finish(double, scheduler, **scaled)
    assert twice == [2 * t for t in once]


@given(flows_of_4, st.sampled_from(IN_ORDER[:-1]), capacities, st.booleans())
@examples(100)
def test_a_lone_coflow_under_madd_ends_at_gamma(
    coflow: Flows, scheduler: str, capacity: list[F], backfill: bool
) -> None:
    trace = make((3, coflow))
    twin = Twin(trace, scheduler, out_bps=[*capacity, 1], in_bps=[1, *capacity], backfill=backfill)
    gamma = twin.gamma(twin.live(0), twin.capacity)
    assert twin.run() == [3 + gamma]


@given(traces_of_4, st.sampled_from(D_CLAS), options)
@examples(100)
def test_one_queue_knows_no_thresholds(
    trace: Trace, scheduler: str, chosen: dict[str, Any]
) -> None:
    """With K = 1 neither the limits, nor the widths, nor the shares between queues matter."""
    plain = {
        **chosen,
        "count": 1,
        "first_threshold": 1000,
        "between": "strict",
        "threshold_mode": "cumulative",
    }
    assert finish(trace, scheduler, **{**chosen, "count": 1}) == finish(trace, "aalo", **plain)
