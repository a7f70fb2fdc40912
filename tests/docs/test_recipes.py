"""The recipes in docs/ work as written: their files and commands, run in a copy of the packages.

Without compiled kernels: a copy would have to compile its own, and the examples are tiny.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.fluid import Ordered, View, run
from core.schedulers import Scheduler
from core.trace import from_flows
from tests.paths import ROOT

LAWS = "tests/core/fluid/test_dropped_in.py"
QUIET = ("-p", "no:cacheprovider")
COPIED = ("core", "sweep", "conf", "tests", "pyproject.toml")


class Recipe:
    """A page of docs/ and a copy of the packages to follow it in."""

    def __init__(self, page: str, folder: Path) -> None:
        self.text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        self.folder = folder
        for name in COPIED:
            if (ROOT / name).is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "data")
                shutil.copytree(ROOT / name, folder / name, ignore=ignored)
            else:
                shutil.copy(ROOT / name, folder / name)
        ((self.path, source),) = re.findall(
            r"<!-- file: (\S+) -->\n```python\n(.*?)```", self.text, re.DOTALL
        )
        self.write(source)

    def write(self, source: str) -> None:
        self.source = source
        (self.folder / self.path).write_text(source, encoding="utf-8")

    def block(self, mark: str) -> str:
        (found,) = re.findall(rf"<!-- {mark} -->\n```\w*\n(.*?)```", self.text, re.DOTALL)
        return str(found)

    def python(self, *words: str, compiled: bool = False) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(self.folder)}
        if not compiled:
            environment["NUMBA_DISABLE_JIT"] = "1"
        return subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )

    def commands(self, mark: str) -> list[list[str]]:
        lines = self.block(mark).splitlines()
        assert all(line.startswith("python ") for line in lines)
        return [line.split()[1:] for line in lines]

    def sweep(self, words: list[str], directory: str) -> pd.DataFrame:
        done = self.python(*words, f"output.dir={directory}")
        assert done.returncode == 0, done.stdout + done.stderr
        return pd.read_parquet(self.folder / directory / "results")


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory) -> Recipe:
    return Recipe("add-a-scheduler.md", tmp_path_factory.mktemp("scheduler"))


@pytest.fixture(scope="module")
def workload(tmp_path_factory) -> Recipe:
    return Recipe("add-a-workload.md", tmp_path_factory.mktemp("workload"))


def test_nothing_is_dropped_into_the_checkout(scheduler: Recipe, workload: Recipe) -> None:
    for recipe in (scheduler, workload):
        assert (recipe.folder / recipe.path).is_file()
        assert not (ROOT / recipe.path).exists()


def test_the_scheduler_gives_the_numbers_worked_out_by_hand(scheduler: Recipe) -> None:
    first, grid, large = scheduler.commands("run")
    done = scheduler.python(*first)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^frugal +3 +4 666\.67 ", done.stdout, re.MULTILINE), done.stdout
    printed = scheduler.python("-c", scheduler.block("read"))
    assert printed.stdout == scheduler.block("printed"), printed.stderr
    assert eval(printed.stdout) == {1: 5, 2: 6, 3: 3}
    means = scheduler.sweep(grid, "by_exponent").set_index("ports_exponent")["mean_cct_s"]
    assert dict(means) == pytest.approx({0: 13 / 3, 1: 14 / 3, 2: 13 / 3}, rel=1e-9)
    shorter = scheduler.sweep([*large, "workload.coflows=20", "workload.ports=8"], "fb_like")
    assert set(shorter["scheduler"]) == {"aalo", "varys", "frugal"}
    assert set(shorter["status"]) == {"ok"}


def test_the_scheduler_with_a_key_asked_for_once_is_the_same(scheduler: Recipe) -> None:
    words = ["-m", "sweep", "scheduler=frugal", "executor=local", "workload.coflows=20"]
    words += ["workload.ports=8", "engine.trigger=flow,coflow"]
    every_time = scheduler.sweep(words, "every_time")
    (line,) = re.findall(r"^ +\"fluid\": .*\n", scheduler.source, re.MULTILINE)
    before = scheduler.source
    try:
        scheduler.write(before.replace(line, scheduler.block("instead")))
        once = scheduler.sweep(words, "once")
    finally:
        scheduler.write(before)
    assert len(once) == 2
    for column in ("mean_cct_s", "p50_cct_s", "max_cct_s"):
        np.testing.assert_allclose(
            sorted(once[column]), sorted(every_time[column]), rtol=1e-9, atol=1e-9
        )


def test_the_scheduler_may_not_look_at_more_than_it_declares(scheduler: Recipe) -> None:
    before = scheduler.source
    words = ["-m", "sweep", "scheduler=frugal", "workload=toy", "executor=local"]
    try:
        scheduler.write(before.replace('info="clairvoyant"', 'info="width"'))
        done = scheduler.python(*words)
        law = scheduler.python("-m", "pytest", LAWS, *QUIET, "-k", "frugal and only_clairvoyant")
    finally:
        scheduler.write(before)
    assert done.returncode == 2
    assert scheduler.block("refused").strip() in done.stderr, done.stderr
    assert law.returncode == 1
    name = "test_only_clairvoyant_schedulers_get_rates_that_depend_on_sizes"
    assert f"{name}[frugal]" in law.stdout


def test_the_tests_find_the_scheduler(scheduler: Recipe) -> None:
    (words,) = scheduler.commands("tests")
    listed = scheduler.python(*words, *QUIET, "--collect-only")
    assert "test_a_scheduler_completes_every_coflow_not_before_gamma[toy-frugal" in listed.stdout
    # The bound's search takes minutes without a compiler.
    done = scheduler.python("-m", "pytest", LAWS, *QUIET, "-rA", "-k", "frugal and not bound")
    assert done.returncode == 0, done.stdout[-3000:]
    assert _passed(done.stdout, "frugal") == {*_laws()} - {"test_nothing_beats_the_bound"}


@pytest.mark.slow
def test_all_tests_pass_with_the_scheduler(scheduler: Recipe) -> None:
    (words,) = scheduler.commands("tests")
    done = scheduler.python(*words, *QUIET, "-rA", compiled=True)
    assert done.returncode == 0, done.stdout[-3000:]
    conformance = "test_a_scheduler_completes_every_coflow_not_before_gamma"
    assert _passed(done.stdout, "frugal") >= {*_laws(), conformance}


def _laws() -> list[str]:
    names = re.findall(
        r"^@every\n(?:@.*\n|    .*\n|\)\n)*def (test_\w+)", (ROOT / LAWS).read_text(), re.MULTILINE
    )
    assert len(names) >= 7
    return names


def _passed(output: str, name: str) -> set[str]:
    return set(re.findall(rf"^PASSED .*::(test_\w+)\[.*{name}.*\]", output, re.MULTILINE))


def test_the_help_names_the_scheduler_and_its_parameter(scheduler: Recipe) -> None:
    done = scheduler.python("-m", "sweep", "--help")
    assert "frugal" in done.stdout, done.stderr
    assert "ports_exponent" in done.stdout


def test_a_view_shows_what_the_table_says() -> None:
    """Each row adds to the one above it."""
    text = (ROOT / "docs/add-a-scheduler.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- view -->\n(.*?)\n\n", text, re.DOTALL)
    shown: set[str] = set()
    names = {n for n in vars(View) if not n.startswith("_")}
    for row in table.splitlines()[2:]:
        _, info, cells, _ = row.split("|")
        shown |= {name.split("(")[0] for name in re.findall(r"`([\w()]+)`", cells)}
        assert _visible(info.strip(" `"), names) == shown
    assert shown == names


def _visible(info: str, names: set[str]) -> set[str]:
    seen: set[str] = set()

    def look(view: View, values: object) -> list[float]:
        for name in names:
            try:
                value = getattr(view, name)
                if name == "width":
                    value("max")
            except AttributeError:
                continue
            seen.add(name)
        return [0.0] * len(view)

    record = Scheduler("looks", "", "", info, {"fluid": Ordered(look)})  # type: ignore[arg-type]
    run(from_flows("one", 2, [(1, 0.0, [(0, 1, 1e6)])]), record, {})
    return seen


def test_the_workload_gives_the_numbers_worked_out_by_hand(workload: Recipe) -> None:
    (words,) = workload.commands("run")
    done = workload.python(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    printed = workload.python("-c", workload.block("read"))
    assert printed.stdout == workload.block("printed"), printed.stderr
    assert eval(printed.stdout) == {0: 2, 1: 1}


def test_the_tests_find_the_workload(workload: Recipe) -> None:
    (words,) = workload.commands("tests")
    done = workload.python(*words, *QUIET, "-rA")
    assert done.returncode == 0, done.stdout[-3000:]
    assert len(_passed(done.stdout, "incast")) == 2
