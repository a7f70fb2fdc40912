"""What the tests of the fluid engine share: its schedulers, and traces at the edges."""

from __future__ import annotations

from core.trace import Trace, from_flows, from_records, make_records

SCHEDULERS = ("fifo", "scf", "ncf", "lcf", "varys", "aalo", "asebf", "fair", "srpt")

Flows = list[tuple[int, int, float]]


def _trace(ports: int, *coflows: tuple[float, Flows]) -> Trace:
    return from_flows("edge", ports, [(k, t, flows) for k, (t, flows) in enumerate(coflows)])


def _across(ports: int) -> Trace:
    """Flows between the first and last bits of all words, more than one a port."""
    edges = [p for p in (0, 1, 62, 63, 64, 65, 127, 128) if p < ports]
    mesh = [(i, j, 1e6 * (1 + (i + j) % 3)) for i in edges[:4] for j in edges[-4:]]
    return _trace(ports, (0.0, mesh), (0.0, mesh[::3]), (0.01, [(edges[-1], edges[0], 4e6)]))


EDGE_TRACES = {
    "one flow": _trace(2, (0.0, [(0, 1, 1e6)])),
    "one flow without bytes": _trace(2, (0.5, [(0, 1, 0.0)])),
    "flows without bytes": _trace(
        3, (0.0, [(0, 1, 0.0)]), (0.0, [(0, 1, 2e6), (1, 2, 0.0)]), (0.008, [(1, 2, 0.0)])
    ),
    "local flows": _trace(2, (0.0, [(0, 0, 3e6), (0, 1, 1e6)]), (0.004, [(1, 1, 2e6)])),
    "one port": _trace(1, (0.0, [(0, 0, 2e6)]), (0.001, [(0, 0, 1e6)]), (0.03, [(0, 0, 1e6)])),
    "duplicate locations": from_records(
        "edge",
        4,
        [1, 2],
        [0.0, 0.004],
        make_records([[0, 0, 1], [1]], [[2, 2, 3], [3, 3]], [[4.0, 5.0, 1.0], [2.0, 2.0]]),
    ),
    "equal coflows at once": _trace(3, *[(0.25, [(0, 1, 2e6), (0, 2, 2e6)])] * 4),
    "an arrival at a completion": _trace(
        2, (0.0, [(0, 1, 1e6)]), (0.008, [(0, 1, 1e6)]), (0.016, [(1, 0, 1e6)])
    ),
    "huge and tiny": _trace(
        3, (0.0, [(0, 1, 1e15), (1, 2, 7.0)]), (0.001, [(1, 2, 3.0)]), (0.001, [(0, 2, 1e9)])
    ),
    "on a threshold": _trace(
        2, (0.0, [(0, 1, 10e6)]), (0.0, [(0, 1, 100e6)]), (0.1, [(1, 0, 1e6)])
    ),
    "hosts without flows": _trace(50, (0.0, [(7, 31, 3e6), (7, 40, 1e6)]), (0.0, [(31, 40, 2e6)])),
    "64 ports": _across(64),
    "65 ports": _across(65),
    "129 ports": _across(129),
}
"""By name; sizes in bytes for ports of 1 Gb/s, where 1 MB takes 8 ms."""
