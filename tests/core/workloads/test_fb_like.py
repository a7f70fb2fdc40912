"""The default workload has the published figures of the Facebook trace, for every seed."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.trace import Trace, from_records, make_records
from core.workloads._draws import arrivals_ms, between, distinct_ports, quotas, stratified
from core.workloads.fb_like import KINDS, WORKLOAD
from tests.fb_facts import FACEBOOK, GAPS, SHARES, SPREADS, TOTALS, facts
from tests.paths import FACEBOOK as FACEBOOK_TRACE
from tests.profiles import examples

SEEDS = range(10)


def build(seed: int = 0, coflows: int = 526, ports: int = 150, load: float = 1.0) -> Trace:
    values = {"workload.coflows": coflows, "workload.ports": ports, "workload.load": load}
    return WORKLOAD.build(values, np.random.default_rng(seed))


def allowed(fact: str) -> tuple[float, float]:
    """Range of a figure within which the trace counts as like the published one."""
    published = FACEBOOK[fact]
    if fact in SPREADS:
        return published / 1.5, published * 1.5
    if fact in SHARES:
        points = 3 if fact.startswith("coflows") else 4
        return published - points, published + points
    if fact in GAPS:
        return {
            "gap mean s": (0.85 * published, 1.15 * published),
            "gap median s": (0.85 * published, 1.15 * published),
            "gap CV": (1.2, 1.7),
        }[fact]
    if fact in TOTALS:
        return published * 0.8, published * 1.25
    return {
        "bytes SN %": (0.005, 0.02),
        "bytes LN %": (0.05, 0.2),
        "bytes SW %": (0.5, 1.5),
        "bytes LW %": (97, 100),
        "bytes top 1 %": (16, 32),
        "bytes top 10 %": (74, 84),
        "bytes top 20 %": (94, 98),
    }[fact]


@pytest.fixture(scope="module")
def measured() -> dict[str, np.ndarray]:
    rows = [facts(build(seed)) for seed in SEEDS]
    return {fact: np.array([row[fact] for row in rows]) for fact in FACEBOOK}


@pytest.mark.parametrize("fact", FACEBOOK)
def test_every_seed_has_the_published_figure(measured, fact):
    low, high = allowed(fact)
    assert measured[fact].min() >= low
    assert measured[fact].max() <= high


@pytest.mark.parametrize("fact", SPREADS)
def test_the_median_over_seeds_is_nearer_than_a_single_seed_has_to_be(measured, fact):
    assert FACEBOOK[fact] / 1.25 <= np.median(measured[fact]) <= FACEBOOK[fact] * 1.25


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, 20))
def test_two_hundred_seeds_have_the_published_figures(first):
    for seed in range(first, first + 20):
        for fact, value in facts(build(seed)).items():
            low, high = allowed(fact)
            assert low <= value <= high, (seed, fact)


def test_the_published_figures_are_those_of_the_trace():
    if not FACEBOOK_TRACE.exists():
        pytest.skip(f"the Facebook trace is third-party data and not at {FACEBOOK_TRACE}")
    ids, arrivals, mappers, reducers, mb = [], [], [], [], []
    for line in FACEBOOK_TRACE.read_text().splitlines()[1:]:
        coflow, arrival, m, *rest = line.split()
        pairs = [r.split(":") for r in rest[int(m) + 1 :]]
        ids.append(int(coflow))
        arrivals.append(int(arrival) / 1000)
        mappers.append([int(x) for x in rest[: int(m)]])
        reducers.append([int(host) for host, _ in pairs])
        mb.append([float(size) for _, size in pairs])
    trace = from_records("fb", 150, ids, arrivals, make_records(mappers, reducers, mb))
    for fact, value in facts(trace).items():
        assert value == pytest.approx(FACEBOOK[fact], rel=0.015), fact


def digest(trace: Trace) -> str:
    whole = [np.rint(trace.arrival_s * 1000), trace.size_bytes, trace.src, trace.dst]
    return hashlib.sha256(b"".join(a.astype("<i8").tobytes() for a in whole)).hexdigest()[:16]


def test_a_seed_always_gives_the_same_bytes():
    """Where this digest has to change, the generator's version has to change too."""
    assert WORKLOAD.content({}) == "fb_like-1"
    assert digest(build(7)) == digest(build(7))
    assert digest(build(7, coflows=60, ports=20)) == "40de7e02593ac152"


def test_seeds_give_clearly_different_traces():
    a, b = build(1), build(2)
    assert np.mean(a.flows_per_coflow() == b.flows_per_coflow()) < 0.3  # a third are 1→1 or alike
    assert np.mean(np.isin(a.arrival_s, b.arrival_s)) < 0.05
    top = [np.sort(t.total_bytes())[-100:] for t in (a, b)]
    assert np.mean(np.isin(*top)) < 0.1
    largest = [int(np.argmax(t.total_bytes())) for t in (a, b, *map(build, range(3, 9)))]
    assert len(set(largest)) > 4
    busiest = [int(np.argmax(t.per_port(t.dst).sum(0))) for t in map(build, range(6))]
    assert len(set(busiest)) > 3


@given(
    seed=st.integers(0, 2**32),
    coflows=st.integers(1, 120),
    ports=st.integers(1, 60) | st.sampled_from([149, 150, 200]),
    load=st.floats(0.1, 10),
)
@examples(60)
def test_the_laws_of_a_trace_hold_at_any_size(seed, coflows, ports, load):
    trace = build(seed, coflows, ports, load)
    assert trace.coflow_id.tolist() == list(range(1, coflows + 1))
    assert trace.arrival_s[0] == 0
    ms = trace.arrival_s * 1000
    np.testing.assert_allclose(ms, np.rint(ms), rtol=1e-12)
    assert np.all(np.diff(np.rint(ms)) >= 1)
    assert min(trace.src.min(), trace.dst.min()) >= 0
    assert max(trace.src.max(), trace.dst.max()) < ports
    mb = trace.size_bytes / 1e6
    assert mb.min() >= 1
    np.testing.assert_allclose(mb, np.rint(mb), rtol=1e-12)
    records = trace.records
    mappers, reducers = np.diff(records.first_mapper), np.diff(records.first_reducer)
    assert np.all(records.reducer_mb % np.repeat(mappers, reducers) == 0)
    np.testing.assert_array_equal(mappers, trace.distinct_ports(trace.src))  # none merged
    np.testing.assert_array_equal(reducers, trace.distinct_ports(trace.dst))


def test_one_port_gives_one_flow_a_coflow():
    assert build(coflows=40, ports=1).flows_per_coflow().tolist() == [1] * 40


def test_many_coflows_and_many_ports():
    many = build(coflows=20_000, ports=10)
    assert len(many) == 20_000
    wide = build(coflows=60, ports=1000)
    assert 900 < max(wide.distinct_ports(wide.dst)) <= 1000  # shuffles over all racks remain so


def test_load_divides_the_gaps_and_nothing_else():
    one, four = build(), build(load=4.0)
    np.testing.assert_array_equal(one.size_bytes, four.size_bytes)
    np.testing.assert_array_equal(one.src, four.src)
    gaps = [np.diff(t.arrival_s) * 1000 for t in (one, four)]
    np.testing.assert_allclose(gaps[0] / 4, gaps[1], atol=1)  # whole ms, at least 1


@pytest.mark.parametrize("ports", [1, 2, 5, 10, 50, 150, 400])
def test_a_port_is_offered_the_same_load_whatever_their_number(ports):
    trace = build(3, ports=ports)
    gigabits = trace.size_bytes.sum() * 8 / 1e9
    assert 0.4 < gigabits / ports / trace.arrival_s[-1] < 0.8


def test_reducers_of_a_large_coflow_are_unequal_like_those_of_the_trace():
    """In the trace the mean flow of an all-to-all giant is 0.28 to 0.46 of the largest one."""
    trace = build(5)
    for k in np.argsort(trace.total_bytes())[-10:]:
        flows = trace.size_bytes[trace.first_flow[k] : trace.first_flow[k + 1]]
        assert 0.2 < flows.mean() / flows.max() < 0.55
        assert 0.02 < flows.min() / flows.max() < 0.25


def test_weights_of_the_kinds_are_those_of_526_coflows():
    weights = [kind.weight for kind in KINDS]
    assert sum(weights) == 526
    for seed in range(50):
        assert quotas(weights, 526, np.random.default_rng(seed)).tolist() == weights


@given(
    weights=st.lists(st.floats(0, 5) | st.just(0.0), min_size=1, max_size=9).filter(
        lambda w: sum(w) > 0.01
    ),
    total=st.integers(1, 1000),
    seed=st.integers(0, 1000),
)
def test_quotas_are_the_exact_shares_rounded(weights, total, seed):
    counts = quotas(weights, total, np.random.default_rng(seed))
    exact = [w / math.fsum(weights) * total for w in weights]
    assert counts.sum() == total
    assert all(abs(c - e) < 1 + 1e-6 for c, e in zip(counts, exact, strict=True))


def test_quotas_give_rare_classes_their_share_on_average():
    """0.2 of one coflow: the class appears in about 200 of 1000 traces (binomial: sd 13)."""
    rng = np.random.default_rng(1)
    rare = sum(quotas([0.8, 0.2], 1, rng)[1] for _ in range(1000))
    assert 140 < rare < 260


def test_draws_by_hand():
    rng = np.random.default_rng(3)
    assert sorted((stratified(5, rng) * 5).astype(int)) == [0, 1, 2, 3, 4]
    assert stratified(0, rng).tolist() == []
    drawn = between(np.full(500, 2), np.full(500, 4), rng)
    assert set(drawn.tolist()) == {2, 3, 4}
    chosen = distinct_ports([1, 3], 3, rng)
    assert len(chosen[0]) == 1
    assert sorted(chosen[1].tolist()) == [0, 1, 2]
    assert arrivals_ms(np.array([0.2, 3.6, 2.0])).tolist() == [0, 1, 5, 7]
