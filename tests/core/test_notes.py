"""Notes to the user: a threshold that no coflow reaches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core import registry
from core.notes import collected
from core.parameters import completed
from core.workloads.toy import WORKLOAD as TOY
from tests.dropped_in import command
from tests.values import by_key

NOTE = (
    "queue.first_threshold_mb={:g}: no coflow of toy reaches it, so scheduler={} keeps all in the "
    "first queue, in the order of arrival"
)


def notes(engine: str, scheduler: str, **values: Any) -> list[str]:
    """Notes of the toy's coflows of 500, 500 and 375 MB, of which the first has width 2."""
    trace = TOY.build({}, np.random.default_rng(0))
    with collected() as texts:
        registry.simulate(
            trace,
            engine,
            scheduler,
            completed(registry.reads(scheduler, engine, "toy"), by_key(**values)),
        )
    return texts


@pytest.mark.parametrize(
    ("engine", "scheduler", "reached", "beyond"),
    [
        ("fluid", "aalo", 499, 500),
        ("fluid", "asebf", 499, 500),
        ("coflowsim", "aalo", 499, 500),  # a MB of the trace is one of the simulator
        ("coflowsim", "asebf", 499, 500),
    ],
)
def test_a_threshold_above_every_coflow_is_noted(engine, scheduler, reached, beyond) -> None:
    assert notes(engine, scheduler, queue__first_threshold_mb=reached) == []
    expected = [NOTE.format(beyond, scheduler)]
    assert notes(engine, scheduler, queue__first_threshold_mb=beyond) == expected


def test_width_counts() -> None:
    """By flows the widths are 2, 1 and 1, and halves of 500 MB do not reach 400 MB; C2 does."""
    assert notes("fluid", "asebf", width="sum", queue__first_threshold_mb=249) == []
    assert notes("fluid", "asebf", width="sum", queue__first_threshold_mb=250) != []


def test_one_queue_has_no_threshold() -> None:
    assert notes("fluid", "aalo", queue__first_threshold_mb=1e6, queue__count=1) == []


@pytest.mark.parametrize("executor", ["local", "ray"])
def test_a_sweep_says_it_once(executor: str, tmp_path) -> None:
    words = ("workload=toy", "scheduler=aalo", "queue.first_threshold_mb=10,10485760")
    words += ("queue.base=2,4", f"executor={executor}", f"output.dir={tmp_path / 'run'}")
    done = command(tmp_path, "sweep", *words, *(["ray.num_cpus=1"] if executor == "ray" else []))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("note: ") == 1
    text = " ".join(done.stdout.split())
    assert f"note: {NOTE.format(10485760, 'aalo')}".replace("1.04858e+07", "10485760") in text
