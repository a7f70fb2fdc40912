"""Files of the user's own: broken ones take nothing with them, edited ones run again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sweep import load
from tests.dropped_in import KEYED, command, drop
from tests.paths import ROOT

SCHEDULER = """\
import numpy as np
from core.fluid import Ordered
from core.schedulers import Scheduler
{imports}

def key(view, values):
    return {key}

SCHEDULER = Scheduler(
    name="mine", summary="s", source="", info="clairvoyant", rules={{"fluid": Ordered(key)}}
)
"""
WORKLOAD = """\
from core.trace import from_flows
from core.workloads import Workload

WORKLOAD = Workload(
    name="one", summary="s", parameters=(),
    build=lambda values, rng: from_flows("one", 2, [(1, 0.0, [(0, 1, {size})])]),
    content=lambda values: "1",
)
"""
PARTITIONER = """\
from core.shuffle._base import Partitioner
from core.shuffle.partitioners.hash import rule

PARTITIONER = Partitioner(name="again", summary="s", source="", rule=rule)
"""
LONGEST_FIRST = "-view.length_bytes"
SHORTEST_FIRST = "view.length_bytes"


def sweep(top: Path, *words: str) -> str:
    """Run toy points into one directory; return what it prints."""
    words = (*words, "executor=local", f"output.dir={top / 'run'}")
    done = command(top / "files", "sweep", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write(top: Path, **parts: str) -> None:
    text = SCHEDULER.format(**({"imports": "", "key": LONGEST_FIRST} | parts))
    drop(top / "files", core__schedulers__mine=text)


def test_an_edited_scheduler_runs_again_and_the_run_says_why(tmp_path: Path) -> None:
    words = ("scheduler=mine,varys", "workload=toy")
    write(tmp_path)
    sweep(tmp_path, *words)
    assert "2 points finished" in sweep(tmp_path, *words)
    write(tmp_path, key=SHORTEST_FIRST)
    printed = sweep(tmp_path, *words)
    assert "1 point finished" in printed
    assert re.search(
        r"scheduler=mine has changed since the sweep of \S+: its point runs again", printed
    )
    assert "2 points finished" in sweep(tmp_path, *words)


def test_an_import_beside_a_scheduler_changes_its_points(tmp_path: Path) -> None:
    write(tmp_path, imports="from core.schedulers._mine import size", key="size(view)")
    helper = "def size(view): return {}view.size_bytes"
    drop(tmp_path / "files", core__schedulers___mine=helper.format(""))
    sweep(tmp_path, "scheduler=mine", "workload=toy")
    assert "1 point finished" in sweep(tmp_path, "scheduler=mine", "workload=toy")
    drop(tmp_path / "files", core__schedulers___mine=helper.format("-"))
    assert "its point runs again" in sweep(tmp_path, "scheduler=mine", "workload=toy")


def test_an_edited_workload_runs_again(tmp_path: Path) -> None:
    """One coflow of 125 MB at 1 Gb/s takes a second, of 250 MB two."""
    for size, mean in ((1.25e8, "1 000.00"), (2.5e8, "2 000.00")):
        drop(tmp_path / "files", core__workloads__one=WORKLOAD.format(size=size))
        printed = sweep(tmp_path, "scheduler=fifo", "workload=one")
        assert mean in printed
    assert "workload=one has changed" in printed


def copy_packages(top: Path) -> None:
    """Copy the packages: workers of Ray import what lies in them."""
    for package in ("core", "sweep", "conf"):
        shutil.copytree(ROOT / package, top / package)


def sweep_on_ray(top: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a sweep of copied packages on one worker, without compiling."""
    return subprocess.run(
        [sys.executable, "-m", "sweep", *words, "ray.num_cpus=1", "output.dir=run"],
        cwd=top,
        env=os.environ | {"PYTHONPATH": str(top), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_workers_of_ray_see_the_edited_file(tmp_path: Path) -> None:
    """The ids are made by the driver, and each worker checks that of its trace."""
    copy_packages(tmp_path)
    for size, mean in ((1.25e8, "1 000.00"), (2.5e8, "2 000.00")):
        drop(tmp_path, core__workloads__one=WORKLOAD.format(size=size))
        done = sweep_on_ray(tmp_path, "scheduler=fifo", "workload=one")
        assert done.returncode == 0, done.stdout + done.stderr
        assert mean in done.stdout
    assert "workload=one has changed" in done.stdout


def test_an_edited_partitioner_runs_again(tmp_path: Path) -> None:
    words = ("workload=shuffle_jobs", "workload.jobs=2", "workload.records=100", "scheduler=fifo")
    words += ("shuffle.partitioner=hash,again",)
    drop(tmp_path / "files", core__shuffle__partitioners__again=PARTITIONER)
    with_hash = PARTITIONER.replace("rule=rule", "rule=rule, parameters=(HASH,)").replace(
        "import rule", "import HASH, rule"
    )
    drop(tmp_path / "files", core__shuffle__partitioners__again=with_hash)
    sweep(tmp_path, *words)
    assert "2 points finished" in sweep(tmp_path, *words)
    drop(tmp_path / "files", core__shuffle__partitioners__again=with_hash + "# edited\n")
    printed = sweep(tmp_path, *words)
    assert "1 point finished" in printed
    assert "shuffle.partitioner=again has changed" in printed


CONTRADICTIONS = {
    "unit": ("'queue.base', str, 'x', 'h'", r"queue.base is a str .*float.*"),
    "column": ("'queue_base', float, 2.0, 'h'", r"queue_base would share .*"),
    "taken column": ("'gap', float, 2.0, 'h'", r"gap: every dataset has .*"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_scheduler_that_contradicts_shipped_keys_counts_as_broken(name, tmp_path: Path) -> None:
    parameter, message = CONTRADICTIONS[name]
    drop(tmp_path / "files", core__schedulers__mine=KEYED.format(parameter))
    done = command(tmp_path / "files", "sweep", "scheduler=mine", "workload=toy")
    assert done.returncode == 2
    path = re.escape(str(tmp_path / "files/core/schedulers/mine.py"))
    assert re.fullmatch(rf"error: mine cannot be used: {path}: {message}\n", done.stderr)


@pytest.mark.parametrize("package", ["schedulers", "workloads", "shuffle__partitioners"])
def test_the_others_go_on_working(package: str, tmp_path: Path) -> None:
    files: dict[str, Any] = {f"core__{package}__mine": "x = 1\ndef key(view:\n"}
    drop(tmp_path / "files", **files)
    assert "aalo" in sweep(tmp_path, "scheduler=aalo", "workload=toy")
    done = command(tmp_path / "files", "sweep", "--help")
    assert done.returncode == 0
    assert re.search(r"minecannotbeused:\S+mine\.pyline2:", "".join(done.stdout.split()))
    key = {"schedulers": "scheduler", "workloads": "workload"}.get(package, "shuffle.partitioner")
    done = command(tmp_path / "files", "sweep", f"{key}=mine")
    assert done.returncode == 2
    assert re.search(r"error: .*mine\.py line 2: ", done.stderr)


def test_a_broken_figure_takes_no_other_with_it(tmp_path: Path) -> None:
    drop(tmp_path / "files", sweep__report__figures__mine="x = 1\nFIGURE = 3\n")
    sweep(tmp_path, "scheduler=aalo,fifo", "workload=toy")
    words = (str(tmp_path / "run"), "--out", str(tmp_path / "page"))
    done = command(tmp_path / "files", "sweep.report", *words)
    assert done.returncode == 0, done.stderr
    assert re.search(r"figure mine cannot be used: \S+mine\.py line 2: FIGURE is ", done.stderr)
    assert "average_cct" in done.stdout


def test_a_rule_that_leaves_is_an_error_row(tmp_path: Path) -> None:
    """`sys.exit()` in a rule ends its point, not the sweep."""
    write(tmp_path, imports="import sys", key="sys.exit(0)")
    words = (
        "scheduler=mine,aalo",
        "workload=toy",
        "executor=local",
        f"output.dir={tmp_path / 'd'}",
    )
    done = command(tmp_path / "files", "sweep", *words)
    assert done.returncode == 1, done.stdout + done.stderr
    table = load(tmp_path / "d").set_index("scheduler")
    assert dict(table["status"]) == {"mine": "error", "aalo": "ok"}
    assert table["error"]["mine"].startswith("SystemExit: 0 (")
    assert "mine.py line" in table["error"]["mine"]


RULES = {
    "raises": ("", "1 / 0", "ZeroDivisionError: division by zero (raises.py line 7)"),
    "ends_its_worker": ("import os", "os._exit(3)", "its worker died 1 time ("),
    "never_ends": (
        "import itertools",
        "[0 for _ in itertools.count() if _ < 0]",
        "ran longer than",
    ),
}


def test_under_ray_a_rule_costs_its_own_points_only(tmp_path: Path) -> None:
    """The driver compiles kernels without calling it: it may raise, end its process, or hang."""
    copy_packages(tmp_path)
    for name, (imports, key, _) in RULES.items():
        text = SCHEDULER.format(imports=imports, key=key).replace('"mine"', f'"{name}"')
        drop(tmp_path, **{f"core__schedulers__{name}": text})
    words = (f"scheduler=aalo,{','.join(RULES)}", "sweep.retries=0", "sweep.timeout_s=5")
    done = sweep_on_ray(tmp_path, *words, "workload=toy")
    assert done.returncode == 1, done.stdout + done.stderr
    table = load(tmp_path / "run").set_index("scheduler")
    ended = {"aalo": "ok", "raises": "error", "ends_its_worker": "error", "never_ends": "timeout"}
    assert dict(table["status"]) == ended
    for name, (*_, message) in RULES.items():
        assert table["error"][name].startswith(message)


def test_details_are_those_of_the_code_that_load_shows(tmp_path: Path) -> None:
    """Three coflows of one point, not six of the old code and the new."""
    words = ("scheduler=mine", "workload=toy", "output.coflows=true")
    for key in (LONGEST_FIRST, SHORTEST_FIRST):
        write(tmp_path, key=key)
        sweep(tmp_path, *words)
    (point,) = load(tmp_path / "run")["point_id"]
    coflows = load(tmp_path / "run", coflows=True)
    assert coflows["point_id"].tolist() == [point] * 3
