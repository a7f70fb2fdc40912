"""Classes of coflows: what is drawn, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ParameterError
from core.parameters import defaults
from core.trace import Trace
from core.workloads.custom import WORKLOAD, CoflowClass, parse_classes, parse_fractions
from tests.profiles import examples


def values(**given: object) -> dict[str, object]:
    known = {p.key: p for p in WORKLOAD.parameters}
    checked = {f"workload.{k}": known[f"workload.{k}"].check(v) for k, v in given.items()}
    return defaults(WORKLOAD.parameters) | checked


def build(seed: int = 0, **given: object) -> Trace:
    return WORKLOAD.build(values(**given), np.random.default_rng(seed))


def test_one_class_without_freedom():
    """3 mappers × 3 reducers on 3 ports, 7 MB a flow: a reducer gets 3 · 7 = 21 MB."""
    trace = build(classes="3-3:7-7", fractions=1, ports=3, coflows=2)
    assert trace.coflow_id.tolist() == [1, 2]
    assert trace.arrival_s.tolist() == [0, 0]
    assert trace.size_bytes.tolist() == [7e6] * 18
    assert trace.records.reducer_mb.tolist() == [21] * 6
    assert trace.src.tolist() == [0, 1, 2] * 6
    assert trace.dst.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2] * 2


def test_the_defaults_are_those_of_coflowsim():
    """Classes of its main program; widths up to all of its 100 racks; percents 41, 29, 9, 21."""
    given = values()
    assert parse_classes(given["workload.classes"], 100) == [
        CoflowClass(1, 5, 1, 10),
        CoflowClass(1, 5, 10, 1000),
        CoflowClass(5, 100, 1, 10),
        CoflowClass(5, 100, 10, 1000),
    ]
    assert parse_fractions(given["workload.fractions"], 4) == [0.41, 0.29, 0.09, 0.21]
    assert WORKLOAD.content(given) == "custom-1"
    assert len(build()) == 100


def test_every_class_gets_its_fraction_and_both_ends_of_its_ranges():
    """200 coflows, half of widths 1…3 and 1…2 MB, half of widths 5…6 and 8…9 MB."""
    trace = build(classes="1-3:1-2, 5-6:8-9", fractions="0.5, 0.5", ports=9, coflows=200)
    senders, receivers = trace.distinct_ports(trace.src), trace.distinct_ports(trace.dst)
    large = trace.length_bytes() >= 8e6
    assert large.sum() == 100
    for widths in (senders, receivers):
        assert set(widths[~large].tolist()) == {1, 2, 3}
        assert set(widths[large].tolist()) == {5, 6}
    assert np.any(senders[large] != receivers[large])  # drawn one by one
    flow_is_large = large[trace.coflow_of_flow]
    assert set(trace.size_bytes[flow_is_large].tolist()) == {8e6, 9e6}
    assert set(trace.size_bytes[~flow_is_large].tolist()) == {1e6, 2e6}
    assert 20 < large[:100].sum() < 80  # mixed, not class after class
    assert set(trace.src.tolist()) == set(range(9))


def test_reducers_of_a_coflow_differ_and_its_mappers_send_alike():
    trace = build(classes="4-4:1-1000", fractions="1", ports=4, coflows=1)
    by_receiver = trace.size_bytes.reshape(4, 4)
    assert np.all(by_receiver == by_receiver[:, :1])
    assert len(set(by_receiver[:, 0].tolist())) == 4


def test_gap_is_the_mean_of_exponential_gaps():
    """4000 gaps: the mean's standard error is 1.6 %, that of the CV about 2 %."""
    trace = build(classes="1-1:1-1", fractions="1", ports=2, coflows=4001, gap=2.5)
    gaps = np.diff(trace.arrival_s)
    assert trace.arrival_s[0] == 0
    assert gaps.min() > 0
    assert gaps.mean() == pytest.approx(2.5, rel=0.08)
    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=0.1)
    assert np.median(gaps) == pytest.approx(2.5 * math.log(2), rel=0.1)


def test_seeds():
    same, other = build(4), build(5)
    np.testing.assert_array_equal(build(4).size_bytes, same.size_bytes)
    assert len(same.size_bytes) != len(other.size_bytes)
    assert WORKLOAD.seeded


@pytest.mark.parametrize("text", ["1-5:1-10,2-3:4-5", " 1-5:1-10 ,  2-3:4-5 ", "1-5:1-10 2-3:4-5"])
def test_commas_and_blanks_separate(text):
    assert parse_classes(text, 5) == [CoflowClass(1, 5, 1, 10), CoflowClass(2, 3, 4, 5)]


@pytest.mark.parametrize(
    ("classes", "part", "rule"),
    [
        ("1-5", "'1-5'", "minW-maxW:minL-maxL"),
        ("1-5:1-10, 1-x:1-2", "'1-x:1-2'", "four whole numbers"),
        ("1-5:1-10,,1-5:1-2", "''", "four whole numbers"),
        ("1-5:1-10;1-5:1-2", "'1-5:1-10;1-5:1-2'", "four whole numbers"),
        ("1-5:0.5-10", "'1-5:0.5-10'", "four whole numbers"),
        ("²-5:1-10", "'²-5:1-10'", "four whole numbers"),
        ("0-5:1-10", "width range 0-5", "1 ≤ min ≤ max"),
        ("5-4:1-10", "width range 5-4", "1 ≤ min ≤ max"),
        ("1-5:0-10", "length range 0-10", "1 ≤ min ≤ max"),
        ("1-5:10-9", "length range 10-9", "1 ≤ min ≤ max"),
        ("1-5:1-99999999999", "length range 1-99999999999", "< 2^31"),
        ("1-21:1-10", "'1-21:1-10' has widths up to 21", "at most workload.ports=20"),
        ("  ", "'  '", "nothing in it"),
    ],
)
def test_bad_classes_are_refused_before_anything_runs(classes, part, rule):
    given = values(classes=classes, fractions="1", ports=20)
    for refuse in (WORKLOAD.content, lambda v: WORKLOAD.build(v, np.random.default_rng(0))):
        with pytest.raises(ParameterError, match=r"^workload\.classes") as error:
            refuse(given)
        assert part in str(error.value)
        assert rule in str(error.value)
        assert "allowed" in str(error.value)


@pytest.mark.parametrize(
    ("fractions", "part", "rule"),
    [
        ("0.5", "1 fractions for 2 classes", "exactly one for each class"),
        ("0.5 0.25 0.25", "3 fractions for 2 classes", "exactly one for each class"),
        ("0.5, 0.4", "the sum is 0.9", "allowed is 1"),
        ("41, 59", "'41'", "from 0 to 1"),
        ("0.5, -0.5", "'-0.5'", "from 0 to 1"),
        ("0.5, half", "'half'", "from 0 to 1"),
        ("0.5, nan", "'nan'", "from 0 to 1"),
        ("0.5,, 0.5", "''", "from 0 to 1"),
    ],
)
def test_bad_fractions_are_refused_before_anything_runs(fractions, part, rule):
    given = values(classes="1-2:1-2 3-4:3-4", fractions=fractions, ports=20)
    with pytest.raises(ParameterError, match=r"^workload\.fractions") as error:
        WORKLOAD.content(given)
    assert part in str(error.value)
    assert rule in str(error.value)
    assert "allowed" in str(error.value)


def test_a_class_of_no_coflows_is_allowed_and_thirds_need_not_be_exact():
    trace = build(classes="1-1:1-1 2-2:5-5", fractions="0 1", ports=2, coflows=3)
    assert trace.size_bytes.tolist() == [5e6] * 12
    assert parse_fractions("0.3333333 0.3333333 0.3333333", 3) == [0.3333333] * 3


@given(
    ranges=st.lists(
        st.tuples(*[st.integers(1, 12)] * 2, *[st.integers(1, 50)] * 2), min_size=1, max_size=4
    ),
    coflows=st.integers(1, 30),
    extra_ports=st.integers(0, 3),
    gap=st.floats(0, 3),
    seed=st.integers(0, 2**32),
)
@examples(60)
def test_the_laws_of_a_trace_hold_at_any_size(ranges, coflows, extra_ports, gap, seed):
    sides = [(*sorted(r[:2]), *sorted(r[2:])) for r in ranges]
    text = ", ".join(f"{a}-{b}:{c}-{d}" for a, b, c, d in sides)
    ports = max(s[1] for s in sides) + extra_ports
    fractions = " ".join([str(1 / len(sides))] * len(sides))
    trace = build(seed, classes=text, fractions=fractions, ports=ports, coflows=coflows, gap=gap)
    assert trace.coflow_id.tolist() == list(range(1, coflows + 1))
    assert trace.arrival_s[0] == 0
    assert np.all(np.diff(trace.arrival_s) >= (0.0009 if gap else 0))
    assert max(trace.src.max(), trace.dst.max()) < ports
    mb = trace.size_bytes / 1e6
    np.testing.assert_allclose(mb, np.rint(mb), rtol=1e-12)
    widths = trace.distinct_ports(trace.src), trace.distinct_ports(trace.dst)
    for k, (m, r) in enumerate(zip(*widths, strict=True)):
        flows = np.rint(mb[trace.first_flow[k] : trace.first_flow[k + 1]])
        assert len(flows) == m * r
        assert any(
            a <= min(m, r) and max(m, r) <= b and c <= flows.min() and flows.max() <= d
            for a, b, c, d in sides
        )
