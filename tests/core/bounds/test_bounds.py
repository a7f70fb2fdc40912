"""Lower bounds: by hand, against a naive SRPT, and below every schedule that can be found."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.bounds import (
    NO_PORT,
    Bound,
    Loads,
    evaluate,
    isolation,
    loads,
    lower_bound,
    partition,
    single_port,
    srpt_flow_time,
)
from core.errors import ParameterError
from core.fluid.engine import run as fluid_run
from core.metrics import summarise
from core.registry import simulate
from core.schedulers import schedulers
from core.trace import Trace, from_flows
from core.workloads._format import read_trace
from core.workloads.toy import UNIT, build
from tests.fluid_cases import SCHEDULERS
from tests.paths import FACEBOOK
from tests.profiles import examples
from tests.strategies import fabrics, make, traces_of_4
from tests.twins.bounds import naive_srpt
from tests.twins.fluid import Twin

EFFORT = 2_000
SCHEDULER_RECORDS = schedulers()


def at_one(trace: Trace, **fabric: Any) -> Loads:
    """Loads at 1 byte per second, so that bytes are seconds."""
    one = [1.0] * trace.ports
    return loads(trace, **{"out_bps": one, "in_bps": one, **fabric})


# --- By hand --------------------------------------------------------------------------------


def test_worked_example() -> None:
    """C1 uses four ports for 2 s each, C2 two of them for 4 s, C3 the other two for 3 s; at 0.

    Isolation: (2 + 4 + 3) / 3 = 3. One port: C1 and C2 there take 2 + 6, C3 alone 3: 11/3; or C1
    and C3 2 + 5, C2 alone 4: also 11/3. A partition has C1 at one of the two only, so it is no
    better. Varys' 13/3 is best possible all the same.
    """
    load = loads(build({}, np.random.default_rng(0)))
    assert isolation(load).mean_s == 3
    assert single_port(load).mean_s == pytest.approx(11 / 3, rel=1e-15)
    assert partition(load, EFFORT).mean_s == pytest.approx(11 / 3, rel=1e-15)


def test_partition_takes_two_ports() -> None:
    """Two coflows of 1 s meet at sender 0, two others at sender 1: 1 + 2 at each, 6/4.

    One port proves 1 + 2 + 1 + 1 = 5/4, isolation 1.
    """
    trace = make(*[(0, [(src, dst, 1)]) for src in (0, 1) for dst in (2, 3)])
    load = at_one(trace)
    assert isolation(load).mean_s == 1
    assert single_port(load).mean_s == 5 / 4
    best = partition(load, EFFORT)
    assert best.mean_s == 6 / 4
    assert len(set(best.port)) == 2


def test_single_port_uses_arrivals() -> None:
    """10 s from 0 and 2 s from 1 at one port: the short one overtakes, 12 + 2."""
    trace = make((0, [(0, 1, 10)]), (1, [(0, 2, 2)]))
    assert single_port(at_one(trace)).mean_s == 7


def test_the_port_is_ingress_or_egress() -> None:
    """Ports of senders are numbered 0…P − 1, those of receivers follow."""
    fan_in = make((0, [(0, 3, 1)]), (0, [(1, 3, 1)]))
    fan_out = make((0, [(3, 0, 1)]), (0, [(3, 1, 1)]))
    assert single_port(at_one(fan_in)).port.tolist() == [7, 7]
    assert single_port(at_one(fan_out)).port.tolist() == [3, 3]


def test_capacities_per_port() -> None:
    """4 bytes from 0 at 1/2 B/s; 1 byte to 2 at 1/4 B/s."""
    trace = make((0, [(0, 1, 4)]), (0, [(1, 2, 1)]), ports=3)
    load = loads(trace, out_bps=[0.5, 9, 9], in_bps=[9, 3, 0.25])
    assert load.gamma_s.tolist() == [8, 4]
    assert isolation(load).mean_s == 6


def test_one_side_given_and_the_other_from_gbps() -> None:
    trace = make((0, [(0, 1, UNIT)]))
    load = loads(trace, 2.0, out_bps=[UNIT / 4] * 4)
    assert load.seconds.tolist() == [4, 0.5]


def test_local_flows() -> None:
    trace = make((0, [(1, 1, 5), (0, 2, 1)]), (7, [(3, 3, 2)]))
    assert at_one(trace).gamma_s.tolist() == [5, 2]
    free = at_one(trace, local_is_free=True)
    assert free.gamma_s.tolist() == [1, 0]
    assert free.port.tolist() == [0, 4 + 2]
    assert partition(free, EFFORT).mean_s == 1 / 2


def test_coflows_without_bytes_count_as_nothing() -> None:
    trace = make((0, [(0, 1, 0)]), (1, [(0, 1, 3), (2, 3, 0)]))
    load = at_one(trace)
    assert load.first_entry.tolist() == [0, 0, 2]
    for bound in (isolation(load), single_port(load), partition(load, EFFORT)):
        assert bound.mean_s == 3 / 2
    nothing = at_one(make((0, [(0, 1, 0)])))
    for bound in (isolation(nothing), single_port(nothing), partition(nothing, EFFORT)):
        assert bound.mean_s == 0


def test_one_host() -> None:
    trace = make((0, [(0, 0, 2)]), (0, [(0, 0, 1)]), ports=1)
    assert partition(at_one(trace), EFFORT).mean_s == 2


def test_lower_bound_is_the_best_of_the_three() -> None:
    trace = make((0, [(0, 1, UNIT)]), (0, [(0, 2, UNIT)]))
    best = lower_bound(trace, effort=EFFORT)
    assert isinstance(best, Bound)
    assert best.mean_s == 1.5
    assert lower_bound(trace, gbps=0.5, effort=EFFORT).mean_s == 3.0
    alone = lower_bound(make((3, [(0, 1, UNIT)])), effort=EFFORT)
    assert (alone.mean_s, alone.method, alone.port.tolist()) == (1.0, "isolation", [NO_PORT])


@pytest.mark.parametrize(
    ("fabric", "message"),
    [
        ({"gbps": 0.0}, "gbps: a capacity of 0.0 B/s, allowed is finite and > 0"),
        ({"gbps": float("nan")}, "gbps: a capacity of nan B/s"),
        ({"out_bps": [1.0, 2.0]}, r"out_bps has shape \(2,\), one value a port is \(4,\)"),
        ({"in_bps": [1.0, 2.0, -1.0, 4.0]}, "in_bps: a capacity of -1.0 B/s"),
    ],
)
def test_bad_capacities(fabric: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        lower_bound(make((0, [(0, 1, 1)])), **fabric)


# --- SRPT -----------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)), max_size=12))
def test_srpt_equals_the_naive_one(jobs: list[tuple[int, int]]) -> None:
    expected = naive_srpt([(t, Fraction(work)) for t, work in jobs])
    assert srpt_flow_time([t for t, _ in jobs], [w for _, w in jobs]) == expected


def test_srpt_of_many_jobs_at_once() -> None:
    """n jobs at 0 with 1…n seconds: the j-th shortest is waited for by n − j + 1 jobs."""
    n = 1000
    work = np.random.default_rng(0).permutation(n) + 1.0
    expected = sum((n - j) * (j + 1) for j in range(n))
    assert srpt_flow_time(np.zeros(n), work) == expected


def test_srpt_of_tiny_and_huge_jobs_ends() -> None:
    """Steps far below the clock's resolution: 10^9 s on the clock, 10^-12 s of work."""
    arrival = np.repeat([0.0, 1e9], 50)
    work = np.tile([1e-12, 1e9], 50)
    assert 0 < srpt_flow_time(arrival, work) < np.inf


# --- Laws -----------------------------------------------------------------------------------


def bounds_of(load: Loads) -> tuple[Bound, ...]:
    return isolation(load), single_port(load), partition(load, EFFORT)


@given(traces_of_4, fabrics())
@examples(200)
def test_each_bound_is_what_its_partition_proves(trace: Trace, fabric: dict[str, Any]) -> None:
    """Exact fractions and the naive SRPT give the same value from `Bound.port` alone."""
    twin = Twin(trace, "varys", **fabric)
    load = [dict.fromkeys(range(8), Fraction(0)) for _ in range(len(trace))]
    for f, k in enumerate(twin.coflow):
        for p in twin.ends[f]:
            load[k][p] += twin.left[f] / twin.capacity[p]
    for bound in bounds_of(loads(trace, **fabric)):
        total = sum(
            max(load[k].values()) for k in range(len(trace)) if bound.port[k] == NO_PORT
        ) + sum(
            naive_srpt([(int(t), load[k][p]) for k, t in enumerate(trace.arrival_s) if here[k]])
            for p in range(8)
            if any(here := bound.port == p)
        )
        assert bound.mean_s == pytest.approx(float(total / len(trace)), rel=1e-12)


@given(traces_of_4, fabrics(), st.sampled_from(["flow", "coflow"]))
@examples(100)
def test_no_scheduler_is_below(trace: Trace, fabric: dict[str, Any], trigger: str) -> None:
    best = max(bound.mean_s for bound in bounds_of(loads(trace, **fabric)))
    for scheduler in SCHEDULERS:
        twin = Twin(trace, scheduler, trigger=trigger, first_threshold=2, base=2, **fabric)
        ccts = [f - a for f, a in zip(twin.run(), twin.arrival, strict=True)]
        assert best <= float(sum(ccts) / len(trace)) * (1 + 1e-12)


@given(traces_of_4, fabrics())
@examples(60)
def test_no_order_of_the_coflows_is_below(trace: Trace, fabric: dict[str, Any]) -> None:
    """Brute force: every order, work-conserving."""
    best = max(bound.mean_s for bound in bounds_of(loads(trace, **fabric)))
    for ranks in permutations(range(len(trace))):
        twin = Twin(trace, "given", ranks=ranks, **fabric)
        ccts = [f - a for f, a in zip(twin.run(), twin.arrival, strict=True)]
        assert best <= float(sum(ccts) / len(trace)) * (1 + 1e-12)


@given(traces_of_4, fabrics(), st.integers(0, 300))
@examples(100)
def test_partition_is_never_below_isolation(
    trace: Trace, fabric: dict[str, Any], effort: int
) -> None:
    load = loads(trace, **fabric)
    assert partition(load, effort).mean_s >= isolation(load).mean_s * (1 - 1e-12)


def best_partition(load: Loads) -> float:
    """Try them all."""
    used = [
        load.port[load.first_entry[k] : load.first_entry[k + 1]].tolist() or [NO_PORT]
        for k in range(len(load))
    ]
    return max(evaluate(load, np.array(ports, np.int64)) for ports in product(*used))


@pytest.mark.parametrize(
    ("flows", "expected"),
    [
        # All four at receiver 0: 1 + 2 + 3 + 4. Three at sender 0 prove less, yet none of them
        # gains by leaving it alone.
        ([(0, 0, 1), (0, 0, 1), (0, 0, 1), (1, 0, 1)], 10 / 4),
        # The long two at receiver 0, 2 + 4, the short two at receiver 1, 1 + 2. Long and short
        # meet at the senders, 1 + 3 twice.
        ([(0, 0, 2), (0, 1, 1), (1, 0, 2), (1, 1, 1)], 9 / 4),
    ],
)
def test_search_leaves_a_trap(flows: list[tuple[int, int, float]], expected: float) -> None:
    load = at_one(make(*[(0, [flow]) for flow in flows]))
    assert best_partition(load) == expected
    assert partition(load).mean_s == expected


# A local search promises nothing for every trace: fixed examples, so that it cannot get worse.
@given(traces_of_4, fabrics())
@examples(60)
def test_search_is_close_to_the_best_partition(trace: Trace, fabric: dict[str, Any]) -> None:
    load = loads(trace, **fabric)
    best = best_partition(load)
    assert 0.9 * best <= partition(load, EFFORT).mean_s <= best * (1 + 1e-12)


@given(traces_of_4, fabrics(), st.integers(0, 7), st.sampled_from([1.5, 4.0]))
@examples(100)
def test_more_capacity_never_raises_a_bound(
    trace: Trace, fabric: dict[str, Any], port: int, factor: float
) -> None:
    side = "out_bps" if port < 4 else "in_bps"
    larger = {**fabric, side: list(fabric[side])}
    larger[side][port % 4] *= factor
    slow, fast = loads(trace, **fabric), loads(trace, **larger)
    for before, after in zip(bounds_of(slow)[:2], bounds_of(fast)[:2], strict=True):
        assert after.mean_s <= before.mean_s * (1 + 1e-12)
    # A search may find another partition, but what each one proves falls too.
    for bound in bounds_of(slow):
        assert evaluate(fast, bound.port) <= bound.mean_s * (1 + 1e-12)


def test_the_same_seed_gives_the_same_partition() -> None:
    load = many(coflows=200, ports=20)
    one, two = partition(load, 50_000, seed=3), partition(load, 50_000, seed=3)
    assert one.mean_s == two.mean_s
    assert np.array_equal(one.port, two.port)


def test_search_on_many_coflows_beats_one_port() -> None:
    load = many(coflows=200, ports=20)
    assert partition(load, 200_000).mean_s > single_port(load).mean_s > isolation(load).mean_s


def many(coflows: int, ports: int) -> Loads:
    rng = np.random.default_rng(1)
    made = []
    for k in range(coflows):
        width = int(rng.integers(1, 5))
        ends = rng.integers(0, ports, (2, width)).T.tolist()
        made.append((k, float(k), [(s, d, float(rng.pareto(1.2) + 1)) for s, d in ends]))
    return at_one(from_flows("many", ports, made))


# --- The Facebook trace ---------------------------------------------------------------------


@pytest.mark.skipif(not FACEBOOK.exists(), reason="the Facebook trace is not beside the checkout")
def test_facebook() -> None:
    """Reference values at 1 Gb/s with 1 MB = 10^6 B; the partition is the default search's."""
    load = loads(read_trace(FACEBOOK))
    assert isolation(load).mean_s == pytest.approx(14.72, abs=0.005)
    assert single_port(load).mean_s == pytest.approx(15.12, abs=0.005)
    best = partition(load)
    assert best.mean_s > 17.2
    assert evaluate(load, best.port) == best.mean_s


# --- In the results ---------------------------------------------------------------------------


def test_a_run_carries_its_bound_and_the_gap() -> None:
    """The partition bound of the worked example is 11/3, Varys reaches 13/3."""
    trace = build({}, np.random.default_rng(0))
    outcome = simulate(trace, "fluid", "varys", {})
    metrics = summarise(trace, outcome)
    assert metrics["bound_s"] == pytest.approx(11 / 3, rel=1e-12)
    assert metrics["gap"] == pytest.approx(13 / 11 - 1, rel=1e-12)
    alone = simulate(trace, "fluid", "varys", {"engine.bound": "isolation"})
    assert alone.bound_s == 3
    for without in (
        simulate(trace, "fluid", "varys", {"engine.bound": "none"}),
        simulate(trace, "coflowsim", "varys", {}),
    ):
        assert summarise(trace, without)["gap"] is summarise(trace, without)["bound_s"] is None


def test_the_bound_in_the_results_is_that_of_the_fabric() -> None:
    trace = build({}, np.random.default_rng(0))
    for gbps in (1.0, 2.0, 1.0):
        outcome = simulate(trace, "fluid", "aalo", {"fabric.gbps": gbps})
        assert outcome.bound_s == lower_bound(trace, gbps).mean_s
    slow = SCHEDULER_RECORDS["aalo"], {}, [UNIT / 2] * 3, [UNIT] * 3
    assert fluid_run(trace, *slow).bound_s == pytest.approx(22 / 3, rel=1e-12)


def test_a_coflow_alone_has_no_gap() -> None:
    trace = make((0.0, [(0, 1, 1e9 / 3), (2, 1, 1e9 / 7)]))
    assert summarise(trace, simulate(trace, "fluid", "varys", {}))["gap"] == 0.0


def test_a_trace_without_bytes_has_no_gap() -> None:
    trace = make((0.0, [(0, 1, 0.0)]))
    metrics = summarise(trace, simulate(trace, "fluid", "varys", {}))
    assert (metrics["bound_s"], metrics["gap"]) == (0.0, None)
