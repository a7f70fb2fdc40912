"""The worked example, by hand."""

from __future__ import annotations

import numpy as np

from core.trace import Trace
from core.workloads.toy import WORKLOAD

GIGABIT = 1.25e8  # bytes a second


def toy() -> Trace:
    return WORKLOAD.build({}, np.random.default_rng(0))


def test_flows():
    trace = toy()
    assert (trace.ports, trace.mb_bytes, trace.records) == (3, 1e6, None)
    assert trace.coflow_id.tolist() == [1, 2, 3]
    assert trace.arrival_s.tolist() == [0, 0, 0]
    flows = zip(trace.coflow_of_flow + 1, trace.src, trace.dst, trace.size_bytes, strict=True)
    assert [(int(k), int(s), int(d), b / GIGABIT) for k, s, d, b in flows] == [
        (1, 0, 1, 2.0),
        (1, 1, 2, 2.0),
        (2, 0, 1, 4.0),
        (3, 1, 2, 3.0),
    ]


def test_it_is_no_mesh_and_alone_the_coflows_take_2_4_and_3_seconds():
    """Coflow 1 has two senders and two receivers but two flows, each on ports of its own."""
    trace = toy()
    assert trace.distinct_ports(trace.src).tolist() == [2, 1, 1]
    assert trace.distinct_ports(trace.dst).tolist() == [2, 1, 1]
    assert trace.flows_per_coflow().tolist() == [2, 1, 1]
    busiest = np.maximum(trace.per_port(trace.src), trace.per_port(trace.dst)).max(axis=1)
    assert (busiest / GIGABIT).tolist() == [2, 4, 3]


def test_it_needs_nothing():
    assert WORKLOAD.parameters == ()
    assert not WORKLOAD.seeded
    assert WORKLOAD.content({}) == "toy-1"
