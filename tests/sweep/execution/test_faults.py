"""Real faults: killed drivers and workers, a full disk, signals at any instant, greedy points.

The fast tests disturb a sweep a few times, the slow ones (``pytest -m slow``) fifty.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
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

from sweep import load
from tests.commands import here
from tests.paths import ROOT
from tests.ray_session import end_shared_ray
from tests.sweep.execution.test_executors import points_of, ray_with, rows_of

WORDS = (
    *("scheduler=asebf,varys", "queue.base=range(2,62)", "seed=1,2"),
    *("workload.coflows=60", "workload.ports=40", "output.coflows=true"),
)
POINTS = 122
UNTIMED = ("wall_s", "host")
GONE_S = 10.0
"""Seconds after a signal in which everything is gone."""

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc")


GUARDED = """
import os, subprocess, sys, tempfile, time
from pathlib import Path
from sweep.execution.ray_cleanup import Guard
guard = Guard()
sleeper = ["sh", "-c", "trap '' INT TERM HUP; (sleep 60; true) & sleep 60; true"]
marked = subprocess.Popen(sleeper, start_new_session=True)
name = os.getpid() if sys.argv[1] == "named" else 1
session = Path(tempfile.mkdtemp(), f"session_2026-01-01_00-00-00_0_{name}")
Path(session, "logs").mkdir(parents=True)
with Path(session, "logs", "agent.log").open("w") as log:  # as after a title
    titled = subprocess.Popen(["sleep", "60"], stdout=log, env={}, start_new_session=True)
if sys.argv[1] != "named":  # there the driver does not come to say which session it is
    guard.unmark(str(session))
os.environ.pop("COFLOW_SWEEP_GUARD", None)
with Path(session, "logs", "agent.log").open() as log:
    other = subprocess.Popen(["sleep", "60"], stdin=log)
print(marked.pid, titled.pid, guard._process.pid, other.pid, flush=True)
if sys.argv[1] == "close":
    guard.close()
    print("closed", flush=True)
time.sleep(60)
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("how", ["close", "kill", "named"])
def test_a_guard_ends_what_is_marked_and_nothing_else(how) -> None:
    """Both the process and its child, at an orderly end and after ``kill -9``."""
    process = subprocess.Popen(
        [sys.executable, "-c", GUARDED, how],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    marked, titled, guard, other = map(int, process.stdout.readline().split())
    try:
        if how == "close":
            assert process.stdout.readline() == "closed\n"
        else:
            assert alive(marked)
            process.kill()
        deadline = time.monotonic() + GONE_S
        while alive(marked) or alive(titled) or alive(guard):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert alive(other)
    finally:
        process.kill()
        with contextlib.suppress(ProcessLookupError):
            os.kill(other, signal.SIGKILL)
        process.communicate()


class Sweep:
    """A sweep in a process of its own, and all that it starts."""

    def __init__(self, cwd: Path, *words: str, directory: str = "out") -> None:
        self.mark = f"SWEEP_TEST={uuid.uuid4().hex}"
        name, value = self.mark.split("=")
        self._said = cwd / f"said-{value}"  # a pipe that nobody reads would stop it
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sweep", *WORDS, f"output.dir={directory}", *words],
                cwd=cwd,
                env=os.environ | {"PYTHONPATH": str(ROOT), name: value},
                stdout=said,
                stderr=subprocess.STDOUT,
                # A background job inherits SIGINT as ignored.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )

    def started(self) -> dict[int, str]:
        """Return the processes of the sweep that are alive, with their command lines."""
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                mark = (place / "environ").read_bytes()
                if self.mark.encode() not in mark and not self._logs(place):
                    continue
                state = (place / "stat").read_text().rpartition(")")[2].split()[0]
                if state not in "ZX":
                    said = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(place.name)] = said
            except OSError:
                continue
        return found

    def _logs(self, place: Path) -> bool:
        """Whether a process has a log of this sweep's Ray: a title may have replaced the mark."""
        session = re.compile(rf"/session_[\d_-]+_{self.process.pid}/logs/")
        return self.process.pid != int(place.name) and any(
            session.search(str(link.readlink())) for link in (place / "fd").iterdir()
        )

    def left_over(self) -> dict[int, str]:
        """Return what is alive some seconds after the end."""
        deadline = time.monotonic() + GONE_S
        while (left := self.started()) and time.monotonic() < deadline:
            time.sleep(0.2)
        return left

    def output(self, timeout: float = 300) -> str:
        self.process.wait(timeout)
        return self._said.read_text()

    def kill_workers(self, every_s: float, pick: random.Random) -> int:
        """Kill a worker from time to time until the sweep ends; return how many."""
        killed = 0
        while self.process.poll() is None:
            time.sleep(every_s)
            workers = [pid for pid, said in self.started().items() if "ray::run_chunk" in said]
            if workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pick.choice(workers), signal.SIGKILL)
                    killed += 1
        return killed


def rows_in(folder: Path) -> pd.DataFrame:
    return pd.concat([pq.read_table(file).to_pandas() for file in folder.glob("*.parquet")])


def tables(path: Path) -> list[pd.DataFrame]:
    """Return results and coflows without what differs from run to run, each row once."""
    keys = ["point_id"], ["point_id", "coflow_id"]
    found = []
    for folder, key in zip(("results", "coflows"), keys, strict=True):
        table = rows_in(path / folder).drop(columns=[*UNTIMED], errors="ignore")
        assert not table.duplicated(key).any()
        found.append(table.sort_values(key).reset_index(drop=True))
    return found


def assert_same(path: Path, wanted: list[pd.DataFrame]) -> None:
    for table, other in zip(tables(path), wanted, strict=True):
        pd.testing.assert_frame_equal(table, other)


def timed(path: Path, executor: str) -> tuple[list[pd.DataFrame], float]:
    """Return the tables of a sweep that nothing disturbs, and how long it took [s]."""
    began = time.monotonic()
    run = Sweep(path, f"executor={executor}")
    said = run.output()
    took = time.monotonic() - began
    assert run.process.returncode == 0, said
    assert not run.left_over()
    found = tables(path / "out")
    assert [len(t) for t in found] == [POINTS, 60 * POINTS]
    return found, took


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[list[pd.DataFrame], float]:
    return timed(tmp_path_factory.mktemp("undisturbed"), "local")


@pytest.fixture(scope="module")
def undisturbed(whole) -> list[pd.DataFrame]:
    return whole[0]


@pytest.fixture(scope="module")
def longest_s(whole) -> dict[str, float]:
    """Return how long a sweep takes, about: signals come within that time [s]."""
    return {"local": whole[1], "ray": whole[1] + 3.0}


def disturbed_until_done(
    path: Path, numbers: list[int], executor: str, seed: int, longest_s: dict[str, float]
) -> Counter[str]:
    """Start the same sweep and send it signals at random instants, then let it finish."""
    pick, count = random.Random(seed), Counter[str]()
    for number in numbers:
        run = Sweep(path, f"executor={executor}")
        time.sleep(pick.uniform(0, longest_s[executor]))
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


@pytest.mark.parametrize("executor", ["local", pytest.param("ray", marks=pytest.mark.slow)])
def test_a_killed_driver_loses_and_doubles_nothing(
    tmp_path, undisturbed, longest_s, executor
) -> None:
    count = disturbed_until_done(tmp_path, [signal.SIGKILL] * 3, executor, 1, longest_s)
    assert count["interrupted"] > 0
    assert_same(tmp_path / "out", undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "ray"])
@pytest.mark.parametrize("k", range(5))
def test_a_driver_killed_at_fifty_instants(tmp_path, undisturbed, longest_s, executor, k) -> None:
    count = disturbed_until_done(tmp_path, [signal.SIGKILL] * 10, executor, k, longest_s)
    assert count["interrupted"] >= 3
    assert_same(tmp_path / "out", undisturbed)


@pytest.mark.slow
def test_signals_at_twenty_instants(tmp_path, undisturbed, longest_s) -> None:
    numbers = [signal.SIGINT, signal.SIGTERM] * 10
    disturbed_until_done(tmp_path, numbers, "ray", 3, longest_s)
    assert_same(tmp_path / "out", undisturbed)


@pytest.fixture
def busy_machine() -> Iterator[None]:
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    yield
    for burner in burners:
        burner.kill()
        burner.wait()


def end_and_clean_s(run: Sweep, number: int) -> tuple[float, float]:
    """Send a signal; return the seconds till the driver ends, and till nothing is left."""
    began, ended = time.monotonic(), None
    run.process.send_signal(number)
    while True:
        if ended is None and run.process.poll() is not None:
            ended = time.monotonic()
        left, now = run.started(), time.monotonic()
        if ended is not None and not left:
            return ended - began, now - began
        assert now < began + 60, left
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_soon_after_a_signal_on_a_busy_machine(
    tmp_path, tmp_path_factory, number, busy_machine, record_property
) -> None:
    """At any instant, while Ray starts as well; and it stays so."""
    _, takes_s = timed(tmp_path_factory.mktemp("busy"), "ray")
    pick, longest = random.Random(int(number)), (0.0, 0.0)
    for k in range(20):
        path = tmp_path / str(k)
        path.mkdir()
        run = Sweep(path)
        time.sleep(pick.uniform(0, takes_s))
        longest = max(longest, end_and_clean_s(run, number)[::-1])
        assert "Traceback" not in run.output()
        time.sleep(1)
        assert not run.started()
    print(f"{number.name}: at the latest {longest[0]:.1f} s, the driver {longest[1]:.1f} s")
    record_property("longest_s", longest[0])
    assert longest[0] < GONE_S


def killed_workers(path: Path, undisturbed: list[pd.DataFrame], seed: int) -> int:
    began = time.monotonic()
    run = Sweep(path, "ray.num_cpus=2")
    killed = run.kill_workers(1.0, random.Random(seed))
    said = run.output()
    print(f"{killed} workers killed in {time.monotonic() - began:.0f} s")
    assert run.process.returncode == 0, said
    assert not run.left_over()
    assert_same(path / "out", undisturbed)
    return killed


@pytest.mark.slow
@pytest.mark.parametrize("k", range(10))
def test_workers_killed_every_second(tmp_path, undisturbed, k, monkeypatch) -> None:
    """To the end, with the usual retries: no point is lost, and none is blamed.

    A worker needs some of its second to begin: it must not wait behind all else on the machine.
    """
    monkeypatch.setenv("RAY_worker_niceness", "0")
    assert killed_workers(tmp_path, undisturbed, k) >= 2


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
    end_shared_ray()  # it would not read what follows
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
    """A file system on which a file leaves too little room for the sweep."""
    path = tmp_path / "disk"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(path)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def fill(path: Path) -> None:
    """Write a file that leaves no room on a small file system."""
    with contextlib.suppress(OSError), (path / "ballast").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 1000)


@pytest.mark.parametrize("executor", ["local", pytest.param("ray", marks=pytest.mark.slow)])
def test_a_disk_that_fills_up(tmp_path, small_disk, executor) -> None:
    """Some points are durable by then; with room again the same command finishes the rest."""
    words = (f"executor={executor}", "fabric.gbps=1,2,3")
    run = Sweep(tmp_path, *words, directory="disk/out")
    while not list((small_disk / "out").glob("results/part-*.parquet")):
        assert run.process.poll() is None, run.output()
        time.sleep(0.02)
    fill(small_disk)
    said = run.output()
    assert run.process.returncode == 2, said
    (error,) = [line for line in said.splitlines() if line.startswith("error: ")]
    assert "disk/out" in error
    assert "No space left on device; the results so far stay readable" in error
    assert "Traceback" not in said
    assert not run.left_over()
    assert load(small_disk / "out")["status"].eq("ok").any()
    finished = len(rows_in(small_disk / "out" / "results"))
    assert 0 < finished < 3 * POINTS
    (small_disk / "ballast").unlink()
    run = Sweep(tmp_path, *words, directory="disk/out")
    said = run.output()
    assert run.process.returncode == 0, said
    assert f"{finished} points finished in disk/out: {3 * POINTS - finished} to run" in said
    done = here(*WORDS, *words[1:], "executor=local", "output.dir=out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_same(small_disk / "out", tables(tmp_path / "out"))


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "ray"])
def test_a_damaged_part_at_resume(tmp_path, undisturbed, executor) -> None:
    run = Sweep(tmp_path, f"executor={executor}")
    assert run.process.wait(300) == 0
    (part,) = (tmp_path / "out" / "results").glob("*.parquet")
    part.write_bytes(part.read_bytes()[: part.stat().st_size // 2])
    run = Sweep(tmp_path, f"executor={executor}")
    said = run.output()
    assert run.process.returncode == 0, said
    assert f"{part.name} is damaged and was moved to" in said
    assert not run.left_over()
    assert_same(tmp_path / "out", undisturbed)
