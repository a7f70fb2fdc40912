"""The fluid engine by hand, against its exact twin, and at the edges."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import registry
from core.errors import ParameterError, SimulationError
from core.fluid import Ordered, Queues, View, run, runner
from core.fluid.kernels.bit_ops import lowest, popcount
from core.metrics import summarise
from core.parameters import Values, defaults
from core.schedulers import Scheduler, schedulers
from core.trace import Floats, Trace, from_flows
from core.workloads import workloads
from core.workloads.toy import UNIT
from core.workloads.toy import build as toy
from tests import strategies
from tests.fluid_cases import EDGE_TRACES, SCHEDULERS
from tests.paths import FACEBOOK
from tests.profiles import examples
from tests.strategies import MB, Capacities, traces, values, with_capacities
from tests.twins.fluid import Twin, options_of
from tests.values import by_key


def finish(trace: Trace, name: str, **values: Any) -> Floats:
    """Run with keys written with two underscores for dots."""
    return run(trace, schedulers()[name], by_key(**values)).finish_s


def make(*coflows: tuple[float, Sequence[tuple[int, int, float]]], ports: int = 4) -> Trace:
    """Build a trace from (arrival, flows in UNIT)."""
    in_units = [(t, [(i, j, b * UNIT) for i, j, b in flows]) for t, flows in coflows]
    return strategies.make(*in_units, ports=ports)


# --- By hand ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheduler", "mode", "expected"),
    [
        ("varys", None, [2, 6, 5]),
        ("aalo", "per_queue", [5, 6, 4.5]),
        ("asebf", "per_queue", [3, 6, 5]),
        ("aalo", "cumulative", [4, 6, 5]),
        ("asebf", "cumulative", [3, 6, 5]),
        ("fifo", None, [2, 6, 5]),
        ("srpt", None, [2, 6, 5]),
        ("fair", None, [4, 6, 5]),
    ],
)
def test_worked_example(scheduler: str, mode: str | None, expected: list[float]) -> None:
    """The A-SEBF paper's figures 1–4; the arithmetic stands in the twin's test.

    fair: each flow has 1/2 until C1 ends at 4; C2 has 2 left, C3 has 1 left: 6 and 5.
    """
    queues: dict[str, Any] = {}
    if mode is not None:
        queues = {
            "queue__first_threshold_mb": 125.0,
            "queue__base": 2.0,
            "queue__threshold_mode": mode,
        }
    finish_s = finish(toy({}, np.random.default_rng(0)), scheduler, fabric__gbps=1.0, **queues)
    np.testing.assert_allclose(finish_s, expected, rtol=1e-9)


def test_capacity_of_ended_flows_idles_with_triggers_by_coflow() -> None:
    """C0 has 0→1 with 1 and 0→2 with 3, by equal split 1/2 each: the first ends at 2.

    By flow, the other then has the port: 2 + 2 = 4. By coflow it stays at 1/2: 6.
    """
    trace = make((0.0, [(0, 1, 1), (0, 2, 3)]))
    options = {"queue__count": 1, "engine__backfill": False}
    assert finish(trace, "aalo", **options)[0] == pytest.approx(4, rel=1e-12)
    by_coflow = finish(trace, "aalo", engine__trigger="coflow", **options)
    assert by_coflow[0] == pytest.approx(6, rel=1e-12)


def test_interval_makes_arrivals_wait_for_the_tick() -> None:
    """Arrival at 0.25 s, ticks each 0.2 s: starts at 0.4 s; an arrival on a tick starts there."""
    for arrival, start in ((0.25, 0.4), (0.4, 0.4), (0.0, 0.0)):
        trace = make((arrival, [(0, 1, 1)]))
        assert finish(trace, "fifo", engine__interval_ms=200.0)[0] == pytest.approx(start + 1)


def test_weighted_queues_share_each_port() -> None:
    """Q0 = 1 unit. C0 is in queue 1 from 1 on; C1 arrives at 1 into queue 0, weights 3 : 1.

    C1 has 3/4: its 1.5 units put it at S = 1 in 4/3 s, at 7/3, when C0 has 1/3 in queue 1. Then
    both are in queue 1, C0 first with the whole port.
    """
    trace = make((0.0, [(0, 1, 2)]), (1.0, [(0, 1, 1.5)]))
    options = {
        "queue__first_threshold_mb": UNIT / MB,
        "queue__count": 2,
        "queue__between": "wfq",
        "queue__weights": "3,1",
    }
    np.testing.assert_allclose(finish(trace, "aalo", **options), [3, 3.5], rtol=1e-12)


def test_local_flows_may_be_free() -> None:
    trace = make((0.5, [(0, 0, 5)]), (0.5, [(0, 0, 5), (0, 1, 1)]))
    for name in SCHEDULERS:
        np.testing.assert_allclose(finish(trace, name, fabric__local_is_free=True), [0.5, 1.5])


def test_capacities_per_port() -> None:
    """Sender 0 has 2, receiver 1 has 1/2 of a unit: 4 units take 8 s."""
    trace = make((0.0, [(0, 1, 4)]), ports=2)
    outcome = run(trace, schedulers()["varys"], {}, [2 * UNIT, UNIT], [UNIT, UNIT / 2])
    assert outcome.finish_s[0] == pytest.approx(8)
    assert outcome.gamma_s[0] == pytest.approx(8)
    with pytest.raises(ParameterError, match="out_bps: give 2 capacities"):
        run(trace, schedulers()["varys"], {}, [UNIT])
    with pytest.raises(ParameterError, match="in_bps"):
        run(trace, schedulers()["varys"], {}, None, [UNIT, 0.0])


# --- Against the twin ---------------------------------------------------------------------------


def assert_as_the_twin(
    trace: Trace, scheduler: str, values: dict[str, Any], capacities: Capacities = (None, None)
) -> None:
    exact = [float(t) for t in Twin(trace, scheduler, options_of(values, *capacities)).run()]
    finish_s = run(trace, schedulers()[scheduler], values, *capacities).finish_s
    np.testing.assert_allclose(finish_s, exact, rtol=1e-9, atol=2e-9)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(fabric=with_capacities(), values=values())
@examples(60)
def test_as_the_exact_twin(
    scheduler: str, fabric: tuple[Trace, Capacities], values: dict[str, Any]
) -> None:
    trace, capacities = fabric
    assert_as_the_twin(trace, scheduler, values, capacities)


@pytest.mark.parametrize("scheduler", ["aalo", "asebf"])
@given(
    fabric=with_capacities(),
    values=values(queue__between="wfq", queue__count=3),
    weights=st.sampled_from(["1,2,3", "0.25,8,1", "5,5,5", "1e3,1,1e-3"]),
)
@examples(40)
def test_weights_as_the_exact_twin_has_them(
    scheduler: str, fabric: tuple[Trace, Capacities], values: dict[str, Any], weights: str
) -> None:
    """Weights that rise, fall and differ much; with other ones than K, K − 1, … in each case."""
    trace, capacities = fabric
    assert_as_the_twin(trace, scheduler, values | {"queue.weights": weights}, capacities)


@pytest.mark.parametrize("trigger", ["flow", "coflow"])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("trace", EDGE_TRACES.values(), ids=EDGE_TRACES)
def test_edges_as_the_exact_twin_has_them(trace: Trace, scheduler: str, trigger: str) -> None:
    for order in ("static", "remaining"):
        assert_as_the_twin(trace, scheduler, {"engine.trigger": trigger, "order": order})


# --- Edges --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("trigger", ["flow", "coflow"])
def test_a_byte_beside_a_petabyte(scheduler: str, trigger: str) -> None:
    sizes = [1.0, 1e15, 3.0, 1e9, 1e12, 7.0]
    flows = [(i % 3, i // 2, size) for i, size in enumerate(sizes)]
    trace = from_flows("wide", 3, [(k, 1e-3 * k, flows[k:]) for k in range(6)])
    outcome = run(trace, schedulers()[scheduler], {"engine.trigger": trigger})
    assert np.all(outcome.finish_s - outcome.start_s >= outcome.gamma_s * (1 - 1e-9))


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_coflows_without_bytes_complete_at_arrival(scheduler: str) -> None:
    trace = make((0.0, [(0, 1, 0)]), (0.5, [(0, 1, 1)]), (2.0, [(1, 2, 0), (0, 1, 0)]))
    np.testing.assert_allclose(finish(trace, scheduler), [0, 1.5, 2])


@pytest.mark.parametrize("ports", [63, 64, 65, 130])
def test_more_ports_than_bits_in_a_word(ports: int) -> None:
    """A full mesh of two coflows in order: the second waits for the first, P + P seconds."""
    mesh = [(i, j, 1) for i in range(ports) for j in range(ports)]
    trace = make((0.0, mesh), (0.0, mesh), ports=ports)
    for name in ("fifo", "aalo"):
        np.testing.assert_allclose(finish(trace, name, queue__count=1), [ports, 2 * ports])


def test_weights_have_to_fit() -> None:
    trace = make((0.0, [(0, 1, 1)]))
    for text in ("1,2", "1,x,3", "1,0,2", "1,-1,2"):
        with pytest.raises(ParameterError, match="give 3 numbers"):
            finish(trace, "aalo", queue__count=3, queue__between="wfq", queue__weights=text)
    weights = {"queue.between": "wfq", "queue.weights": "3,2,1", "queue.count": 3}
    np.testing.assert_array_equal(runner.queue_weights(weights), [3, 2, 1])


def test_bits() -> None:
    for word in (1, 6, 2**63, 2**64 - 1, 2**40 + 2**20):
        assert popcount(np.uint64(word)) == word.bit_count()
        assert lowest(np.uint64(word)) == (word & -word).bit_length() - 1


# --- What is read -------------------------------------------------------------------------------


def test_relevance() -> None:
    def keys(scheduler: str) -> set[str]:
        finish_s = registry.reads(scheduler, "fluid", "toy")
        return {p.key for p in finish_s if not p.key.startswith("shuffle.")}

    engine = {"engine.trigger", "engine.interval_ms", "engine.bound"}
    engine |= {"fabric.gbps", "fabric.local_is_free"}
    assert keys("fair") == keys("srpt") == engine
    assert keys("fifo") == keys("ncf") == engine | {"engine.backfill"}
    assert keys("scf") == keys("lcf") == keys("varys") == engine | {"engine.backfill", "order"}
    queues = {"first_threshold_mb", "base", "count", "threshold_mode", "between", "weights"}
    d_clas = engine | {"engine.backfill", "engine.within"} | {f"queue.{key}" for key in queues}
    assert keys("aalo") == d_clas
    assert keys("asebf") == d_clas | {"width"}


# --- Rules in plain Python ----------------------------------------------------------------------


def custom(rule: Ordered | Queues, info: Any = "clairvoyant") -> Scheduler:
    return Scheduler("mine", "", "", info, {"fluid": rule})


@pytest.mark.parametrize(
    ("name", "attribute"),
    [("scf", "remaining_length_bytes"), ("lcf", "remaining_bytes"), ("varys", "remaining_gamma_s")],
)
@given(trace=traces(), values=values(order="remaining"))
@examples(20)
def test_a_python_key_does_what_the_kernel_does(
    name: str, attribute: str, trace: Trace, values: dict[str, Any]
) -> None:
    def key(view: View, values: Values) -> Floats:
        return np.array(
            [round(float(x), 12 - 9 * ("bytes" in attribute)) for x in getattr(view, attribute)]
        )

    expected = run(trace, schedulers()[name], values).finish_s
    np.testing.assert_allclose(
        run(trace, custom(Ordered(key)), values).finish_s, expected, rtol=1e-9
    )


def test_a_python_weight_makes_queues() -> None:
    def weight(view: View, values: Values) -> Any:
        return [max(1.0, float(n)) for n in view.receivers]

    trace = EDGE_TRACES["65 ports"]
    expected = finish(trace, "asebf", queue__first_threshold_mb=1.0)
    values = {"queue.first_threshold_mb": 1.0}
    finish_s = run(trace, custom(Queues(weight), "width"), values).finish_s
    np.testing.assert_array_equal(finish_s, expected)


def test_attained_bytes_grow_as_the_rates_say() -> None:
    """Alone at rate 1 from 0 on; at 0.5, when C1 arrives, C0 has sent half a unit."""
    seen: list[tuple[float, list[float]]] = []

    def key(view: View, values: Values) -> Floats:
        seen.append((view.now_s, (view.attained_bytes / UNIT).tolist()))
        return view.arrival_s

    run(make((0.0, [(0, 1, 1)]), (0.5, [(0, 1, 1)])), custom(Ordered(key), "blind"), {})
    assert seen[:2] == [(0.0, [0.0]), (0.5, [0.5, 0.0])]


@pytest.mark.parametrize(
    ("info", "name"),
    [
        ("blind", "senders"),
        ("blind", "receivers"),
        ("blind", "flows"),
        ("width", "size_bytes"),
        ("width", "length_bytes"),
        ("width", "gamma_s"),
        ("width", "remaining_bytes"),
        ("blind", "remaining_length_bytes"),
        ("width", "remaining_gamma_s"),
    ],
)
def test_a_view_shows_no_more_than_info_allows(info: str, name: str) -> None:
    def key(view: View, values: Values) -> Any:
        return getattr(view, name)

    trace = make((0.0, [(0, 1, 1)]))
    with pytest.raises(
        AttributeError, match=f"mine declares info={info} and may not look at {name}"
    ):
        run(trace, custom(Ordered(key), info), {})
    assert run(trace, custom(Ordered(key)), {}).finish_s[0] == 1.0


def test_a_view_hands_out_copies() -> None:
    def key(view: View, values: Values) -> Floats:
        arrival = view.arrival_s
        arrival[:] = 7.0
        return arrival

    trace = make((0.0, [(0, 1, 1)]), (0.5, [(0, 1, 1)]))
    np.testing.assert_allclose(run(trace, custom(Ordered(key)), {}).finish_s, [1, 2])


def test_numbers_of_a_rule_have_to_be_usable() -> None:
    trace = make((0.0, [(0, 1, 1)]))
    for bad in ([], [1.0, 2.0], [np.nan]):
        with pytest.raises(ParameterError, match="scheduler=mine: its rule returned"):
            run(trace, custom(Ordered(lambda view, values, bad=bad: np.array(bad))), {})
    with pytest.raises(ParameterError, match="weights must be > 0"):
        run(trace, custom(Queues(lambda view, values: np.zeros(1))), {})


# --- The Facebook trace -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def facebook() -> Trace:
    if not FACEBOOK.exists():
        pytest.skip(f"{FACEBOOK} is not there")
    workload = workloads()["trace"]
    values = defaults(workload.parameters) | {"workload.path": str(FACEBOOK)}
    return workload.build(values, np.random.default_rng(0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheduler", "trigger", "mean"),
    [
        ("fifo", "coflow", 195.738288),
        ("varys", "coflow", 54.656888),
        ("aalo", "coflow", 44.234128),
        ("asebf", "coflow", 39.130495),
        ("fair", "coflow", 60.472321),
        ("varys", "flow", 23.021908),
        ("aalo", "flow", 37.973828),
        ("asebf", "flow", 34.743685),
        ("fair", "flow", 58.790410),
    ],
)
def test_facebook(facebook: Trace, scheduler: str, trigger: str, mean: float) -> None:
    outcome = run(facebook, schedulers()[scheduler], {"engine.trigger": trigger})
    cct = outcome.finish_s - outcome.start_s
    assert cct.mean() == pytest.approx(mean, rel=1e-6)
    assert cct.mean() >= 15.9
    assert np.all(cct >= outcome.gamma_s - 1e-8)


# --- The resolution of times ----------------------------------------------------------------------


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_flows_below_the_clock_s_resolution_are_refused(scheduler: str) -> None:
    """At 10^9 Gb/s a unit is over in 1 ns, which is as long as the clock can tell."""
    trace = make((0.0, [(0, 1, 1)]), (0.0, [(0, 1, 2)]))
    with pytest.raises(SimulationError, match=r"differ by 1e-09 s: lower fabric.gbps \(1e\+09\)"):
        finish(trace, scheduler, fabric__gbps=1e9)
    np.testing.assert_allclose(sorted(finish(trace, scheduler, fabric__gbps=1e3))[1], 0.003)


def test_short_coflows_that_arrive_late_are_refused() -> None:
    """8 ms at 2 · 10^8 s, where times less than 0.2 ms apart count as equal."""
    trace = make((2e8, [(0, 1, 0.008)]))
    with pytest.raises(SimulationError, match=r"begin near 0 s \(the latest is at 2e\+08 s"):
        finish(trace, "fair")
    assert finish(make((2e8, [(0, 1, 10)])), "fair")[0] == pytest.approx(2e8 + 10, rel=1e-15)


@pytest.mark.parametrize("trigger", ["flow", "coflow"])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_no_gap_is_below_0(scheduler: str, trigger: str) -> None:
    """Γ from 2 µs on, and late: each end may be early by the resolution, the bound is exact."""
    r = random.Random(7)
    flows = [[(0, 1, 2e-6 + r.random() * 1e-8)] for _ in range(20)]
    for trace in (
        make(*((2e-7 * k, flow) for k, flow in enumerate(flows))),
        make(*((9e5 + 1e-3 * k, [(0, 1, 1e-3 + k * 1e-9)]) for k in range(20))),
    ):
        outcome = run(trace, schedulers()[scheduler], {"engine.trigger": trigger})
        gap = summarise(trace, outcome)["gap"]
        assert gap is not None
        assert gap >= 0
