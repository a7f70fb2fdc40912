"""Runs points: on a Ray worker, or in this process. Knows nothing of Ray."""

from __future__ import annotations

import contextlib
import platform
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from core import registry
from core.job_measures import rate_columns, reducer_columns
from core.metrics import coflow_table, summarise
from core.notes import collected
from core.outcome import Outcome
from core.schedulers import schedulers
from core.trace import Trace
from core.watch import coflows_done
from sweep.grid.point import Point

REPORT_S = 0.1
"""Seconds for which a worker may keep results to itself before it begins another point."""

SEND_S = 0.02
"""Seconds for the word that a point begins to leave a worker: the point may end it at once."""

PROGRESS_S = 1.0
"""Seconds between the messages of a worker that runs one long point."""


@dataclass(frozen=True)
class Result:
    """A point's row of the dataset, its rows in tables of details, and its notes to the user."""

    row: dict[str, Any]
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PointProgress:
    """How far a running point is."""

    point_id: str
    scheduler: str
    done: int
    """Coflows that have finished."""
    coflows: int


@dataclass(frozen=True)
class Message:
    """What a worker sends: results in the order of its points, and how far the next point is.

    Attributes
    ----------
    results : list of Result
    progress : PointProgress, optional
        Of the point that runs, where it runs for long.
    running_s : float
        Seconds for which the next point has been running.
    """

    results: list[Result] = field(default_factory=list)
    progress: PointProgress | None = None
    running_s: float = 0.0


Details = frozenset[str]
"""Names of the tables of details that are requested."""

Executor = Callable[[Sequence[Point], Details], Iterator[Result | PointProgress | None]]
"""Yields a result a point, and how far long ones are; None says that nothing came for a moment."""


def run_point(point: Point, trace: Trace, details: Details) -> Result:
    """Run one point; whatever it raises becomes a row with status ``error``."""
    began = time.perf_counter()
    try:
        with collected() as notes:
            outcome = registry.simulate(trace, point.engine, point.scheduler, point.values)
        row = point.columns() | {"status": "ok"} | summarise(trace, outcome)
        tables = _detail_tables(trace, outcome, details)
    except Exception as error:
        return failed(point, error)
    row |= {"wall_s": time.perf_counter() - began, "host": platform.node()}
    return Result(row, tables, tuple(notes))


def _detail_tables(trace: Trace, outcome: Outcome, details: Details) -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any] | None] = {}
    if "coflows" in details:
        tables["coflows"] = coflow_table(trace, outcome)
    if "reducers" in details and trace.shuffle:
        tables["reducers"] = reducer_columns(trace.shuffle)
        tables["rates"] = rate_columns(trace.shuffle)
    return {name: columns for name, columns in tables.items() if columns is not None}


def failed(point: Point, error: BaseException) -> Result:
    """Return the row of a point that raised."""
    text = "".join(traceback.format_exception(error))
    return not_ok(point, "error", f"{type(error).__name__}: {error}", text)


def not_ok(point: Point, status: str, message: str, trace_back: str | None = None) -> Result:
    """Return the row of a point that has no result."""
    row = {"status": status, "error": message, "traceback": trace_back, "host": platform.node()}
    return Result(point.columns() | row)


def progress_of(point: Point) -> PointProgress | None:
    """Return how far a point is that runs in this process; None before and after its simulation."""
    counts = coflows_done()
    return None if counts is None else PointProgress(point.point_id, point.scheduler, *counts)


def warm(kinds: Iterable[tuple[str, str]]) -> None:
    """Compile the kernels of engines and schedulers, or load them from the cache."""
    needed: dict[str, set[str]] = defaultdict(set)
    for engine, scheduler in kinds:
        needed[engine].add(scheduler)
    for engine, names in needed.items():
        registry.engines()[engine].warm(schedulers()[name] for name in sorted(names))


_warmed: set[tuple[str, str]] = set()
"""Engines and schedulers whose kernels this process has loaded."""


def warm_once(points: Iterable[Point]) -> None:
    """Load kernels before the clock of a point runs."""
    new = {(p.engine, p.scheduler) for p in points} - _warmed
    with contextlib.suppress(Exception):  # the points will say what is wrong
        warm(new)
        _warmed.update(new)


class _PointThread:
    """A thread that runs points, so that the worker can say how far a long one is."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], Result] | None] = SimpleQueue()
        self._results: SimpleQueue[Result | BaseException] = SimpleQueue()
        threading.Thread(target=self._live, daemon=True).start()

    def __enter__(self) -> _PointThread:
        return self

    def __exit__(self, *_: object) -> None:
        self._work.put(None)

    def _live(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                self._results.put(work())
            except BaseException as error:
                self._results.put(error)

    def begin(self, work: Callable[[], Result]) -> None:
        """Begin to run a point."""
        self._work.put(work)

    def result(self, seconds: float) -> Result | None:
        """Wait for the result; None if it has not come after some seconds."""
        try:
            result = self._results.get(timeout=seconds)
        except Empty:
            return None
        if isinstance(result, BaseException):
            raise result
        return result


def run_chunk(
    points: Sequence[Point], trace: Trace, details: Details, careful: bool
) -> Iterator[Message]:
    """Run points on a worker; yield messages with the results since the last one, in their order.

    The first, empty message says that the first point begins now: kernels are loaded. Results are
    yielded before a point begins if the last message is `REPORT_S` ago; with `careful`, before
    every point, so that the driver knows which one is running. A point that runs for longer than
    `PROGRESS_S` yields how far it is, again and again.
    """
    warm_once(points)
    yield Message()
    if careful:
        time.sleep(SEND_S)
    results: list[Result] = []
    reported = time.monotonic()
    with _PointThread() as thread:
        for point in points:
            if results and (careful or time.monotonic() - reported >= REPORT_S):
                yield Message(results)
                results, reported = [], time.monotonic()
            began = time.monotonic()
            thread.begin(partial(run_point, point, trace, details))
            while (result := thread.result(PROGRESS_S)) is None:
                yield Message(results, progress_of(point), time.monotonic() - began)
                results, reported = [], time.monotonic()
            results.append(result)
    yield Message(results)
