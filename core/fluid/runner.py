"""From a rule to a kernel: keys, weights and limits as arrays; then run to the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from core.engine import Scheduler
from core.errors import ParameterError, SimulationError
from core.fluid.demand import Demand
from core.fluid.kernels import coflow_rates, dclas, fair, madd, matching, remaining
from core.fluid.kernels.clock import DECIDE, STALLED
from core.fluid.kernels.fair import Pace
from core.fluid.kernels.flow_state import Pairs, new_pairs
from core.fluid.kernels.matching import Hold
from core.fluid.rules import Matching, Ordered, Queues, Rule
from core.fluid.state import FluidState, new_fluid_state
from core.fluid.view import View
from core.parameters import Value, Values, number
from core.queues import note_if_unreached
from core.trace import Floats, Ints
from core.watch import watch

MB = 1e6
_CODES = {
    "once": remaining.GIVEN,
    "length": remaining.LENGTH,
    "size": remaining.SIZE,
    "gamma": remaining.GAMMA,
}


class Run(NamedTuple):
    """One run of a scheduler: the state, and the call that moves it on."""

    net: FluidState | Pairs
    flow_level: Pace | Hold | None
    """What `fair` and `matching` keep beside `net`."""
    proceed: Callable[[bool], int]
    """Run to the end; with True, only until the next decision has been made. Returns DECIDE for a
    decision, DONE or STALLED."""


def drive(sizes: Demand, scheduler: Scheduler, rule: Rule, values: Values) -> tuple[Floats, int]:
    """Run a scheduler; return the finish of each coflow [s] and the number of decisions.

    Raises
    ------
    ParameterError
        ``queue.weights`` that do not fit, or numbers from the scheduler that cannot be used.
    SimulationError
        A clock that stands still.
    """
    run = new_run(sizes, scheduler, rule, values)
    net = run.net
    finish = net.finish if isinstance(net, Pairs) else net.coflow.finish
    watch(finish)
    state = run.proceed(False)
    check_end(sizes, scheduler, net, state)
    return np.array(finish, np.float64), int(net.clock.events[0])


def check_end(sizes: Demand, scheduler: Scheduler, net: FluidState | Pairs, state: int) -> None:
    """Raise `SimulationError` if the run has ended with coflows that are not complete."""
    finish = net.finish if isinstance(net, Pairs) else net.coflow.finish
    unfinished = np.flatnonzero(finish < 0)
    if state == STALLED or len(unfinished):
        ids = ", ".join(str(i) for i in sizes.coflow_id[unfinished[:5]])
        raise SimulationError(
            f"scheduler={scheduler.name}: the clock stands still at {net.clock.now[0]!r} s after "
            f"{net.clock.events[0]} decisions, {net.clock.active[0]} coflows active, "
            f"{len(unfinished)} unfinished (ids {ids}…)"
        )


def new_run(sizes: Demand, scheduler: Scheduler, rule: Rule, values: Values) -> Run:
    """Lay out the state before the first arrival; raises as `drive` does."""
    if isinstance(rule, Ordered | Queues):
        net = new_fluid_state(sizes)
        _set_clock(net, values)
        if isinstance(rule, Queues):
            return Run(net, None, _with_queues(net, sizes, scheduler, rule, values))
        return Run(net, None, _in_order(net, sizes, scheduler, rule, values))
    pairs = new_pairs(sizes)
    _set_clock(pairs, values)
    if isinstance(rule, Matching):
        hold = matching.new_hold(pairs.capacity)
        return Run(pairs, hold, lambda pause: int(matching.simulate(pairs, hold, pause)))
    pace = fair.new_pace(sizes.ports)
    return Run(pairs, pace, lambda pause: int(fair.simulate(pairs, pace, pause)))


def _set_clock(net: FluidState | Pairs, values: Mapping[str, Value]) -> None:
    """Set the switches of a run."""
    net.clock.interval[0] = float(values["engine.interval_ms"] or 0.0) / 1e3
    net.clock.per_flow[0] = values["engine.trigger"] == "flow"
    net.clock.backfill[0] = bool(values.get("engine.backfill", False))


def _in_order(
    net: FluidState, sizes: Demand, scheduler: Scheduler, rule: Ordered, values: Values
) -> Callable[[bool], int]:
    key = np.zeros(len(sizes))
    if rule.kernel is not None:
        once = _ask(rule.key, net, sizes, scheduler, values, np.arange(len(sizes)))
        mantissa, exponent = np.frexp(once)  # as `rounded` does in the kernels
        key[:] = np.ldexp(np.rint(mantissa * 2.0**30), exponent - 30)
        code = _CODES[rule.kernel] if values.get("order") == "remaining" else remaining.GIVEN
        return lambda pause: int(madd.simulate(net, code, key, madd.AFTER if pause else madd.NEVER))

    def proceed(pause: bool) -> int:
        while (state := madd.simulate(net, remaining.GIVEN, key, madd.BEFORE)) == DECIDE:
            active = np.sort(net.order[: net.clock.active[0]])
            key[active] = _ask(rule.key, net, sizes, scheduler, values, active)
            if pause:
                return int(madd.simulate(net, remaining.GIVEN, key, madd.AFTER))
        return int(state)

    return proceed


def _with_queues(
    net: FluidState, sizes: Demand, scheduler: Scheduler, rule: Queues, values: Values
) -> Callable[[bool], int]:
    weight = _ask(rule.weight, net, sizes, scheduler, values, np.arange(len(sizes)))
    if not np.all(weight > 0):
        raise ParameterError(f"scheduler={scheduler.name}: its weights must be > 0")
    key_mb = sizes.total_bytes / weight / MB
    note_if_unreached(sizes.trace.name, scheduler.name, values, key_mb)
    upper, weights, codes = limits(values), queue_weights(values), _modes(values)
    net.coflow.weight[:] = weight
    net.coflow.limit[:] = upper[0] * weight if len(upper) > 0 else np.inf
    return lambda pause: int(dclas.simulate(net, codes, upper, weights, pause))


def _ask(
    rule: Callable[[View, Values], Floats],
    net: FluidState,
    sizes: Demand,
    scheduler: Scheduler,
    values: Values,
    coflows: Ints,
) -> Floats:
    view = View(sizes, net, coflows, scheduler.name, scheduler.info)
    numbers = np.asarray(rule(view, values), np.float64)
    if numbers.shape != (len(coflows),) or np.isnan(numbers).any():
        raise ParameterError(
            f"scheduler={scheduler.name}: its rule returned an array of shape {numbers.shape} or "
            f"with NaN; return one number for each of {len(coflows)} coflows"
        )
    return numbers


def _modes(values: Values) -> Ints:
    """Threshold mode and allocation as the kernel takes them."""
    per_queue = values["queue.threshold_mode"] == "per_queue"
    max_min = values["engine.within"] == "max_min"
    return np.array(
        [
            dclas.PER_QUEUE if per_queue else dclas.CUMULATIVE,
            coflow_rates.MAX_MIN if max_min else coflow_rates.EQUAL_SPLIT,
        ]
    )


def limits(values: Values) -> Floats:
    """Thresholds of all queues but the last, or their quotas [B], shape (K − 1,)."""
    first, base = number(values, "queue.first_threshold_mb"), number(values, "queue.base")
    with np.errstate(over="ignore"):
        return first * MB * base ** np.arange(number(values, "queue.count") - 1)


def queue_weights(values: Values) -> Floats:
    """Weights of all queues, shape (K,); empty with strict priority.

    Raises
    ------
    ParameterError
        Text that is not K numbers > 0.
    """
    if values["queue.between"] == "strict":
        return np.empty(0)
    count = int(number(values, "queue.count"))
    text = values["queue.weights"]
    if text is None:
        return np.arange(count, 0, -1, dtype=np.float64)
    try:
        weights = np.array([float(part) for part in str(text).replace(",", " ").split()])
    except ValueError:
        weights = np.empty(0)
    if len(weights) != count or not np.all((weights > 0) & (weights < np.inf)):
        raise ParameterError(
            f"queue.weights={text}: give {count} numbers > 0, one for each queue (queue.count), "
            "as in '3 2 1'"
        )
    return weights
