"""The command line, end to end, as a user types it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sweep import load
from sweep.store import DatasetWriter
from tests.commands import Done, here, in_process
from tests.paths import ROOT

TRACES = ROOT / "tests" / "data" / "traces"
SMALL = ("workload.coflows=30", "workload.ports=12")


def process(*words: str, cwd: Path) -> Done:
    """Run a sweep in a process of its own."""
    return in_process("-m", "sweep", *words, cwd=cwd)


def test_a_sweep_ends_with_a_table_and_a_dataset(tmp_path) -> None:
    done = process("scheduler=asebf,aalo", "executor=local", *SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for name in ("scheduler", "coflows", "mean", "p50", "p95", "max", "SN", "LW", "improvement"):
        assert any(name in line for line in lines)
    assert sum("% over" in line for line in lines) == 1
    directory = lines[-1].removeprefix("dataset: ")
    assert (tmp_path / directory).is_dir()
    assert (tmp_path / "outputs" / "latest").resolve() == (tmp_path / directory).resolve()
    table = load(tmp_path / "outputs" / "latest")
    assert list(table["scheduler"]) == ["asebf", "aalo"]
    manifest = json.loads((tmp_path / directory / "manifest.json").read_text())
    assert (manifest["state"], manifest["ok"], manifest["failed"]) == ("complete", 2, 0)
    assert "scheduler=asebf,aalo" in manifest["command"]


def test_the_papers_formula_is_in_the_table(tmp_path) -> None:
    """(slow − fast) / slow on the mean CCT."""
    done = here("scheduler=fifo,varys", "executor=local", *SMALL, cwd=tmp_path)
    fifo, varys = load(tmp_path / "outputs" / "latest")["mean_cct_s"]
    assert f"{100 * (fifo - varys) / fifo:.1f} % over fifo" in done.stdout


def test_the_same_directory_again_runs_only_what_is_new(tmp_path) -> None:
    words = ("executor=local", "output.dir=mine", *SMALL)
    here("scheduler=aalo,varys", *words, cwd=tmp_path)
    before = load(tmp_path / "mine").set_index("scheduler")
    done = here("scheduler=aalo,varys,fifo", *words, cwd=tmp_path)
    assert "2 points finished in mine: 1 to run" in done.stdout
    after = load(tmp_path / "mine").set_index("scheduler")
    assert list(after.index) == ["aalo", "varys", "fifo"]
    assert list(after.loc[["aalo", "varys"], "wall_s"]) == list(before["wall_s"])


def test_ray_and_local_write_the_same_rows(tmp_path) -> None:
    words = ("scheduler=asebf,varys", "queue.base=2,10", "replicates=2", "output.coflows=true")
    for executor in ("ray", "local"):
        run = process if executor == "ray" else here
        done = run(*words, *SMALL, f"executor={executor}", f"output.dir={executor}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    for coflows in (False, True):
        a, b = (load(tmp_path / e, coflows=coflows) for e in ("ray", "local"))
        keys = ["point_id", "coflow_id"] if coflows else ["grid_row"]
        untimed = [c for c in a.columns if c not in ("wall_s", "host")]
        a, b = (t.sort_values(keys)[untimed].reset_index(drop=True) for t in (a, b))
        assert a.equals(b)
        assert len(a) == (6 * 30 if coflows else 8)


def test_a_point_that_fails_is_shown_and_the_exit_code_says_so(tmp_path) -> None:
    """10^13 MB at one reducer are beyond what the engine counts exactly."""
    (tmp_path / "huge.txt").write_text("2 1\n1 0 1 0 1 1:1e13\n")
    done = here(
        "workload=trace",
        f"workload.path=huge.txt,{TRACES / 'rand-8x200.txt'}",
        "scheduler=aalo",
        "engine=coflowsim",
        "executor=local",
        "output.dir=out",
        cwd=tmp_path,
    )
    assert done.returncode == 1, done.stderr
    assert "SimulationError" in done.stdout
    assert "output.dir=out" in done.stdout
    table = load(tmp_path / "out").set_index("workload_path")
    assert list(table["status"]) == ["error", "ok"]
    assert "huge.txt" in table["error"].iloc[0]


def test_failed_points_run_again_on_request_only(tmp_path) -> None:
    """The command that is printed runs them, and nothing else."""
    (tmp_path / "huge.txt").write_text("2 1\n1 0 1 0 1 1:1e13\n")
    words = (
        *("workload=trace", f"workload.path=huge.txt,{TRACES / 'rand-8x200.txt'}"),
        *("scheduler=aalo,varys", "engine=coflowsim", "executor=local"),
    )
    first = here(*words, "output.dir=out", cwd=tmp_path)
    assert first.returncode == 1
    (said,) = [line for line in first.stdout.splitlines() if "only the failed points" in line]
    command = shlex.split(said.split("again: ")[1])
    again = f"python -m sweep {' '.join(words)} output.dir=out sweep.retry_failed=true"
    assert command == again.split()
    second = here(*words, "output.dir=out", cwd=tmp_path)
    assert second.returncode == 1
    assert "2 points failed before; add sweep.retry_failed=true to run them again" in second.stdout
    assert "2 points finished in out: 0 to run" in second.stdout
    assert "2 of 4 points failed" in second.stdout
    third = here(*command[3:], cwd=tmp_path)
    assert third.returncode == 1
    assert "2 points finished in out: 2 to run" in third.stdout
    assert sum("to run only the failed" in line for line in third.stdout.splitlines()) == 1
    assert "output.dir=out output.dir=out" not in third.stdout


def test_a_second_sweep_in_one_directory_is_refused(tmp_path) -> None:
    with DatasetWriter.open(tmp_path / "out"):
        done = here("scheduler=aalo", "executor=local", "output.dir=out", *SMALL, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: out: another sweep is writing to it; wait for its end")
    assert len(done.stderr.splitlines()) == 1


def test_a_damaged_part_is_named_and_its_points_run_again(tmp_path) -> None:
    words = ("scheduler=aalo,varys", "executor=local", "output.dir=out", *SMALL)
    here(*words, cwd=tmp_path)
    before = load(tmp_path / "out")
    (part,) = (tmp_path / "out" / "results").iterdir()
    part.write_bytes(part.read_bytes()[:-100])
    done = here(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (
        "out/results/part-000001.parquet is damaged and was moved to "
        "out/damaged/results-part-000001.parquet; its points of this grid run again" in done.stdout
    )
    untimed = [c for c in before.columns if c not in ("wall_s", "host")]
    assert load(tmp_path / "out")[untimed].equals(before[untimed])


def test_a_timeout_needs_a_process_that_can_be_ended(tmp_path) -> None:
    done = here("scheduler=aalo", "executor=local", "sweep.timeout_s=5", cwd=tmp_path)
    assert done.returncode == 2
    assert "sweep.timeout_s=5: executor=local" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_timeout_is_a_row_and_the_others_go_on(tmp_path) -> None:
    words = ("scheduler=fair", "workload.coflows=30,20000", "workload.load=0.1", "output.dir=out")
    done = process(*words, "sweep.timeout_s=2", "ray.num_cpus=1", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "ran longer than sweep.timeout_s=2" in done.stdout
    table = load(tmp_path / "out").set_index("workload_coflows")
    assert dict(table["status"]) == {30: "ok", 20000: "timeout"}


def test_fail_fast_stops_and_says_so_in_the_manifest(tmp_path) -> None:
    (tmp_path / "huge.txt").write_text("2 1\n1 0 1 0 1 1:1e13\n")
    words = (
        "workload=trace",
        "workload.path=huge.txt",
        "scheduler=aalo,varys,fifo,scf",
        "engine=coflowsim",
    )
    more = ("executor=local", "sweep.fail_fast=true", "output.dir=out")
    done = here(*words, *more, cwd=tmp_path)
    assert done.returncode == 1
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["state"], manifest["ok"], manifest["failed"]) == ("stopped", 0, 1)


def test_a_dry_run_prints_the_plan_and_writes_nothing(tmp_path) -> None:
    words = ("scheduler=varys,aalo,asebf", "width=sender,receiver,max", "queue.base=2,10")
    done = here(*words, "sweep.dry_run=true", cwd=tmp_path)
    assert done.returncode == 0
    assert "18 grid rows: 9 unique points" in done.stdout
    assert "9 rows share a run with another row:\n  width is not read by" in done.stdout
    assert "width is not read by aalo, varys" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_keeps_what_is_finished(signal_number, tmp_path) -> None:
    words = [
        *("scheduler=asebf", "queue.base=range(2,402)", "executor=local", "output.dir=out"),
        *("workload.coflows=80", "workload.ports=50"),
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "sweep", *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    results = tmp_path / "out" / "results"
    deadline = time.monotonic() + 120
    while not (results.is_dir() and any(results.glob("part-*.parquet"))):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal_number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "output.dir=out" in out
    finished = load(tmp_path / "out")["status"].eq("ok").sum()
    assert 0 < finished < 400
    again = here(*words, cwd=tmp_path)
    assert f"{finished} points finished" in again.stdout
    table = load(tmp_path / "out")
    assert table["status"].eq("ok").sum() == len(table) == 400


def test_a_signal_ends_a_long_point(tmp_path) -> None:
    """Signals reach a sweep during a point of minutes."""
    words = ["executor=local", "scheduler=fair", "workload.coflows=20000", "workload.load=0.1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "sweep", *words, "output.dir=out"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "out" / "points.parquet").exists():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 130, out
    assert "stopping" in out


def test_an_early_interrupt_has_no_traceback(tmp_path) -> None:
    for delay in (0.1, 0.4):
        process = subprocess.Popen(
            [sys.executable, "-m", "sweep", "executor=local"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stderr=subprocess.PIPE,
            text=True,
            # A background job inherits SIGINT as ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode in (130, -signal.SIGINT)
        assert process.returncode != 130 or "Traceback" not in err
