"""Executors: the same rows wherever they run, and a point that fails costs itself alone."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

from core.errors import InputError
from sweep import execute
from sweep.app import read_request, register
from sweep.plan import Point, make_plan

SMALL = ("workload.coflows=30", "workload.ports=12")
UNTIMED = ("wall_s", "host")


def points_of(*overrides: str) -> list[Point]:
    register()
    return list(make_plan(read_request(overrides)[0]).points.values())


def rows_of(results) -> dict[str, dict]:
    rows = [r.row for r in results if r is not None]
    assert len({row["point_id"] for row in rows}) == len(rows)
    return {row["point_id"]: {k: v for k, v in row.items() if k not in UNTIMED} for row in rows}


@pytest.fixture(scope="module")
def points() -> list[Point]:
    return points_of("scheduler=asebf,varys,fair", "queue.base=2,10", "seed=1,2", *SMALL)


@pytest.fixture(scope="module")
def on_one_worker() -> Iterator[execute.RayExecutor]:
    with execute.RayExecutor(num_cpus=1) as executor:
        yield executor


def test_ray_and_this_process_give_the_same_rows(points, on_one_worker) -> None:
    here = [r for r in execute.run_locally(points, True) if r is not None]
    there = [r for r in on_one_worker(points, True) if r is not None]
    assert rows_of(here) == rows_of(there)
    assert len(here) == len(points)
    tables = {r.row["point_id"]: r.coflows for r in there}
    for result in here:
        for name, column in result.coflows.items():
            np.testing.assert_array_equal(column, tables[result.row["point_id"]][name])


def test_the_size_of_chunks_does_not_matter(points, on_one_worker, monkeypatch) -> None:
    before = rows_of(on_one_worker(points, False))
    for size in (1, 3, 100):
        monkeypatch.setattr(on_one_worker, "_size", size)
        assert rows_of(on_one_worker(points, False)) == before


def test_a_point_that_raises_is_a_row_and_the_rest_go_on(points, monkeypatch) -> None:
    real = execute.registry.simulate

    def sometimes(trace, engine, scheduler, values):
        if scheduler == "varys":
            raise ZeroDivisionError("by hand")
        return real(trace, engine, scheduler, values)

    monkeypatch.setattr(execute.registry, "simulate", sometimes)
    rows = rows_of(execute.run_locally(points, coflows=False)).values()
    assert {r["scheduler"] for r in rows if r["status"] == "error"} == {"varys"}
    failed = next(r for r in rows if r["status"] == "error")
    assert failed["error"] == "ZeroDivisionError: by hand"
    assert "sometimes" in failed["traceback"]
    assert len(rows) == len(points)


def test_a_workload_that_cannot_be_built_fails_its_points_alone(points, monkeypatch) -> None:
    real = execute.build_trace

    def sometimes(point):
        if point.seed == 1:
            raise MemoryError("too large")
        return real(point)

    monkeypatch.setattr(execute, "build_trace", sometimes)
    rows = rows_of(execute.run_locally(points, coflows=False)).values()
    assert {r["seed"]: r["status"] for r in rows} == {1: "error", 2: "ok"}


def test_a_worker_that_dies_costs_the_point_to_blame_alone(points, monkeypatch) -> None:
    blamed = points[3].point_id

    def deadly(chunk, trace, coflows):
        if any(point.point_id == blamed for point in chunk):
            os._exit(1)
        return [execute.run_point(point, trace, coflows) for point in chunk]

    monkeypatch.setattr(execute, "_chunk", deadly)
    execute_ray = execute.RayExecutor
    with _second_ray(), execute_ray(num_cpus=2, chunk=4) as executor:
        rows = rows_of(executor(points, False))
    assert [i for i, r in rows.items() if r["status"] != "ok"] == [blamed]
    assert len(rows) == len(points)


def test_a_cluster_that_is_not_there_is_bad_input() -> None:
    with _second_ray(), pytest.raises(InputError, match=r"ray\.address=127\.0\.0\.1:1"):
        execute.RayExecutor(address="127.0.0.1:1")


def test_chunks_carry_about_a_second_and_leave_work_for_all() -> None:
    register()
    some = points_of("scheduler=aalo", "queue.base=range(2,102)", "workload=toy")
    queue = execute._Queue(waiting=len(some))
    queue.groups.append((some[::-1], None))
    assert len(queue.take(None, 2)[0]) == 1  # nothing known yet
    queue.cost_s["aalo"] = 0.125
    assert len(queue.take(None, 2)[0]) == 8
    queue.cost_s["aalo"] = 1e-6
    assert len(queue.take(None, 2)[0]) == 23  # a quarter of the 91 that wait
    assert len(queue.take(5, 2)[0]) == 5


class _second_ray:  # noqa: N801
    """Put the module's Ray aside: one process has one."""

    def __enter__(self) -> None:
        import ray

        ray.shutdown()

    def __exit__(self, *_: object) -> None:
        pass
