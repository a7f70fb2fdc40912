"""The engine against its twin, which shares no code with it: every start and finish is equal."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.registry import simulate
from core.workloads._format import parse_trace
from tests.profiles import examples
from tests.twins.coflowsim import Twin, random_trace

ALGORITHM = {
    "aalo": "DARK",
    "asebf": "ASEBF",
    "fair": "FAIR",
    "fifo": "FIFO",
    "lcf": "LCF",
    "ncf": "NCF",
    "pfp": "PFP",
    "scf": "SCF",
    "varys": "SEBF",
}
WIDTHS = ("receiver", "sender", "max", "min", "sum", "flows")
QUEUES = {"first_mb": 10.0, "base": 10.0, "count": 10}


def compare(text, scheduler, width="receiver", queues=QUEUES):
    """Fail with the trace and the point where engine and twin differ."""
    values = {
        "queue.first_threshold_mb": queues["first_mb"],
        "queue.base": queues["base"],
        "queue.count": queues["count"],
        "width": width,
    }
    outcome = simulate(parse_trace(text.encode(), "random"), "coflowsim", scheduler, values)
    times = zip(outcome.start_s, outcome.finish_s, strict=True)
    got = [(round(start * 1e3, 6), round(finish * 1e3, 6)) for start, finish in times]
    twin = Twin(text, ALGORITHM[scheduler], width, **queues)
    twin.run()
    assert got == [(c.start, c.finish) for c in twin.coflows], (
        f"{scheduler} {width} {queues}\n{text}"
    )


def draw_queues(draw):
    return {
        "first_mb": draw.choice((0.001, 0.3, 1.0, 2.0, 7.5, 10.0, 17.0, 100.0)),
        "base": draw.choice((1.1, 1.5, 2.0, 3.0, 10.0)),
        "count": draw.choice((1, 2, 3, 5, 10)),
    }


def compare_random(draw, scheduler, quanta):
    text = random_trace(draw, quanta)
    compare(text, scheduler, draw.choice(WIDTHS), draw_queues(draw))


@pytest.mark.parametrize("scheduler", ALGORITHM)
@given(draw=st.randoms(use_true_random=False))
@examples(120)
def test_traces_full_of_corner_cases(scheduler, draw):
    """The draws are those of Hypothesis, so that a failing trace shrinks."""
    compare_random(draw, scheduler, 1500)


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ALGORITHM)
def test_many_seeded_traces(scheduler):
    for seed in range(1000, 1400):
        compare_random(random.Random(seed), scheduler, 20000)


megabytes = st.one_of(
    st.integers(0, 40),
    st.sampled_from([0.5, 1.000001, 1e-7, 3.25, 100, 1000]),
    st.integers(1, 3000).map(lambda n: n / 100),
)
arrivals = st.one_of(
    st.integers(0, 30000),
    st.sampled_from([0, 1, 10239, 10240, 10241, 20480, 20481, 10240.5]),
    st.integers(10, 60).map(lambda epochs: epochs * 10240 + 1),
)


@st.composite
def traces(draw):
    ports = draw(st.integers(1, 5))
    rack = st.integers(0, ports - 1)
    coflows = draw(st.integers(1, 8))
    lines = [f"{ports} {coflows}"]
    for index in range(coflows):
        mappers = draw(st.lists(rack, min_size=1, max_size=ports + 1))
        reducers = draw(st.lists(st.tuples(rack, megabytes), min_size=1, max_size=ports + 1))
        words = [index + 1, draw(arrivals), len(mappers), *mappers, len(reducers)]
        words += [f"{r}:{mb:.7f}" for r, mb in reducers]
        lines.append(" ".join(map(str, words)))
    return "\n".join(lines) + "\n"


@given(
    text=traces(),
    scheduler=st.sampled_from(sorted(ALGORITHM)),
    width=st.sampled_from(WIDTHS),
    first_mb=st.sampled_from([0.001, 0.7, 1.0, 5.0, 10.0]),
    base=st.sampled_from([1.01, 2.0, 10.0]),
    count=st.integers(1, 6),
)
@examples(300)
def test_any_trace(text, scheduler, width, first_mb, base, count):
    compare(text, scheduler, width, {"first_mb": first_mb, "base": base, "count": count})


@pytest.mark.parametrize("scheduler", ALGORITHM)
@pytest.mark.parametrize(
    "text",
    [
        # One port and one coflow; a reducer without bytes; everything at once; an idle gap.
        "1 1\n1 0 1 0 1 0:1\n",
        "1 1\n1 0 2 0 0 2 0:0 0:0\n",
        "2 2\n1 0 2 0 1 2 0:0 1:7\n2 0 1 0 1 1:7\n",
        "3 3\n1 10240 2 0 1 1 2:9\n2 10241 1 0 1 2:9\n3 9000000 1 1 1 2:1\n",
        # Sizes that cross many binades, beside a stream of small coflows.
        "3 4\n1 0 3 0 1 2 2 1:9000 2:4000\n2 10241 1 0 1 1:3\n3 20481 1 1 1 1:3\n"
        "4 30721 1 2 1 2:30\n",
    ],
)
def test_corner_cases(scheduler, text):
    compare(text, scheduler, queues={"first_mb": 2.0, "base": 3.0, "count": 6})
