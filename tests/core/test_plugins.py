"""Conformance: what every scheduler, engine and workload has to keep, found by listing them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from core import registry
from core.errors import InputError, PluginError
from core.keys import parameters
from core.parameters import Parameter, defaults
from core.plugins import discover
from core.schedulers import Scheduler, schedulers
from core.shipped import SHIPPED, fingerprint
from core.shuffle.axes import TRACED
from core.trace import Trace
from core.workloads import workloads
from core.workloads.custom import WORKLOAD as CUSTOM
from core.workloads.toy import WORKLOAD as TOY
from tests.dropped_in import HEAD, KEYED, drop

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


GOOD_RULE = "rules={'fluid': Ordered(lambda view, values: view.gamma_s)}"
RECORD = HEAD + "SCHEDULER = Scheduler(name='mine', summary='', source='', info='blind', {})\n"
BROKEN = {
    "syntax": ("x = 1\ndef key(view:\n", r"line 2: .*"),
    "import": ("\nimport no_such_module\n", r"line 2: ModuleNotFoundError: .*no_such_module.*"),
    "raises": ("def f():\n    return 1 / 0\n\nf()\n", r"line 2: ZeroDivisionError: .*"),
    "leaves": ("import sys\nsys.exit('bye')\n", r"line 2: SystemExit: bye"),
    "no record": ("x = 1\n", r": it exports no SCHEDULER = Scheduler\(…\)"),
    "wrong record": ("\n\nSCHEDULER = 3\n", r"line 3: SCHEDULER is of type int; it .*"),
    "no fields": (HEAD + "SCHEDULER = Scheduler('mine')\n", r"line 3: TypeError: .*missing.*"),
    "no parameters": (RECORD.format("rules={'fluid': 3}"), r"line 3: .*has no parameters.*"),
    "rules": (RECORD.format("rules=None"), r"line 3: AttributeError: .*"),
    "info": (
        RECORD.format(GOOD_RULE).replace("blind", "all"),
        r"line 3: info='all': allowed is one of clairvoyant, width, blind",
    ),
    "taken": (
        RECORD.format(GOOD_RULE).replace("'mine'", "'aalo'"),
        r"line 3: the name 'aalo' is .*",
    ),
    "default": (
        KEYED.format("'mine.slack', float, -1.0, 'h', minimum=0"),
        r"line 5: .*its default is not allowed: mine.slack=-1.0: allowed is a number ≥ 0",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_named_with_its_line_and_takes_nothing_with_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, message = BROKEN[name]
    files = {"mine.py": text, "aalo.py": GOOD.format("aalo")}
    package = _package(tmp_path, monkeypatch, files)
    records = discover(package, Scheduler, "SCHEDULER", Scheduler.problem)
    assert list(records) == ["aalo"]
    assert "aalo" in records
    assert "other" not in records
    with pytest.raises(KeyError):
        records["other"]
    path = re.escape(str(tmp_path / "dropped" / "mine.py"))
    for request in (lambda: records["mine"], lambda: "mine" in records):
        with pytest.raises(PluginError) as caught:
            request()
        assert re.fullmatch(rf"mine cannot be used: {path} ?{message}", str(caught.value))


def test_the_file_that_is_called_like_its_record_keeps_the_name(tmp_path, monkeypatch) -> None:
    files = {"a.py": GOOD.format("b"), "b.py": GOOD.format("b")}
    records = discover(_package(tmp_path, monkeypatch, files), Scheduler, "SCHEDULER")
    assert records.modules == {"b": "dropped.b"}
    assert str(records.broken["a"]).endswith(
        "a.py line 2: the name 'b' is taken by " + str(tmp_path / "dropped" / "b.py")
    )


def test_the_list_of_shipped_modules_is_that_of_the_folders() -> None:
    for package, names in SHIPPED.items():
        module = importlib.import_module(package)
        present = {info.name for info in pkgutil.iter_modules(module.__path__)}
        assert present <= names, f"core/shipped.py does not list all modules of {package}"


def test_a_fingerprint_is_that_of_a_file_and_of_what_it_imports(tmp_path, monkeypatch) -> None:
    """Neither the standard library nor installed packages count, nor files nobody imports."""
    folder = tmp_path / "own_files"
    files = {
        "__init__": "",
        "mine": "import json, numpy\nfrom . import helper\nfrom own_files.deep import x\n",
        "helper": "",
        "deep": "def f():\n    import own_files.last\nx = 1\n",
        "last": "",
        "other": "",
    }
    drop(tmp_path, **{f"own_files__{name}": text for name, text in files.items() if name[0] != "_"})
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))

    def now() -> str:
        fingerprint.cache_clear()
        importlib.invalidate_caches()
        return fingerprint("own_files.mine")

    first = now()
    assert now() == first
    for name in ("mine", "helper", "deep", "last", "__init__"):
        path = folder / f"{name}.py"
        text = path.read_text()
        path.write_text(text + "# edited\n")
        assert now() != first, name
        path.write_text(text)
    (folder / "other.py").write_text("# edited\n")
    assert now() == first


def test_workloads_without_randomness_are_not_seeded() -> None:
    assert not TOY.seeded
    assert CUSTOM.seeded
