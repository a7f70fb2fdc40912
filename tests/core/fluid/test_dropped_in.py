"""Laws for every scheduler that has a rule for `fluid`, found by listing them.

A file dropped into ``core/schedulers`` is tested without being told. The laws here look at
outcomes only, so they need to know nothing about a scheduler; `EXAMPLES` are rules of the kinds
that a file may bring and none of those listed has.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import coflowsim
from core.coflowsim import InOrder
from core.engine import check_info
from core.errors import GridError
from core.fluid import Matching, Ordered, Queues, View, run
from core.parameters import Values
from core.schedulers import Scheduler, schedulers
from core.trace import Floats, Trace, from_flows
from tests.dropped_in import DEADLINE, command, drop
from tests.profiles import examples
from tests.strategies import GIGABIT, SHIFTS, traces, values

few = examples(25)


def whim(view: View, values: Values) -> Floats:
    """An order that changes at every decision."""
    return (view.coflow_id * 7919 + np.floor(view.now_s * 1000)) % 13


def least_left(view: View, values: Values) -> list[float]:
    """Plain Python, and asked for at every decision."""
    pairs = zip(view.remaining_bytes, view.receivers, strict=True)
    return [left / receivers for left, receivers in pairs]


def root_of_flows(view: View, values: Values) -> Floats:
    return np.sqrt(view.flows)


def example(name: str, info: Any, rule: Any) -> Scheduler:
    return Scheduler(name=name, summary="", source="", info=info, rules={"fluid": rule})


EXAMPLES = (
    example("whim", "clairvoyant", Ordered(whim)),
    example("least_left", "clairvoyant", Ordered(least_left)),
    example("root_of_flows", "width", Queues(root_of_flows)),
)
LISTED = [s for s in schedulers().values() if "fluid" in s.rules]
every = pytest.mark.parametrize("scheduler", [*LISTED, *EXAMPLES], ids=lambda s: s.name)


@every
def test_only_clairvoyant_schedulers_get_rates_that_depend_on_sizes(scheduler: Scheduler) -> None:
    """MADD makes rates of the remaining bytes, and a matching goes by them."""
    for engine in scheduler.rules:
        check_info(scheduler, engine)


@pytest.mark.parametrize("info", ["blind", "width"])
@pytest.mark.parametrize(
    ("engine", "rule"),
    [
        ("fluid", Ordered(whim)),
        ("fluid", Matching()),
        ("coflowsim", InOrder(None)),
        ("coflowsim", coflowsim.Matching()),
    ],
)
def test_others_are_refused(info: Any, engine: str, rule: Any) -> None:
    scheduler = Scheduler(name="mine", summary="", source="", info=info, rules={engine: rule})
    with pytest.raises(
        GridError, match=f"mine declares info={info}, but its rule .* for engine={engine}"
    ):
        check_info(scheduler, engine)
    check_info(replace(scheduler, info="clairvoyant"), engine)


def test_a_dropped_in_file_is_refused_before_anything_runs(tmp_path: Path) -> None:
    drop(tmp_path, core__schedulers__deadline=DEADLINE.replace("clairvoyant", "width"))
    words = ("scheduler=deadline,aalo", "workload=toy", "executor=local")
    done = command(tmp_path, "sweep", *words, f"output.dir={tmp_path / 'run'}")
    assert done.returncode == 2
    assert (
        done.stderr.strip()
        .splitlines()[-1]
        .endswith(
            "scheduler=deadline declares info=width, but its rule Ordered for engine=fluid sets "
            "rates by the sizes of flows: declare info=clairvoyant, or take a rule that needs no "
            "sizes (Queues, FairPerFlow)"
        )
    )
    assert not (tmp_path / "run").exists()


@every
@given(trace=traces(), values=values(engine__bound="none"))
@few
def test_no_port_carries_more_than_it_can(
    scheduler: Scheduler, trace: Trace, values: dict[str, Any]
) -> None:
    """What arrives after a and is complete by b fits between a and b, at every port.

    With a coflow's own a and b this says that no coflow beats its Γ.
    """
    finish = run(trace, scheduler, values).finish_s
    carried = trace.size_bytes.copy()
    if values["fabric.local_is_free"]:
        carried[trace.src == trace.dst] = 0
    capacity = GIGABIT * values["fabric.gbps"]
    loads = np.zeros((len(trace), 2 * trace.ports))
    np.add.at(loads, (trace.coflow_of_flow, trace.src), carried)
    np.add.at(loads, (trace.coflow_of_flow, trace.ports + trace.dst), carried)
    for a in trace.arrival_s:
        for b in finish:
            inside = (trace.arrival_s >= a) & (finish <= b)
            most = loads[inside].sum(axis=0).max()
            assert most <= capacity * max(b - a, 0) * (1 + 1e-9) + capacity * 1e-8


@every
@given(
    trace=traces(),
    values=values(engine__interval_ms=0.0, engine__backfill=True, engine__bound="none"),
)
@few
def test_one_link_is_never_idle_while_there_is_work(
    scheduler: Scheduler, trace: Trace, values: dict[str, Any]
) -> None:
    """With all flows on one link, whatever the order, its busy periods are those of the work."""
    capacity = GIGABIT * values["fabric.gbps"]
    work = [(k, float(t), [(0, 1, float(b))]) for k, (t, b) in enumerate(_totals(trace))]
    finish = run(from_flows("link", 2, work), scheduler, values).finish_s
    free, ends = 0.0, []
    for _, arrival, [(_, _, size)] in work:
        if arrival > free and size > 0:
            ends.append(free)
        if size > 0:
            free = max(free, arrival) + size / capacity
    for end in (*ends[1:], free):
        if end > 0:
            assert np.abs(finish - end).min() <= 1e-8 + 1e-9 * end
    last = max([free, *(arrival for _, arrival, _ in work)])
    assert finish.max() == pytest.approx(last, rel=1e-9, abs=1e-8)


def _totals(trace: Trace) -> list[tuple[float, float]]:
    return list(zip(trace.arrival_s, trace.total_bytes(), strict=True))


@every
@given(trace=traces(), values=values(engine__interval_ms=0.0, engine__bound="none"))
@few
def test_a_lone_coflow_under_madd_finishes_at_gamma(
    scheduler: Scheduler, trace: Trace, values: dict[str, Any]
) -> None:
    if not isinstance(scheduler.rules["fluid"], Ordered):
        return
    first, last = trace.first_flow[:2]
    flows = [
        (int(trace.src[f]), int(trace.dst[f]), float(trace.size_bytes[f]))
        for f in range(first, last)
    ]
    lone = from_flows("lone", trace.ports, [(1, 0.25, flows)])
    outcome = run(lone, scheduler, values)
    np.testing.assert_allclose(outcome.finish_s - 0.25, outcome.gamma_s, rtol=1e-9)


@every
@given(trace=traces(), values=values(engine__bound="partition"))
@few
def test_nothing_beats_the_bound(
    scheduler: Scheduler, trace: Trace, values: dict[str, Any]
) -> None:
    outcome = run(trace, scheduler, values)
    assert outcome.bound_s is not None
    assert outcome.cct_s.mean() >= outcome.bound_s * (1 - 1e-9) - 1e-8


@every
@given(trace=traces(), values=values(engine__bound="none"), shift=SHIFTS)
@few
def test_names_of_ports_do_not_matter(
    scheduler: Scheduler, trace: Trace, values: dict[str, Any], shift: int
) -> None:
    """A view shows no ports. The shift keeps the order of flows, which breaks ties."""
    ports = {"ports": trace.ports + shift, "src": trace.src + shift, "dst": trace.dst + shift}
    moved = Trace(**{**vars(trace), **ports})
    shifted, expected = (run(t, scheduler, values).finish_s for t in (moved, trace))
    np.testing.assert_allclose(shifted, expected, rtol=1e-9, atol=2e-9)


@every
@given(trace=traces(), values=values(engine__bound="none"), hidden=st.integers(0, 6))
@few
def test_hidden_sizes_make_no_difference_before_they_show(
    scheduler: Scheduler, trace: Trace, values: dict[str, Any], hidden: int
) -> None:
    """Give a coflow of one flow more bytes: nothing differs before its old end."""
    if scheduler.info == "clairvoyant":
        return
    hidden %= len(trace)

    def finish(size: float) -> Floats:
        coflows = []
        for k in range(len(trace)):
            of_coflow = range(trace.first_flow[k], trace.first_flow[k + 1])
            flows = [(int(trace.src[f]), int(trace.dst[f]), trace.size_bytes[f]) for f in of_coflow]
            if k == hidden:
                flows = [(*flows[0][:2], size)]
            coflows.append((k, float(trace.arrival_s[k]), flows))
        return run(from_flows("hidden", trace.ports, coflows), scheduler, values).finish_s

    small, large = finish(3e6), finish(90e6)
    before = small < small[hidden] - 1e-8
    np.testing.assert_allclose(large[before], small[before], rtol=1e-9)
    assert np.all(large[~before] >= small[hidden] - 1e-8)
