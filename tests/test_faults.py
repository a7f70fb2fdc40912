"""Real faults: killed drivers and workers, a full disk, signals at any instant, greedy points.

The fast tests disturb a sweep a few times, the slow ones (``pytest -m slow``) fifty.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from core.errors import StoreError
from sweep import load
from tests.test_execute import points_of, ray_with, rows_of

ROOT = Path(__file__).resolve().parents[1]
WORDS = (
    *("scheduler=asebf,varys", "queue.base=range(2,62)", "seed=1,2"),
    *("workload.coflows=60", "workload.ports=40", "output.coflows=true"),
)
POINTS = 122
UNTIMED = ("wall_s", "host")
GONE_S = 10.0
"""Seconds after a signal in which everything is gone; Ray itself needs some after a kill."""

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc")


class Sweep:
    """A sweep in a process of its own, and all that it starts."""

    def __init__(self, cwd: Path, *words: str, directory: str = "out") -> None:
        self.mark = f"SWEEP_TEST={uuid.uuid4().hex}"
        name, value = self.mark.split("=")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sweep", *WORDS, f"output.dir={directory}", *words],
            cwd=cwd,
            env=os.environ | {"PYTHONPATH": str(ROOT), name: value},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # A background job inherits SIGINT as ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def started(self) -> dict[int, str]:
        """Return the processes of the sweep that are alive, with their command lines."""
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() not in (place / "environ").read_bytes():
                    continue
                state = (place / "stat").read_text().rpartition(")")[2].split()[0]
                if state not in "ZX":
                    said = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(place.name)] = said
            except OSError:
                continue
        return found

    def left_over(self) -> dict[int, str]:
        """Return what is alive some seconds after the end."""
        killed = self.process.returncode == -signal.SIGKILL
        deadline = time.monotonic() + (6 * GONE_S if killed else GONE_S)
        while (left := self.started()) and time.monotonic() < deadline:
            time.sleep(0.2)
        return left

    def output(self, timeout: float = 300) -> str:
        return self.process.communicate(timeout=timeout)[0]

    def kill_workers(self, every_s: float, pick: random.Random) -> int:
        """Kill a worker from time to time until the sweep ends; return how many.

        Less and less often, so that on a slow machine workers come to work at all.
        """
        killed = 0
        while self.process.poll() is None:
            time.sleep(every_s * 1.2 ** max(killed - 10, 0))
            workers = [pid for pid, said in self.started().items() if "run_chunk" in said]
            if workers:
                try:
                    os.kill(pick.choice(workers), signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    pass
        return killed


def tables(path: Path) -> list[pd.DataFrame]:
    """Return results and coflows without what differs from run to run, each row once."""
    keys = ["point_id"], ["point_id", "coflow_id"]
    found = []
    for folder, key in zip(("results", "coflows"), keys, strict=True):
        parts = [pq.read_table(file).to_pandas() for file in (path / folder).iterdir()]
        table = pd.concat(parts).drop(columns=[*UNTIMED], errors="ignore")
        assert not table.duplicated(key).any()
        found.append(table.sort_values(key).reset_index(drop=True))
    return found


def assert_same(path: Path, wanted: list[pd.DataFrame]) -> None:
    for table, other in zip(tables(path), wanted, strict=True):
        pd.testing.assert_frame_equal(table, other)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[list[pd.DataFrame], float]:
    """Return the tables of a sweep that nothing disturbs, and how long it took [s]."""
    path = tmp_path_factory.mktemp("undisturbed")
    began = time.monotonic()
    run = Sweep(path, "executor=local")
    said = run.output()
    assert run.process.returncode == 0, said
    found = tables(path / "out")
    assert [len(t) for t in found] == [POINTS, 60 * POINTS]
    return found, time.monotonic() - began


@pytest.fixture(scope="module")
def undisturbed(whole) -> list[pd.DataFrame]:
    return whole[0]


@pytest.fixture(scope="module")
def longest_s(whole) -> float:
    """Return how long a sweep takes, about: signals come within that time [s]."""
    return whole[1]


def disturbed_until_done(
    path: Path, numbers: list[int], executor: str, seed: int, longest_s: float
) -> Counter[str]:
    """Start the same sweep and send it signals at random instants, then let it finish."""
    pick, count = random.Random(seed), Counter[str]()
    for number in numbers:
        run = Sweep(path, f"executor={executor}")
        time.sleep(pick.uniform(0, longest_s))
        run.process.send_signal(number)
        said = run.output()
        code = run.process.returncode
        count["interrupted" if code else "finished before"] += 1
        if code and number != signal.SIGKILL:
            # Before Python can say anything a signal ends it the hard way.
            assert code in (130, -number), said
            assert "Traceback" not in said, said
        assert not run.left_over()
    run = Sweep(path, f"executor={executor}")
    said = run.output()
    assert run.process.returncode == 0, said
    assert not run.left_over()
    return count


@pytest.mark.parametrize("executor", ["local", "ray"])
def test_a_killed_driver_loses_and_doubles_nothing(
    tmp_path, undisturbed, longest_s, executor
) -> None:
    count = disturbed_until_done(tmp_path, [signal.SIGKILL] * 3, executor, 1, longest_s)
    assert count["interrupted"] > 0
    assert_same(tmp_path / "out", undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "ray"])
def test_a_driver_killed_at_fifty_instants(tmp_path, undisturbed, longest_s, executor) -> None:
    for k in range(5):
        path = tmp_path / str(k)
        path.mkdir()
        disturbed_until_done(path, [signal.SIGKILL] * 10, executor, k, longest_s)
        assert_same(path / "out", undisturbed)


@pytest.mark.slow
def test_signals_leave_no_process(tmp_path, undisturbed, longest_s) -> None:
    numbers = [signal.SIGINT, signal.SIGTERM]
    disturbed_until_done(tmp_path, numbers, "ray", 2, longest_s)
    assert_same(tmp_path / "out", undisturbed)


@pytest.mark.slow
def test_signals_at_twenty_instants(tmp_path, undisturbed, longest_s) -> None:
    numbers = [signal.SIGINT, signal.SIGTERM] * 10
    disturbed_until_done(tmp_path, numbers, "ray", 3, longest_s)
    assert_same(tmp_path / "out", undisturbed)


def killed_workers(path: Path, undisturbed: list[pd.DataFrame], every_s: float) -> int:
    run = Sweep(path, "sweep.retries=20", "ray.num_cpus=2")
    killed = run.kill_workers(every_s, random.Random(4))
    said = run.output()
    assert run.process.returncode == 0, said
    assert not run.left_over()
    assert_same(path / "out", undisturbed)
    return killed


@pytest.mark.slow
def test_workers_killed_every_second(tmp_path, undisturbed) -> None:
    assert killed_workers(tmp_path, undisturbed, 1.0) >= 2


@pytest.mark.slow
def test_workers_killed_every_second_ten_times_over(tmp_path, undisturbed) -> None:
    for k in range(10):
        path = tmp_path / str(k)
        path.mkdir()
        assert killed_workers(path, undisturbed, 1.0) >= 2


def meminfo(name: str) -> int:
    """Return a number of ``/proc/meminfo`` [bytes]."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name + ":"))


@pytest.mark.slow
def test_a_point_that_eats_memory_costs_itself_alone(monkeypatch) -> None:
    """Ray ends it before the machine is full; here that is at 3 GB more than now."""
    total, room = meminfo("MemTotal"), meminfo("MemAvailable")
    if room < 6e9:
        pytest.skip("less than 6 GB of memory are free")
    monkeypatch.setenv("RAY_memory_usage_threshold", f"{(total - room + 3e9) / total:.4f}")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "100")
    todo = points_of("scheduler=asebf", "queue.base=range(2,14)", "workload.coflows=30")
    greedy = todo[5].point_id

    def eat(point):
        if point.point_id == greedy:
            import time

            hoard = []
            for _ in range(55):  # at most 5.5 GB
                hoard.append(bytearray(b"x") * 100_000_000)
                time.sleep(0.05)

    with ray_with(eat, chunk=4, retries=1) as executor:
        rows = rows_of(executor(todo, frozenset()))
    assert {i for i, r in rows.items() if r["status"] == "error"} == {greedy}
    assert len(rows) == len(todo)
    assert "its worker died 2 times (OutOfMemoryError" in rows[greedy]["error"]


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A file system of 130 kB, less than the sweep writes."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = shutil.which("mount")
    if (
        mount is None
        or subprocess.run(
            [mount, "-t", "tmpfs", "-o", "size=130k", "tmpfs", str(path)],
            capture_output=True,
            check=False,
        ).returncode
    ):
        pytest.skip("mounting a small disk is not permitted here")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def test_a_full_disk(tmp_path, small_disk, undisturbed) -> None:
    run = Sweep(tmp_path, "executor=local", directory="disk/out")
    said = run.output()
    assert run.process.returncode == 2, said
    (error,) = [line for line in said.splitlines() if line.startswith("error: ")]
    assert "No space left on device; what is finished stays readable" in error
    assert "Traceback" not in said
    try:
        rows = load(small_disk / "out").drop_duplicates("point_id")
        finished = rows["status"].eq("ok").sum()
    except StoreError:  # on a fast machine all come at once, and do not fit
        finished = 0
    assert finished < POINTS
    subprocess.run(["mount", "-o", "remount,size=100m", str(small_disk)], check=True)
    run = Sweep(tmp_path, "executor=local", directory="disk/out")
    said = run.output()
    assert run.process.returncode == 0, said
    assert finished == 0 or f"{finished} points finished in disk/out" in said
    assert_same(small_disk / "out", undisturbed)
