"""Several Ray nodes on one machine: the code travels, nodes come and go."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sweep import load
from tests.test_execute import points_of, ray_with, rows_of

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def cluster(monkeypatch) -> Iterator[Any]:
    """Start a head and a node of one CPU each; their working directory is not the project's."""
    import ray
    from ray.cluster_utils import Cluster

    ray.shutdown()
    monkeypatch.setenv("RAY_health_check_period_ms", "500")
    monkeypatch.setenv("RAY_health_check_initial_delay_ms", "0")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    try:
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


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
        travelled = [place for place in sys.path if "runtime_resources" in place]
        found = [n for n in ("conf", "core", "sweep") if PathFinder.find_spec(n, travelled)]
        with (tmp_path / ray.get_runtime_context().get_node_id()).open("a") as file:
            file.write(f"{' '.join(found)}\n")
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
    for name, where in (("there", f"ray.address={cluster.address}"), ("here", "executor=local")):
        words = ("scheduler=asebf,varys", "replicates=2", "workload.coflows=30")
        done = subprocess.run(
            [sys.executable, "-m", "sweep", *words, where, f"output.dir={name}"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    there, here = (
        load(tmp_path / name).drop(columns=["wall_s", "host"]) for name in ("there", "here")
    )
    assert there.equals(here)


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
