"""Jumps over many quanta equal the steps one by one, in every bit."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.coflowsim.advance import run_flow
from core.coflowsim.exact import all_inside, descend, descend_inside
from core.coflowsim.sizes import demand
from core.coflowsim.state import UNTIL_END, ZERO, new_state
from core.coflowsim.tally import sort_by_end, take_on
from core.trace import from_flows
from tests.profiles import examples

# Kernels have no entry for Python: these are theirs.
compiled = numba.njit(error_model="numpy")


@compiled
def jump(x, b, n):
    return descend(x, b, n)


@compiled
def run(x, b, n):
    return run_flow(x, b, n)


@compiled
def inside(x, b, n):
    if not all_inside(x, b, 1, len(x), n, 1e-3):
        return False
    descend_inside(x, b, 1, len(x), n)
    return True


@compiled
def tally(s, x, sign, ended, inflow, t, until):
    s.ended[: len(ended)] = ended
    sort_by_end(s, 0, len(ended))
    return take_on(s, x, sign, 0, len(ended), 0, len(s.step), inflow, t, until)


@st.composite
def steps_below(draw, x):
    """A step of every kind that rounding may meet, as an accumulator of size x sees it."""
    ulp = math.ulp(x)
    kind = draw(st.sampled_from(["tie", "power", "far below", "ulps", "any", "round"]))
    if kind == "tie":
        return (draw(st.integers(0, 2**20)) + 0.5) * ulp * draw(st.sampled_from([1, 0.5, 2, 4]))
    if kind == "power":
        return 2.0 ** draw(st.integers(-30, 20))
    if kind == "far below":
        return ulp * draw(st.sampled_from([0.5, 0.49, 0.51, 1e-3, 1e-12, 0.25, 0.75]))
    if kind == "ulps":
        return draw(st.integers(1, 2**30)) * ulp
    if kind == "round":
        return 1048576.0 / draw(st.integers(1, 3000))
    return draw(st.floats(1e-9, 1e7))


amounts = st.one_of(
    st.floats(1e-2, 1e13),
    st.integers(-3, 45).map(lambda e: 2.0**e),
    st.integers(1, 2**22).map(lambda mb: mb * 1048576.0),
    st.integers(0, 44).map(lambda e: math.nextafter(2.0**e, math.inf)),
    st.integers(0, 44).map(lambda e: math.nextafter(2.0**e, 0.0)),
)


@given(st.data(), amounts, st.integers(0, 3000))
@examples(400)
def test_descend_is_the_loop(data, x, n):
    b = data.draw(steps_below(x))
    n = min(n, int(x / b) - 2)
    expected = x
    for _ in range(n):
        expected -= b
    assert jump(x, b, float(n)) == expected


@pytest.mark.parametrize("k", range(1, 40, 3))
def test_ties_go_to_the_even_neighbour(k):
    """x − b lies half-way: the first step depends on x's last bit, all others do not."""
    for x in (2.0**52 + k, 2.0**52 + k + 1, 2.0**51 + k * 0.5):
        for b in (0.5 * math.ulp(x), (k + 0.5) * math.ulp(x)):
            expected = x
            for _ in range(50):
                expected -= b
            assert jump(x, b, 50.0) == expected


@given(st.data(), amounts, st.integers(1, 3000))
@examples(400)
def test_run_flow_is_the_loop(data, x, n):
    """A flow ends in the same quantum, with the same last move and the same rest."""
    b = data.draw(steps_below(x))
    held, full, part, quanta = x, 0.0, 0.0, 0
    while quanta < n and held > ZERO:
        moved = min(b, held)
        held -= moved
        quanta += 1
        if moved == b:
            full += 1.0
        else:
            part = moved
    assert run(x, b, float(n)) == (held, full, part)


@given(st.data(), st.lists(amounts, min_size=1, max_size=40), st.integers(1, 300))
@examples(300)
def test_a_row_inside_its_binades_is_the_loop(data, row, n):
    b = [data.draw(st.one_of(st.just(0.0), steps_below(x))) for x in row]
    n = min([n, *(int(x / step / 3) for x, step in zip(row, b, strict=True) if step > 0)])
    got = np.array([0.5, *row])  # what lies before the row stays as it is
    moved = inside(got, np.array([0.1, *b]), float(n))
    assert got[0] == 0.5
    if moved:
        for x, step, result in zip(row, b, got[1:], strict=True):
            for _ in range(n):
                x -= step
            assert x == result
    else:
        assert got[1:].tolist() == row


def row_state(steps, logged):
    """A coflow with one reducer whose flows move `steps`; logged: index → (full, part)."""
    flows = [(i, 0, 1e6) for i in range(len(steps))]
    trace = from_flows("row", len(steps), [(1, 0.0, flows)])
    s = new_state(demand(trace), np.zeros(1))
    s.step[:] = steps
    for i, (full, part) in logged.items():
        s.full[i], s.part[i] = full, part
        s.remaining[i], s.step[i] = -steps[i], 0.0
    return s


def move(steps, logged, i, t):
    full, part = logged.get(i, (UNTIL_END, 0.0))
    return steps[i] if full > t else part if full == t else 0.0


@given(st.data(), amounts, st.sampled_from([1.0, -1.0]), st.integers(1, 12), st.integers(0, 400))
@examples(500)
def test_take_on_is_the_loop(data, x, sign, flows, quanta):
    """A sum over flows that go on and flows that end at any time, up and down."""
    if sign > 0:
        x = data.draw(st.sampled_from([0.0, x]))
    steps = [data.draw(steps_below(x or 1e6)) for _ in range(flows)]
    if data.draw(st.booleans()):
        steps = [steps[0]] * flows
    logged = {}
    for i in range(flows):
        if data.draw(st.booleans()):
            full = float(data.draw(st.integers(0, max(quanta, 1))))
            part = data.draw(st.one_of(st.just(0.0), st.floats(1e-6, 1.0).map(lambda q: q)))
            logged[i] = (full, part * steps[i])
    if sign < 0:
        most = sum(steps)
        quanta = min(quanta, int(x / most) - 2)
    expected = x
    for t in range(quanta):
        for i in range(flows):
            expected += sign * move(steps, logged, i, t)
    s = row_state(steps, logged)
    inflow = float(sum(s.step))
    ended = np.array(sorted(logged, reverse=True), np.int64)
    assert tally(s, x, sign, ended, inflow, 0.0, float(quanta)) == expected


@given(st.data())
@examples(50)
@example(None)
def test_take_on_may_be_cut_anywhere(data):
    """From t to until, then on to the end: the same as in one go."""
    steps = [1048576.0 / 3, 1048576.0 / 7, 123.456]
    logged = {1: (40.0, 1000.5), 0: (90.0, 0.0)}
    cut = 57 if data is None else data.draw(st.integers(0, 200))
    ended = np.array([0, 1], np.int64)
    s = row_state(steps, logged)
    once = tally(s, 3e6, 1.0, ended, steps[2], 0.0, 200.0)
    x = tally(s, 3e6, 1.0, ended, steps[2], 0.0, float(cut))
    assert tally(s, x, 1.0, ended, steps[2], float(cut), 200.0) == once
