"""Conformance: what every scheduler, engine and workload has to keep, found by listing them."""

from __future__ import annotations

import importlib
import re
from types import ModuleType

import numpy as np
import pytest

from core import registry
from core.errors import InputError
from core.keys import parameters
from core.parameters import Parameter, defaults
from core.plugins import discover
from core.schedulers import Scheduler, schedulers
from core.shuffle.axes import TRACED
from core.trace import Trace
from core.workloads import workloads
from core.workloads.custom import WORKLOAD as CUSTOM
from core.workloads.toy import WORKLOAD as TOY

SAMPLE = {"workload.coflows": 12, "workload.ports": 6}


def sample(name: str) -> Trace:
    """A small trace of a workload that needs neither file nor network."""
    workload = workloads()[name]
    values = defaults(workload.parameters)
    values |= {k: v for k, v in SAMPLE.items() if k in values}
    if name == "custom":
        values["workload.ports"] = 100
    return workload.build(values, np.random.default_rng(5))


PAIRS = [(s, e) for s, record in schedulers().items() for e in record.rules]


@pytest.mark.parametrize(
    "record", [*schedulers().values(), *workloads().values()], ids=lambda r: r.name
)
def test_a_record_is_named_after_its_file_and_says_what_it_is(record) -> None:
    kind = "schedulers" if isinstance(record, Scheduler) else "workloads"
    module = importlib.import_module(f"core.{kind}.{record.name}")
    assert module.__doc__
    assert record.summary
    assert re.fullmatch(r"[a-z][a-z0-9_]*", record.name)


@pytest.mark.parametrize("parameter", parameters().values(), ids=lambda p: p.key)
def test_a_parameter_has_help_and_an_allowed_default(parameter: Parameter) -> None:
    assert parameter.help
    if not parameter.required:
        assert parameter.check(parameter.default) == parameter.default
    if parameter.minimum > -np.inf:
        with pytest.raises(InputError, match=re.escape(parameter.key)):
            parameter.check(parameter.minimum - 1)


@pytest.mark.parametrize("name", workloads())
def test_a_workload_reads_keys_of_its_own_group(name: str) -> None:
    workload = workloads()[name]
    groups = ("workload.",) if workload.partitioner == TRACED else ("workload.", "shuffle.")
    assert all(p.key.startswith(groups) for p in workload.parameters)


@pytest.mark.parametrize(("name", "engine"), PAIRS)
@pytest.mark.parametrize("workload", ["toy", "fb_like", "custom"])
def test_a_scheduler_completes_every_coflow_not_before_gamma(name, engine, workload) -> None:
    trace = sample(workload)
    values = defaults(registry.reads(name, engine, workload))
    outcome = registry.simulate(trace, engine, name, values)
    cct = outcome.finish_s - outcome.start_s
    assert cct.shape == (len(trace),)
    assert (cct >= outcome.gamma_s * (1 - 1e-9)).all()
    again = registry.simulate(trace, engine, name, values)
    np.testing.assert_array_equal(outcome.finish_s, again.finish_s)


@pytest.mark.parametrize("name", [n for n, w in workloads().items() if w.seeded])
def test_a_seeded_workload_is_its_seed(name: str) -> None:
    workload = workloads()[name]
    values = defaults(workload.parameters)
    if name != "custom":
        values |= SAMPLE
    values |= {"shuffle.partitioner": workload.partitioner}
    shuffle = np.random.SeedSequence(0)
    a, b, c = (workload.trace(values, np.random.default_rng(s), shuffle) for s in (1, 1, 2))
    np.testing.assert_array_equal(a.size_bytes, b.size_bytes)
    assert (
        len(a.size_bytes) != len(c.size_bytes)
        or (a.size_bytes != c.size_bytes).any()
        or (a.arrival_s != c.arrival_s).any()
    )


def _package(tmp_path, monkeypatch, files: dict[str, str]) -> ModuleType:
    folder = tmp_path / "dropped"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    for name, text in files.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module("dropped")


GOOD = (
    "from core.schedulers import Scheduler\n"
    "SCHEDULER = Scheduler(name='{}', summary='s', source='', info='blind', rules={{}})\n"
)


@pytest.fixture(autouse=True)
def _forget_dropped():
    yield
    import sys

    for name in [n for n in sys.modules if n.split(".")[0] == "dropped"]:
        del sys.modules[name]


def test_one_file_adds_a_scheduler(tmp_path, monkeypatch) -> None:
    files = {"mine.py": GOOD.format("mine"), "_helper.py": "raise RuntimeError"}
    found = discover(_package(tmp_path, monkeypatch, files), Scheduler, "SCHEDULER")
    assert list(found) == ["mine"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"mine.py": "x = 1\n"}, "exports no SCHEDULER"),
        ({"a.py": GOOD.format("same"), "b.py": GOOD.format("same")}, "is taken"),
    ],
)
def test_a_file_that_does_not_keep_the_rules_is_named(files, said, tmp_path, monkeypatch) -> None:
    with pytest.raises(TypeError, match=said):
        discover(_package(tmp_path, monkeypatch, files), Scheduler, "SCHEDULER")


def test_workloads_without_randomness_are_not_seeded() -> None:
    assert not TOY.seeded
    assert CUSTOM.seeded
