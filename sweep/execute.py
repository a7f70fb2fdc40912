"""Run points: on Ray, or in this process. The only importer of Ray.

Both executors take points and yield one result for each, as they finish. A workload is built or
read once, put in the object store once, and read by all workers without a copy.
"""

from __future__ import annotations

import logging
import math
import os
import platform
import queue
import socket
import threading
import time
import traceback
import warnings
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from core import registry
from core.errors import InputError
from core.metrics import coflow_table, summarise
from core.trace import Trace
from sweep.plan import Point, build_trace

CHUNK_S = 1.0
"""Seconds of work that a task should carry."""


@dataclass(frozen=True)
class Result:
    """What came of a point: a row of the dataset, and its coflows if wanted."""

    row: dict[str, Any]
    coflows: dict[str, Any] | None = None


Executor = Callable[[Sequence[Point], bool], Iterator[Result | None]]
"""Yields a result a point; None says that nothing came for a moment."""


def run_point(point: Point, trace: Trace, coflows: bool) -> Result:
    """Run one point; whatever it raises becomes a row with status ``error``."""
    began = time.perf_counter()
    try:
        outcome = registry.simulate(trace, point.engine, point.scheduler, point.values)
        row = point.columns() | {"status": "ok"} | summarise(trace, outcome)
        table = coflow_table(trace, outcome) if coflows else None
    except Exception as error:
        return failed(point, error)
    row |= {"wall_s": time.perf_counter() - began, "host": platform.node()}
    return Result(row, table)


def failed(point: Point, error: BaseException) -> Result:
    """Return the row of a point that failed."""
    said = "".join(traceback.format_exception(error))
    message = f"{type(error).__name__}: {error}"
    row = {"status": "error", "error": message, "traceback": said, "host": platform.node()}
    return Result(point.columns() | row)


def by_trace(points: Iterable[Point]) -> dict[str, list[Point]]:
    """Group points by the workload they share, in the order of their first point."""
    groups: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        groups[point.trace_id].append(point)
    return groups


def run_locally(points: Sequence[Point], coflows: bool) -> Iterator[Result | None]:
    """Run points one after the other in this process.

    They run in a thread of their own, so that signals reach the main one during a long point.
    """
    results: queue.Queue[Result | BaseException | None] = queue.Queue(maxsize=64)

    def work() -> None:
        try:
            for result in _one_by_one(points, coflows):
                results.put(result)
            results.put(None)
        except BaseException as error:
            results.put(error)

    threading.Thread(target=work, daemon=True).start()
    while True:
        try:
            result = results.get(timeout=0.2)
        except queue.Empty:
            yield None
            continue
        if result is None:
            return
        if isinstance(result, BaseException):
            raise result
        yield result


def _one_by_one(points: Sequence[Point], coflows: bool) -> Iterator[Result]:
    for group in by_trace(points).values():
        try:
            trace = build_trace(group[0])
        except Exception as error:
            yield from (failed(point, error) for point in group)
            continue
        for point in group:
            yield run_point(point, trace, coflows)


def warm(points: Iterable[Point]) -> None:
    """Compile the kernels that points need, or load them from the cache."""
    needed: dict[str, set[str]] = defaultdict(set)
    for point in points:
        needed[point.engine].add(point.scheduler)
    for engine, names in needed.items():
        registry.engines()[engine].warm(sorted(names))


# -- Ray ------------------------------------------------------------------------------------


def _chunk(points: list[Point], trace: Trace, coflows: bool) -> list[Result]:
    """Run a chunk on a worker."""
    return [run_point(point, trace, coflows) for point in points]


@dataclass
class _Queue:
    """Points that wait, by workload, and how long a point of each scheduler takes."""

    groups: deque[tuple[list[Point], Any]] = field(default_factory=deque)
    cost_s: dict[str, float] = field(default_factory=dict)
    waiting: int = 0

    def take(self, size: int | None, slots: int) -> tuple[list[Point], Any]:
        """Return a chunk of about `CHUNK_S`, small enough that all slots get work to the end."""
        points, trace = self.groups[0]
        chunk: list[Point] = []
        seconds = 0.0
        most = size or max(1, math.ceil(self.waiting / (2 * slots)))
        while points and len(chunk) < most and (size or seconds < CHUNK_S):
            seconds += self.cost_s.get(points[-1].scheduler, CHUNK_S)
            chunk.append(points.pop())
        if not points:
            self.groups.popleft()
        self.waiting -= len(chunk)
        return chunk, trace

    def learn(self, result: Result) -> None:
        """Keep a running estimate of what a point costs."""
        name, wall = result.row["scheduler"], result.row.get("wall_s")
        if wall is not None:
            known = self.cost_s.get(name, wall)
            self.cost_s[name] = 0.7 * known + 0.3 * wall


def _no_cluster(address: str, error: BaseException) -> InputError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return InputError(
        f"ray.address={address}: no Ray cluster answers there ({reason}); start one with "
        f"'ray start --head', or leave ray.address out to run on this machine"
    )


def _knock(address: str) -> None:
    """Fail at once where nothing listens: Ray itself tries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
        except OSError as error:
            raise _no_cluster(address, error) from error


class RayExecutor:
    """Runs points on Ray workers; use in a ``with`` block.

    Parameters
    ----------
    address : str, optional
        Ray cluster; a local one is started if not given.
    num_cpus : int, optional
        Workers of the local one.
    chunk : int, optional
        Points per task.
    meanwhile : callable, optional
        Runs beside Ray's start.

    Raises
    ------
    InputError
        The address cannot be reached.
    """

    def __init__(
        self,
        address: str | None = None,
        num_cpus: int | None = None,
        chunk: int | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        self._size = chunk
        self._errors: list[BaseException] = []
        self._tried: set[str] = set()
        beside = threading.Thread(target=self._beside, args=(meanwhile,), daemon=True)
        beside.start()
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray

        self._ray = ray
        if address is not None:
            _knock(address)
        local = {} if address else {"num_cpus": num_cpus, "include_dashboard": False}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ray.init(
                    address=address or "local",
                    logging_level=logging.ERROR,
                    log_to_driver=False,
                    **local,
                )
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            if address is None:
                raise
            raise _no_cluster(address, error) from error
        beside.join()
        if self._errors:
            self.__exit__()
            raise self._errors[0]
        self._slots = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._task = ray.remote(max_retries=0)(_chunk)

    def _beside(self, meanwhile: Callable[[], None] | None) -> None:
        try:
            if meanwhile is not None:
                meanwhile()
        except BaseException as error:
            self._errors.append(error)

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()

    def __call__(self, points: Sequence[Point], coflows: bool) -> Iterator[Result | None]:
        """Run points; yield results as they finish, and None where none came for a while."""
        todo = _Queue(waiting=len(points))
        waiting = deque(by_trace(points).values())
        flying: dict[Any, tuple[list[Point], Any]] = {}
        again: deque[tuple[list[Point], Any]] = deque()
        while waiting or todo.groups or again or flying:
            while len(flying) < 2 * self._slots and (again or todo.groups or waiting):
                if again:
                    chunk, trace = again.popleft()
                else:
                    if not todo.groups:
                        group = waiting.popleft()
                        try:
                            reference = self._ray.put(build_trace(group[0]))
                        except Exception as error:
                            todo.waiting -= len(group)
                            yield from (failed(point, error) for point in group)
                            continue
                        todo.groups.append((group[::-1], reference))
                    chunk, trace = todo.take(self._size, self._slots)
                flying[self._task.remote(chunk, trace, coflows)] = chunk, trace
            ready, _ = self._ray.wait(list(flying), timeout=0.2)
            for reference in ready:
                chunk, trace = flying.pop(reference)
                try:
                    results = self._ray.get(reference)
                except self._ray.exceptions.RayError as error:
                    yield from self._split(chunk, trace, error, again)
                    continue
                for result in results:
                    todo.learn(result)
                    yield result
            if not ready:
                yield None

    def _split(
        self,
        chunk: list[Point],
        trace: Any,
        error: BaseException,
        again: deque[tuple[list[Point], Any]],
    ) -> Iterator[Result]:
        """Queue the points of a chunk whose worker died one by one; give up on one alone."""
        if len(chunk) == 1 and chunk[0].point_id in self._tried:
            yield failed(chunk[0], error)
            return
        self._tried.update(point.point_id for point in chunk)
        again.extend(([point], trace) for point in chunk)
