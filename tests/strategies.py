"""Traces, parameters and fabrics drawn by Hypothesis: a failure shrinks to a small trace.

Sizes and gaps are whole multiples of a few units, so that ties and exact hits are likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from core.trace import Trace, from_flows
from tests.values import by_key

MB = 1e6
GIGABIT = 1.25e8
Capacities = tuple[list[float] | None, list[float] | None]

SHIFTS = st.sampled_from([1, 60, 64, 70])
"""Hosts by which a trace may be moved, up to and beyond a 64-bit word."""


def make(*coflows: tuple[float, Sequence[tuple[int, int, float]]], ports: int = 4) -> Trace:
    """Build a trace from (arrival, flows) in order of arrival."""
    return from_flows("hand", ports, [(k, t, flows) for k, (t, flows) in enumerate(coflows)])


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Up to 6 hosts and 7 coflows, meshes and single flows, local and empty ones among them."""
    ports = draw(st.integers(1, 6))
    gap = draw(st.sampled_from([0.004, 0.008]))
    hosts = st.integers(0, ports - 1)
    mb = st.sampled_from([1, 0, 2, 3, 4, 5, 8, 13])
    single = st.lists(st.tuples(hosts, hosts, mb), min_size=1, max_size=6)
    mesh = st.tuples(
        st.sets(hosts, min_size=1), st.dictionaries(hosts, st.integers(1, 12), min_size=1)
    ).map(lambda sides: [(i, j, size) for j, size in sides[1].items() for i in sorted(sides[0])])
    arrival = st.sampled_from([0, 1, 2, 3]) | st.integers(0, 40)
    coflows = draw(st.lists(st.tuples(arrival, single | mesh), min_size=1, max_size=7))
    return from_flows(
        "drawn",
        ports,
        [
            (k + 1, steps * gap, [(i, j, size * MB) for i, j, size in flows])
            for k, (steps, flows) in enumerate(coflows)
        ],
    )


def weights(count: int) -> st.SearchStrategy[str | None]:
    """Weights of some queues, None for the default."""
    each = st.sampled_from(["1", "0.5", "2", "3", "7"])
    return st.none() | st.lists(each, min_size=count, max_size=count).map(",".join)


@st.composite
def values(draw: st.DrawFn, **fixed: Any) -> dict[str, Any]:
    """Every parameter that any scheduler reads; `fixed` has two underscores for dots."""
    choices: dict[str, list[Any]] = {
        "engine.trigger": ["flow", "coflow"],
        "engine.interval_ms": [0.0, 5.0, 8.0, 3.0],
        "engine.backfill": [True, False],
        "engine.within": ["equal_split", "max_min"],
        "fabric.local_is_free": [False, True],
        "fabric.gbps": [1.0, 2.0, 0.5],
        "order": ["static", "remaining"],
        "queue.first_threshold_mb": [1.0, 2.0, 5.0],
        "queue.base": [2.0, 1.5, 10.0],
        "queue.count": [10, 1, 2, 3],
        "queue.threshold_mode": ["cumulative", "per_queue"],
        "queue.between": ["strict", "wfq"],
        "width": ["receiver", "sender", "max", "min", "sum", "flows"],
    }
    drawn: dict[str, Any] = {key: draw(st.sampled_from(some)) for key, some in choices.items()}
    drawn["queue.weights"] = None
    if drawn["queue.between"] == "wfq":
        drawn["queue.weights"] = draw(weights(drawn["queue.count"]))
    return drawn | by_key(**fixed)


def capacities(ports: int) -> st.SearchStrategy[Capacities]:
    """Capacities per host of both sides [B/s], or None for ``fabric.gbps``."""
    side = st.lists(
        st.sampled_from([GIGABIT, 2 * GIGABIT, 3 * GIGABIT]), min_size=ports, max_size=ports
    )
    return st.just((None, None)) | st.tuples(side, side)


@st.composite
def with_capacities(draw: st.DrawFn) -> tuple[Trace, Capacities]:
    """A trace and the capacities of its hosts."""
    trace = draw(traces())
    return trace, draw(capacities(trace.ports))


_hosts = st.integers(0, 3)
flows_of_4 = st.lists(st.tuples(_hosts, _hosts, st.integers(0, 6)), min_size=1, max_size=4)
"""Flows of a few bytes among 4 hosts, for ports that carry about one byte a second."""
traces_of_4 = st.lists(st.tuples(st.integers(0, 5), flows_of_4), min_size=1, max_size=4).map(
    lambda coflows: make(*sorted(coflows, key=lambda c: c[0]))
)


def fabrics(some: Sequence[Any] = (0.5, 1.0, 2.0)) -> st.SearchStrategy[dict[str, Any]]:
    """Capacities of 4 hosts on both sides, and whether local flows are free."""
    side = st.lists(st.sampled_from(some), min_size=4, max_size=4)
    return st.fixed_dictionaries({"out_bps": side, "in_bps": side, "local_is_free": st.booleans()})
