"""Several Ray nodes on one machine: the code travels, nodes come and go."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sweep import load
from sweep.execution import ray_executor
from tests.paths import ROOT
from tests.ray_session import end_shared_ray
from tests.sweep.execution.test_executors import points_of, ray_with, rows_of


@contextmanager
def several_nodes(monkeypatch, workers: int) -> Iterator[Any]:
    """Start a head and nodes of one CPU each; their working directory is not the project's."""
    from ray.cluster_utils import Cluster

    end_shared_ray()
    monkeypatch.setenv("RAY_health_check_period_ms", "500")
    monkeypatch.setenv("RAY_health_check_initial_delay_ms", "0")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        for _ in range(workers):
            cluster.add_node(num_cpus=1)
        yield cluster
    finally:
        end_shared_ray()
        cluster.shutdown()


@pytest.fixture
def cluster(monkeypatch) -> Iterator[Any]:
    with several_nodes(monkeypatch, workers=1) as cluster:
        yield cluster


def sweep_there(cwd: Path, name: str, where: str, code: Path = ROOT) -> None:
    words = ("scheduler=asebf,varys", "replicates=2", "workload.coflows=30")
    done = subprocess.run(
        [sys.executable, "-m", "sweep", *words, where, f"output.dir={name}"],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(code)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_code_travels_and_nodes_come_and_go(cluster, tmp_path) -> None:
    todo = points_of(
        *("scheduler=asebf,varys", "queue.base=range(2,82)"),
        *("workload.coflows=60", "workload.ports=40"),
    )

    def note(point):
        import sys
        import time
        from importlib.machinery import PathFinder

        import ray

        # On this one machine the driver's own copy is found first; another has only these.
        travelled = [path for path in sys.path if "runtime_resources" in path]
        packages = [n for n in ("conf", "core", "sweep") if PathFinder.find_spec(n, travelled)]
        with (tmp_path / ray.get_runtime_context().get_node_id()).open("a") as file:
            file.write(f"{' '.join(packages)}\n")
        time.sleep(0.2)

    first = {node.node_id for node in cluster.list_all_nodes()}
    rows, added = [], None
    with ray_with(note, address=cluster.address, chunk=5, retries=0) as executor:
        for result in executor(todo, frozenset()):
            if result is None:
                continue
            rows.append(result)
            if len(rows) == 10:
                added = cluster.add_node(num_cpus=1, wait=False)
            if len(rows) == 50:
                assert added is not None
                (gone,) = [n for n in cluster.worker_nodes if n is not added]
                cluster.remove_node(gone, allow_graceful=False)
    assert Counter(r["status"] for r in rows_of(rows).values()) == {"ok": len(todo)}
    ran = {file.name: set(file.read_text().splitlines()) for file in tmp_path.iterdir()}
    assert ran == {name: {"conf core sweep"} for name in (*first, added.node_id)}


@pytest.mark.slow
def test_the_command_line_on_a_cluster_and_the_same_rows(cluster, tmp_path) -> None:
    sweep_there(tmp_path, "there", f"ray.address={cluster.address}")
    sweep_there(tmp_path, "here", "executor=local")
    there, here = (
        load(tmp_path / name).drop(columns=["wall_s", "host"]) for name in ("there", "here")
    )
    assert there.equals(here)


@pytest.mark.slow
def test_a_workload_is_built_once_and_kept_once_on_a_node(cluster, monkeypatch) -> None:
    import ray
    from ray.experimental import get_object_locations

    built, kept, real = [], [], (ray_executor.build_trace, ray.put)

    def build(point):
        built.append(point.trace_id)
        return real[0](point)

    def put(trace):
        kept.append(real[1](trace))
        return kept[-1]

    def dawdle(point):
        import time

        import sweep.grid.point

        def build_trace(point):
            raise AssertionError("a worker builds a workload")

        sweep.grid.point.build_trace = build_trace
        time.sleep(0.1)

    todo = points_of(
        *("scheduler=asebf", "queue.base=range(2,22)", "seed=1,2"),
        *("workload.coflows=300", "workload.ports=40"),
    )
    nodes = {node.node_id for node in cluster.list_all_nodes()}
    with ray_with(dawdle, address=cluster.address, chunk=2, retries=0) as executor:
        monkeypatch.setattr(ray_executor, "build_trace", build)
        monkeypatch.setattr(ray, "put", put)
        rows = rows_of(executor(todo, frozenset()))
        nodes_of = [where["node_ids"] for where in get_object_locations(kept).values()]
    assert {row["status"] for row in rows.values()} == {"ok"}
    assert sorted(built) == sorted({point.trace_id for point in todo})
    assert len(nodes_of) == 2
    for where in nodes_of:
        assert len(where) == len(set(where))
        assert set(where) <= nodes
    assert {node for where in nodes_of for node in where} == nodes


def machine_code(cache: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in cache.rglob("*.nb[ci]")}


@pytest.mark.slow
def test_a_new_start_of_ray_compiles_nothing(tmp_path, monkeypatch) -> None:
    """Each start brings the code to a new place; one process of a machine compiles a kernel."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("COFLOW_SWEEP_CACHE", str(cache))
    compiled = []
    for name in ("first", "second"):
        code = tmp_path / f"code-{name}"
        for package in ("conf", "core", "sweep"):
            shutil.copytree(ROOT / package, code / package, copy_function=shutil.copyfile)
        with several_nodes(monkeypatch, workers=1) as cluster:
            sweep_there(tmp_path, name, f"ray.address={cluster.address}", code)
        compiled.append(machine_code(cache))
    sweep_there(tmp_path, "here", "executor=local")
    compiled.append(machine_code(cache))
    assert compiled[0]
    assert compiled[0] == compiled[1] == compiled[2]


@pytest.mark.slow
def test_a_cluster_that_goes_ends_the_sweep(cluster, tmp_path) -> None:
    """What was finished is there, and the exit code is not 0."""
    words = ("scheduler=asebf", "queue.base=range(2,2000)", "workload.coflows=60", "output.dir=out")
    process = subprocess.Popen(
        [sys.executable, "-m", "sweep", *words, f"ray.address={cluster.address}"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    results = tmp_path / "out" / "results"
    deadline = time.monotonic() + 120
    while not (results.is_dir() and any(results.glob("part-*.parquet"))):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.1)
    cluster.shutdown()
    process.communicate(timeout=180)
    assert process.returncode not in (0, None)
    assert load(tmp_path / "out")["status"].eq("ok").sum() > 0
