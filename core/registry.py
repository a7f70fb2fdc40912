"""Engines by name, what a point of a kind reads, and how it runs."""

from __future__ import annotations

from functools import cache

from core.coflowsim import ENGINE as COFLOWSIM
from core.engine import Engine, check_info
from core.errors import GridError
from core.fluid import ENGINE as FLUID
from core.outcome import Outcome
from core.parameters import Parameter, Values, parents_first
from core.schedulers import schedulers
from core.shuffle.axes import partitioner_of
from core.trace import Trace
from core.watch import unwatch
from core.workloads import workloads


@cache
def engines() -> dict[str, Engine]:
    """Return every engine by name."""
    return {engine.name: engine for engine in (FLUID, COFLOWSIM)}


def reads(scheduler: str, engine: str, workload: str) -> tuple[Parameter, ...]:
    """Return the parameters that a point may read, each after the parameters that its `when` names.

    Raises
    ------
    GridError
        The engine cannot run the scheduler.
    """
    rule = schedulers()[scheduler].rules.get(engine)
    if rule is None:
        able = ", ".join(n for n, s in schedulers().items() if engine in s.rules)
        raise GridError(f"scheduler={scheduler}: engine={engine} cannot run it; it runs {able}")
    everything = {
        *rule.parameters,
        *engines()[engine].parameters,
        *(
            p
            for p in workloads()[workload].all_parameters
            if p.key not in engines()[engine].ignores
        ),
    }
    return tuple(parents_first(everything))


def check(engine: str, scheduler: str, values: Values) -> None:
    """Check values that are allowed one by one but perhaps not together.

    Raises
    ------
    InputError
    """
    check_info(schedulers()[scheduler], engine)
    for_engine = engines()[engine].check
    if for_engine is not None:
        for_engine(schedulers()[scheduler], values)
    partitioner = partitioner_of(values)
    if partitioner is not None and partitioner.check is not None:
        partitioner.check(values)


def simulate(trace: Trace, engine: str, scheduler: str, values: Values) -> Outcome:
    """Run one point: a trace under a scheduler in an engine."""
    try:
        return engines()[engine].run(trace, schedulers()[scheduler], values)
    finally:
        unwatch()
