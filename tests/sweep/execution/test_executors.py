"""Executors: the same rows wherever they run, and a point that fails costs itself alone."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from core.errors import InputError
from sweep.cli.main import register
from sweep.cli.request import read_request
from sweep.execution import local, ray_executor, ray_start, worker
from sweep.execution.chunks import Chunk, ChunkQueue
from sweep.execution.worker import Message, PointProgress, Result
from sweep.grid.plan import make_plan
from sweep.grid.point import Point

SMALL = ("workload.coflows=30", "workload.ports=12")
UNTIMED = ("wall_s", "host")


def points_of(*overrides: str) -> list[Point]:
    register()
    return list(make_plan(read_request(overrides)[0]).points.without(()))


def rows_of(results) -> dict[str, dict]:
    rows = [r.row for r in results if isinstance(r, Result)]
    assert len({row["point_id"] for row in rows}) == len(rows)
    return {row["point_id"]: {k: v for k, v in row.items() if k not in UNTIMED} for row in rows}


@pytest.fixture(scope="module")
def points() -> list[Point]:
    return points_of("scheduler=asebf,varys,fair", "queue.base=2,10", "seed=1,2", *SMALL)


@pytest.fixture
def on_ray(shared_ray) -> Iterator[ray_executor.RayExecutor]:
    with ray_executor.RayExecutor() as executor:
        yield executor


def test_ray_and_this_process_give_the_same_rows(points, on_ray) -> None:
    own_rows = [
        r for r in local.run_locally(points, frozenset({"coflows"})) if isinstance(r, Result)
    ]
    ray_rows = [r for r in on_ray(points, frozenset({"coflows"})) if isinstance(r, Result)]
    assert rows_of(own_rows) == rows_of(ray_rows)
    assert len(own_rows) == len(points)
    tables = {r.row["point_id"]: r.details["coflows"] for r in ray_rows}
    for result in own_rows:
        for name, column in result.details["coflows"].items():
            np.testing.assert_array_equal(column, tables[result.row["point_id"]][name])


def test_the_size_of_chunks_does_not_matter(points, on_ray, monkeypatch) -> None:
    before = rows_of(on_ray(points, frozenset()))
    for size in (1, 3, 100):
        monkeypatch.setattr(on_ray, "_size", size)
        assert rows_of(on_ray(points, frozenset())) == before


def test_a_point_that_raises_is_a_row_and_the_rest_go_on(points, monkeypatch) -> None:
    real = worker.registry.simulate

    def sometimes(trace, engine, scheduler, values):
        if scheduler == "varys":
            raise ZeroDivisionError("by hand")
        return real(trace, engine, scheduler, values)

    monkeypatch.setattr(worker.registry, "simulate", sometimes)
    rows = rows_of(local.run_locally(points, details=frozenset())).values()
    assert {r["scheduler"] for r in rows if r["status"] == "error"} == {"varys"}
    failed = next(r for r in rows if r["status"] == "error")
    assert re.fullmatch(
        r"ZeroDivisionError: by hand \(test_executors\.py line \d+\)", failed["error"]
    )
    assert "sometimes" in failed["traceback"]
    assert len(rows) == len(points)


def test_a_workload_that_cannot_be_built_fails_its_points_alone(points, monkeypatch) -> None:
    real = local.build_trace

    def sometimes(point):
        if point.seed == 1:
            raise MemoryError("too large")
        return real(point)

    monkeypatch.setattr(local, "build_trace", sometimes)
    rows = rows_of(local.run_locally(points, details=frozenset())).values()
    assert {r["seed"]: r["status"] for r in rows} == {1: "error", 2: "ok"}


def ray_with(fault, **options) -> ray_executor.RayExecutor:
    """Return an executor on which a fault comes before each point.

    It uses the Ray of this process. The function is made here, so that it travels to the workers.
    """
    import ray

    def run_chunk(points, trace, details, careful):
        from sweep.execution import worker

        real = worker.run_point

        def run_point(point, *rest):
            fault(point)
            return real(point, *rest)

        worker.run_point = run_point
        try:
            yield from worker.run_chunk(points, trace, details, careful)
        finally:
            worker.run_point = real

    executor = ray_executor.RayExecutor(num_cpus=2, **options)
    executor._task = ray.remote(max_retries=0, num_returns="streaming")(run_chunk)
    return executor


def test_a_worker_that_dies_costs_the_point_to_blame_alone(points, shared_ray) -> None:
    blamed = {points[3].point_id, points[4].point_id}

    def deadly(point):
        if point.point_id in blamed:
            os._exit(1)

    with ray_with(deadly, chunk=6, retries=1) as executor:
        rows = rows_of(executor(points, frozenset()))
    assert {i for i, r in rows.items() if r["status"] == "error"} == blamed
    assert {i for i, r in rows.items() if r["status"] == "ok"} == {
        p.point_id for p in points
    } - blamed
    message = rows[points[3].point_id]["error"]
    assert message.startswith("its worker died 2 times (WorkerCrashedError: The worker died")


def test_a_point_whose_worker_died_by_chance_is_tried_again(points, tmp_path, shared_ray) -> None:
    some = {p.point_id for p in points[::3]}

    def unlucky(point):
        died = tmp_path / point.point_id
        if point.point_id in some and not died.exists():
            died.touch()
            os._exit(1)

    with ray_with(unlucky, chunk=4, retries=2) as executor:
        rows = rows_of(executor(points, frozenset()))
    assert [r["status"] for r in rows.values()] == ["ok"] * len(points)


def test_a_busy_point_is_ended(points, shared_ray) -> None:
    """The loop holds the interpreter's lock: nothing in the worker gets a word in."""
    endless = {points[1].point_id, points[2].point_id}

    def hang(point):
        if point.point_id in endless:
            import numba

            @numba.njit
            def spin(n):
                while n > 0:
                    n += n % 3
                return n

            spin(2)

    began = time.monotonic()
    with ray_with(hang, chunk=5, timeout_s=1.0) as executor:
        rows = rows_of(executor(points, frozenset()))
    assert {i for i, r in rows.items() if r["status"] == "timeout"} == endless
    assert [r["status"] for r in rows.values()].count("ok") == len(points) - 2
    assert rows[points[1].point_id]["error"] == "ran longer than sweep.timeout_s=1"
    assert time.monotonic() - began < 60


def test_a_cluster_that_is_not_there_is_bad_input() -> None:
    with pytest.raises(InputError, match=r"ray\.address=127\.0\.0\.1:1: no Ray cluster answers"):
        ray_start.check("127.0.0.1:1")


def test_a_ray_that_is_initialised_is_used_and_left_running(shared_ray, points) -> None:
    """A notebook has one: its number of CPUs counts, and it is still there afterwards."""
    import ray

    before = ray.get_runtime_context().get_node_id()
    with ray_executor.RayExecutor(num_cpus=1) as executor:
        rows = rows_of(executor(points, frozenset()))
        assert executor._count() == 2
    assert [row["status"] for row in rows.values()] == ["ok"] * len(points)
    assert ray.is_initialized()
    assert ray.get_runtime_context().get_node_id() == before


def test_a_process_with_a_ray_is_not_connected_to_another(shared_ray) -> None:
    with pytest.raises(InputError, match="this process uses a Ray already"):
        ray_executor.RayExecutor(address="127.0.0.1:1")


# -- what goes to a worker together, and who is to blame ------------------------------------------


def handout(todo: Sequence[Point], **options: Any) -> ChunkQueue:
    return ChunkQueue(todo, lambda point: point.trace_id, **options)


def one(work: ChunkQueue, slots: int = 2) -> Chunk:
    (item,) = work.take(slots)
    assert isinstance(item, Chunk)
    return item


def done(chunk: Chunk, n: int, wall_s: float = 0.1) -> list[Result]:
    return [Result({"scheduler": p.scheduler, "wall_s": wall_s}) for p in chunk.points[:n]]


@pytest.fixture(scope="module")
def hundred() -> list[Point]:
    return points_of("scheduler=aalo", "queue.base=range(2,102)", "workload=toy")


def test_chunks_carry_about_a_second_and_leave_work_for_all(hundred) -> None:
    work = handout(hundred)
    assert len(one(work).points) == 1  # nothing known yet
    work.cost_s["aalo"] = 0.125
    assert len(one(work).points) == 8
    work.cost_s["aalo"] = 1e-6
    assert len(one(work).points) == 23  # a quarter of the 91 that wait
    work.size = 5
    assert len(one(work).points) == 5


def test_every_point_is_handed_out_once_in_order(hundred) -> None:
    work, taken = handout(hundred, size=7), []
    while not work.empty:
        taken += one(work).points
    assert taken == hundred


def test_a_workload_is_prepared_when_its_first_point_is_due(points) -> None:
    prepared = []

    def prepare(point: Point) -> str:
        prepared.append(point.seed)
        if point.seed == 1:
            raise MemoryError("too large")
        return "trace"

    work = ChunkQueue(points, prepare, size=3)
    *bad, chunk = work.take(2)
    assert len(bad) == 4
    assert all(r.row["error"].startswith("MemoryError: too large (") for r in bad)
    assert (len(chunk.points), chunk.trace) == (3, "trace")
    assert len(one(work).points) == 1
    assert work.empty
    assert prepared == [1, 2]


def test_a_reported_point_is_never_handed_out_again(hundred) -> None:
    work = handout(hundred, size=10)
    chunk = one(work)
    first = list(chunk.points)
    work.receive(chunk, Message(done(chunk, 4)), now=1.0)
    assert not list(work.ended(chunk, RuntimeError("died"), innocent=False))
    again = one(work)
    assert again.points == first[4:]
    assert again.careful


def begun(work: ChunkQueue) -> Chunk:
    chunk = one(work)
    work.receive(chunk, Message(), now=0.0)
    return chunk


def test_a_point_is_blamed_only_alone_and_after_its_retries(hundred) -> None:
    work = handout(hundred[:3], size=3, retries=2)
    error = RuntimeError("died")
    chunk = begun(work)
    assert not list(work.ended(chunk, error, innocent=False))  # anyone's fault
    chunk = begun(work)
    assert len(chunk.points) == 3
    assert not list(work.ended(chunk, error, innocent=False))  # the first's, it seems: once
    rest, alone = begun(work), begun(work)
    assert (rest.points, alone.points) == (hundred[1:3], hundred[:1])
    assert not list(work.ended(alone, error, innocent=False))  # twice
    for _ in range(5):
        assert not list(work.ended(begun(work), error, innocent=True))  # a lost machine
    (result,) = work.ended(begun(work), error, innocent=False)
    assert result.row["error"] == "its worker died 3 times (RuntimeError: died)"
    assert work.empty


def test_deaths_before_the_first_point_blame_no_point_while_others_begin(hundred) -> None:
    work, error = handout(hundred[:2], size=1, retries=0), RuntimeError("died")
    for _ in range(100):
        assert not list(work.ended(one(work), error, innocent=False))
        other = begun(work)
        assert not list(work.ended(other, error, innocent=True))
    assert len({one(work).points[0].point_id for _ in range(2)}) == 2


def test_a_scheduler_with_which_no_worker_begins_fails_all_its_points(hundred) -> None:
    """Its kernels end the process, say; the sweep ends nevertheless."""
    work, error = handout(hundred[:8], size=4, retries=0), RuntimeError("died")
    rows, deaths = [], 0
    while not work.empty:
        rows += work.ended(one(work), error, innocent=False)
        deaths += 1
    assert sorted(r.row["point_id"] for r in rows) == sorted(p.point_id for p in hundred[:8])
    assert rows[0].row["error"].endswith("times before it began (RuntimeError: died)")
    assert deaths < 40


def test_only_the_point_that_ran_is_late(hundred) -> None:
    work = handout(hundred, size=10, timeout_s=5.0)
    chunk = one(work)
    assert chunk.careful
    assert not work.overdue(chunk, now=1e9)  # it has not begun
    work.receive(chunk, Message(), now=0.0)
    assert not work.overdue(chunk, now=5.0)
    work.receive(chunk, Message(done(chunk, 2)), now=5.0)
    assert not work.overdue(chunk, now=9.9)
    assert work.overdue(chunk, now=10.1)
    assert not work.overdue(chunk, now=10.2)  # asked once
    (result,) = work.ended(chunk, RuntimeError("cancelled"), innocent=False)
    assert result.row["point_id"] == hundred[2].point_id
    assert (result.row["status"], result.row["error"]) == (
        "timeout",
        "ran longer than sweep.timeout_s=5",
    )
    assert one(work).points == hundred[3:10]


def test_a_point_that_ends_just_before_its_worker_is_not_late(hundred) -> None:
    work = handout(hundred, size=10, timeout_s=5.0)
    chunk = one(work)
    work.receive(chunk, Message(), now=0.0)
    assert work.overdue(chunk, now=5.1)
    work.receive(chunk, Message(done(chunk, 1)), now=5.2)
    assert not list(work.ended(chunk, RuntimeError("cancelled"), innocent=False))
    assert one(work).points == hundred[1:10]


def test_quick_points_are_not_reported_one_by_one(hundred) -> None:
    """A second, careful run of the chunk tells which one was late."""
    work = handout(hundred, timeout_s=5.0)
    work.cost_s["aalo"] = 1e-4
    chunk = one(work)
    assert not chunk.careful
    work.receive(chunk, Message(), now=0.0)
    assert work.overdue(chunk, now=5.2)
    assert not list(work.ended(chunk, RuntimeError("cancelled"), innocent=False))
    assert one(work).careful


def test_a_message_in_a_long_point_says_when_that_point_began(hundred) -> None:
    """Messages of a point that runs do not put off its timeout."""
    work = handout(hundred, size=10, timeout_s=5.0)
    chunk = begun(work)
    work.receive(chunk, Message(done(chunk, 1), running_s=2.0), now=4.0)
    work.receive(chunk, Message(running_s=5.5), now=7.5)
    assert work.overdue(chunk, now=7.6)
    assert chunk.points == hundred[1:10]


LONG = ("scheduler=fair", "workload.coflows=3000", "workload.ports=40", "workload.load=0.2")


def assert_goes_on(seen: list[PointProgress], point: Point) -> None:
    """Say how far the point is: more and more coflows, of all that it has."""
    assert len(seen) >= 2
    assert {(p.point_id, p.scheduler, p.coflows) for p in seen} == {(point.point_id, "fair", 3000)}
    counts = [p.done for p in seen]
    assert counts == sorted(counts)
    assert 0 <= counts[0] < counts[-1] <= 3000


def test_a_long_point_shows_how_far_it_is_in_this_process(monkeypatch) -> None:
    monkeypatch.setattr(local, "LOOK_S", 0.01)
    (point,) = points_of(*LONG)
    items = list(local.run_locally([point], frozenset()))
    assert_goes_on([item for item in items if isinstance(item, PointProgress)], point)
    assert isinstance(items[-1], Result)
    assert items[-1].row["status"] == "ok"


def test_a_long_point_shows_how_far_it_is_from_a_worker(monkeypatch) -> None:
    """A worker sends it between two messages with results."""
    monkeypatch.setattr(worker, "PROGRESS_S", 0.01)
    short, long = points_of("workload=toy", "scheduler=fair")[0], points_of(*LONG)[0]
    trace = local.build_trace(long)
    first, *messages = worker.run_chunk([short, long], trace, frozenset(), careful=False)
    assert first == Message()
    results = [result for message in messages for result in message.results]
    assert [r.row["point_id"] for r in results] == [short.point_id, long.point_id]
    running = [m for m in messages if m.progress and m.progress.point_id == long.point_id]
    assert_goes_on([m.progress for m in running if m.progress], long)
    assert [m.running_s for m in running] == sorted(m.running_s for m in running)


def test_ray_passes_on_how_far_a_long_point_is(points, shared_ray) -> None:
    def dawdle(point):
        import time

        import numpy as np

        from core.watch import watch
        from sweep.execution import worker

        worker.PROGRESS_S = 0.05
        watch(np.array([1.0, -1.0, -1.0]))
        time.sleep(1)

    with ray_with(dawdle, chunk=1) as executor:
        items = list(executor(points[:1], frozenset()))
    progress = [item for item in items if isinstance(item, PointProgress)]
    assert PointProgress(points[0].point_id, points[0].scheduler, 1, 3) in progress
    assert [type(item) for item in items if item is not None][-1] is Result
