"""The engine: from a trace and a scheduler to an outcome, in exact continuous time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from core.bounds import bound_of
from core.engine import Engine, Scheduler
from core.errors import ParameterError, SimulationError
from core.fluid.demand import Demand, demand
from core.fluid.kernels.clock import SAME_S, SAME_SHARE
from core.fluid.rules import Ordered, Queues, Rule
from core.fluid.runner import drive, queue_weights
from core.outcome import Outcome
from core.parameters import Parameter, Value, Values, defaults
from core.trace import Floats, Trace, from_flows

GIGABIT = 1.25e8
"""Bytes a second."""
FINEST = 1e-3
"""Largest resolution of times that a run may have, as a share of the mean Γ."""
PARAMETERS = (
    Parameter(
        "engine.trigger",
        str,
        "flow",
        "compute new rates whenever a flow ends (flow), or only when a coflow arrives, completes "
        "or changes its queue (coflow)",
        choices=("flow", "coflow"),
    ),
    Parameter(
        "engine.interval_ms",
        float,
        0.0,
        "compute new rates only at multiples of this time (Δ); 0: at once",
        unit="ms",
        minimum=0.0,
    ),
    Parameter(
        "engine.bound",
        str,
        "partition",
        "lower bound on the mean CCT, for bound_s and gap: by a short search for a partition, from "
        "each coflow alone in the fabric, or none",
        choices=("partition", "isolation", "none"),
    ),
    Parameter(
        "fabric.gbps",
        float,
        1.0,
        "capacity of each port in each direction",
        unit="Gb/s",
        minimum=0.0,
        open_minimum=True,
    ),
    Parameter(
        "fabric.local_is_free",
        bool,
        False,
        "let flows from a host to itself complete at once, without using a port",
    ),
)


def run(
    trace: Trace,
    scheduler: Scheduler,
    values: Values,
    out_bps: npt.ArrayLike | None = None,
    in_bps: npt.ArrayLike | None = None,
) -> Outcome:
    """Simulate a trace in continuous time, with all events at their exact instants.

    Events closer than 1 ns, or 1e-12 of the time, count as simultaneous, and a port of which less
    than 1e-12 is free counts as full.

    Parameters
    ----------
    trace : Trace
        Coflows in order of arrival.
    scheduler : Scheduler
        One with a rule for ``fluid``.
    values : mapping of str to value
        Checked parameters by key; the declared default counts where a key is missing.
    out_bps, in_bps : array_like, shape (P,), optional
        Capacity of each host as sender and as receiver [B/s], in place of ``fabric.gbps``.

    Returns
    -------
    Outcome
        Starts are arrivals; sizes and Γ leave out flows that are free.

    Raises
    ------
    ParameterError
        ``queue.weights`` or capacities that do not fit, or a rule that returns unusable numbers.
    SimulationError
        A clock that stands still, or coflows far below the resolution of times.
    """
    sizes, rule, complete = prepared(trace, scheduler, values, out_bps, in_bps)
    _check_resolution(sizes, complete)
    finish, events = drive(sizes, scheduler, rule, complete)
    free, method = bool(complete["fabric.local_is_free"]), str(complete["engine.bound"])
    out_bps, in_bps = sizes.fabric_bps[: trace.ports], sizes.fabric_bps[trace.ports :]
    return Outcome(
        start_s=trace.arrival_s.copy(),
        finish_s=finish,
        size_bytes=sizes.total_bytes,
        length_bytes=sizes.length_bytes,
        gamma_s=sizes.gamma_s,
        events=events,
        bound_s=bound_of(trace, out_bps, in_bps, free, method),
        error_s=events * _resolution(float(finish.max())),
    )


def prepared(
    trace: Trace,
    scheduler: Scheduler,
    values: Values,
    out_bps: npt.ArrayLike | None,
    in_bps: npt.ArrayLike | None,
) -> tuple[Demand, Rule, dict[str, Value]]:
    """Return the demand, the scheduler's rule and the values completed by their defaults."""
    rule = scheduler.rules["fluid"]
    assert isinstance(rule, Rule)
    complete = {**defaults((*rule.parameters, *PARAMETERS)), **values}
    uniform = np.full(trace.ports, float(complete["fabric.gbps"] or 0.0) * GIGABIT)
    capacity = np.concatenate(
        [
            uniform if side is None else _capacity(trace, name, side)
            for name, side in (("out_bps", out_bps), ("in_bps", in_bps))
        ]
    )
    return demand(trace, capacity, bool(complete["fabric.local_is_free"])), rule, complete


def _resolution(time_s: float) -> float:
    """Events closer than this to each other count as simultaneous at a time [s]."""
    return max(SAME_S, SAME_SHARE * time_s)


def _check_resolution(sizes: Demand, values: Values) -> None:
    """Refuse coflows that are over, on average, before the clock can tell."""
    gamma = sizes.gamma_s[sizes.gamma_s > 0]
    if len(gamma) == 0:
        return
    latest = float(sizes.arrival_s[-1])
    resolution, mean = _resolution(latest), float(gamma.mean())
    if resolution > FINEST * mean:
        cause = f"lower fabric.gbps ({values['fabric.gbps']:g}) or use larger flows"
        if resolution > SAME_S:
            cause = f"let arrivals begin near 0 s (the latest is at {latest:g} s)"
        raise SimulationError(
            f"{sizes.trace.name}: a coflow needs {mean:.2g} s at its busiest port on average, but "
            f"engine=fluid only tells times apart that differ by {resolution:.1g} s: {cause}"
        )


def _capacity(trace: Trace, name: str, bytes_per_s: npt.ArrayLike) -> Floats:
    capacity = np.asarray(bytes_per_s, np.float64)
    if capacity.shape != (trace.ports,) or not np.all((capacity > 0) & (capacity < np.inf)):
        raise ParameterError(
            f"{name}: give {trace.ports} capacities > 0 B/s, one for each host of {trace.name}"
        )
    return capacity


def warm(schedulers: Iterable[Scheduler]) -> None:
    """Compile the kernels that some schedulers need, or load them from the cache.

    Runs three coflows under each kind of rule. Functions of a scheduler are not called: they may
    fail, or know only the coflows of their own trace.
    """
    mesh = [(s, d, 3e6 * (1 + s + d)) for s in (0, 1) for d in (0, 1, 2)]
    trace = from_flows("warm", 3, [(1, 0.0, mesh), (2, 0.5, mesh[:3]), (3, 30.0, mesh[1:2])])
    kinds = {}
    for scheduler in schedulers:
        rule = scheduler.rules.get("fluid")
        kinds[type(rule), isinstance(rule, Ordered) and rule.kernel is None] = scheduler, rule
    for scheduler, rule in kinds.values():
        if isinstance(rule, Ordered):
            rule = replace(rule, key=lambda view, _: np.zeros(len(view)))
        elif isinstance(rule, Queues):
            rule = replace(rule, weight=lambda view, _: np.ones(len(view)))
        if rule is not None:
            run(trace, replace(scheduler, rules={"fluid": rule}), {})


def check(scheduler: Scheduler, values: Values) -> None:
    """Raise `ParameterError` for weights that do not fit the number of queues."""
    rule = scheduler.rules["fluid"]
    if isinstance(rule, Queues) and values.get("queue.weights") is not None:
        queue_weights({**defaults(rule.parameters), **values})


ENGINE = Engine(
    name="fluid",
    summary="exact continuous time: every arrival, flow end and queue change at its instant",
    version=2,
    parameters=PARAMETERS,
    ignores=frozenset(),
    run=run,
    warm=warm,
    check=check,
)
