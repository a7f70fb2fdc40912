"""Lower bounds on the average CCT: what no scheduler can beat, whatever it knows.

Every bound here is a *partition*: each coflow is assigned to one port or to none. At a port, the
coflows assigned to it need at least as long as jobs on one machine, with their load there as
processing time; for the sum of the completion times of jobs with release times no schedule beats
preemptive SRPT (Schrage). A coflow without a port still needs its Γ. Each coflow counts once,
so the sums of all ports add up. Percentiles are not bounded by any of this.

::

    isolation     no coflow has a port
    single_port   every coflow with load at the best port has that one
    partition     the best that a search of fixed length finds

=========================  ====================================================================
`core.bounds.port_loads`   the load of each coflow at each port
`core.bounds.srpt`         preemptive SRPT on one machine
`core.bounds.bound`        `Bound`: a partition and what it proves; `isolation`, `single_port`
`core.bounds.search`       the search for a partition that proves much
`core.bounds.memo`         one bound per trace, remembered within a process
=========================  ====================================================================
"""

from __future__ import annotations

import numpy.typing as npt

from core.bounds.bound import NO_PORT, Bound, evaluate, isolation, single_port
from core.bounds.memo import bound_of
from core.bounds.port_loads import BYTES_PER_GBIT, Loads, loads
from core.bounds.search import EFFORT, best, partition
from core.bounds.srpt import srpt_flow_time
from core.trace import Trace

__all__ = [
    "BYTES_PER_GBIT",
    "EFFORT",
    "NO_PORT",
    "Bound",
    "Loads",
    "best",
    "bound_of",
    "evaluate",
    "isolation",
    "loads",
    "lower_bound",
    "partition",
    "single_port",
    "srpt_flow_time",
]


def lower_bound(
    trace: Trace,
    gbps: float = 1.0,
    *,
    out_bps: npt.ArrayLike | None = None,
    in_bps: npt.ArrayLike | None = None,
    local_is_free: bool = False,
    effort: int = EFFORT,
    seed: int = 0,
) -> Bound:
    """Return the largest of the three lower bounds on the average CCT.

    Parameters
    ----------
    trace : Trace
    gbps, out_bps, in_bps, local_is_free
        The fabric, as for `loads`.
    effort, seed
        The search, as for `partition`.

    Raises
    ------
    ParameterError
        A capacity that is not finite and > 0, or an array of them of the wrong length.

    Examples
    --------
    Two coflows need the same two ports for 1 s each, so one of them waits:

    >>> from core.trace import from_flows
    >>> trace = from_flows("two", 2, [(1, 0.0, [(0, 1, 1.25e8)]), (2, 0.0, [(0, 1, 1.25e8)])])
    >>> lower_bound(trace).mean_s
    1.5
    """
    return best(
        loads(trace, gbps, out_bps=out_bps, in_bps=in_bps, local_is_free=local_is_free),
        effort,
        seed,
    )
