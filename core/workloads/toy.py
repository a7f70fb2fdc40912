"""Three coflows whose schedules can be worked out by hand, for trying things out and for tests.

The worked example of the A-SEBF paper (figures 1-4): one coflow shares both its ports with a
rival each, so that what a scheduler knows about widths and sizes decides who waits.
"""

from __future__ import annotations

import numpy as np

from core.parameters import Values
from core.trace import Trace, from_flows
from core.workloads._base import Workload

UNIT = 1.25e8
"""Bytes that a port of 1 Gb/s moves in one second: a flow of n units takes n seconds alone."""


def build(values: Values, rng: np.random.Generator) -> Trace:
    """Return the three coflows; nothing is random and there are no parameters.

    Coflow 1 sends 2 units from host 0 to 1 and 2 from 1 to 2; coflow 2 sends 4 from 0 to 1;
    coflow 3 sends 3 from 1 to 2. All arrive at 0. The paper counts the hosts from 1.

    >>> build({}, np.random.default_rng(0)).size_bytes / UNIT
    array([2., 2., 4., 3.])
    """
    return from_flows(
        "toy",
        3,
        [
            (1, 0.0, [(0, 1, 2 * UNIT), (1, 2, 2 * UNIT)]),
            (2, 0.0, [(0, 1, 4 * UNIT)]),
            (3, 0.0, [(1, 2, 3 * UNIT)]),
        ],
    )


WORKLOAD = Workload(
    name="toy",
    summary="three coflows on three hosts, small enough to check by hand",
    parameters=(),
    build=build,
    content=lambda values: "toy-1",
)
