"""Runs points: on a Ray worker, or in this process. Knows nothing of Ray."""

from __future__ import annotations

import contextlib
import platform
import sysconfig
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from core import registry
from core.errors import CoflowSweepError
from core.job_measures import rate_columns, reducer_columns
from core.metrics import coflow_table, summarise
from core.notes import collected
from core.outcome import Outcome
from core.schedulers import schedulers
from core.trace import Trace
from core.watch import coflows_done, unwatch
from sweep.grid.point import Point

REPORT_S = 0.1
"""Seconds for which a worker may keep results to itself before it begins another point."""

SEND_S = 0.02
"""Seconds for the word that a point begins to leave a worker: the point may end it at once."""

_CORE = Path(registry.__file__).parent
_STDLIB = Path(sysconfig.get_path("stdlib"))

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
    except (Exception, SystemExit) as error:
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
    return not_ok(point, "error", f"{type(error).__name__}: {error}{_raised_at(error)}", text)


def _raised_at(error: BaseException) -> str:
    """Return the file and line that an error comes from; nothing if its text says enough.

    The innermost line outside of installed libraries: what a rule hands them is its own doing.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, CoflowSweepError) or not frames:
        return ""
    frame = next((f for f in reversed(frames) if not _is_library(f.filename)), frames[-1])
    return f" ({Path(frame.filename).name} line {frame.lineno})"


def _is_library(file: str) -> bool:
    path = Path(file)
    if _CORE in path.parents:
        return False
    return _STDLIB in path.parents or not {"site-packages", "dist-packages"}.isdisjoint(path.parts)


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
    try:
        for engine, names in needed.items():
            registry.engines()[engine].warm(schedulers()[name] for name in sorted(names))
    finally:
        unwatch()  # what it has run is no point


_warmed: set[tuple[str, str]] = set()
"""Engines and schedulers whose kernels this process has loaded."""


def warm_once(points: Iterable[Point]) -> None:
    """Load kernels before the clock of a point runs."""
    new = {(p.engine, p.scheduler) for p in points} - _warmed
    with contextlib.suppress(Exception, SystemExit):  # the points will say what is wrong
        warm(new)
        _warmed.update(new)


class _Begun(NamedTuple):
    """The point that runs, and since when."""

    point: Point
    began: float


class _PointThread:
    """A thread that runs points and makes messages, so that the worker can add how far a point is.

    It waits after each message until `go_on`, so that a message has left before a point begins.
    """

    def __init__(
        self, points: Sequence[Point], trace: Trace, details: Details, careful: bool
    ) -> None:
        self._points, self._trace, self._details = points, trace, details
        self._careful = careful
        self._messages: SimpleQueue[Message | BaseException | None] = SimpleQueue()
        self._sent: SimpleQueue[bool] = SimpleQueue()
        self._running: _Begun | None = None
        threading.Thread(target=self._live, daemon=True).start()

    def _live(self) -> None:
        try:
            for message in self._made():
                self._messages.put(message)
                if not self._sent.get():
                    return
            self._messages.put(None)
        except BaseException as error:
            self._messages.put(error)

    def _made(self) -> Iterator[Message]:
        results: list[Result] = []
        reported = time.monotonic()
        for point in self._points:
            if results and (self._careful or time.monotonic() - reported >= REPORT_S):
                yield Message(results)
                results, reported = [], time.monotonic()
            self._running = _Begun(point, time.monotonic())
            results.append(run_point(point, self._trace, self._details))
            self._running = None
        yield Message(results)

    def go_on(self, on: bool = True) -> None:
        """Let the thread run the next point, or end."""
        self._sent.put(on)

    def message(self) -> Message | None:
        """Return the next message, or after `PROGRESS_S` how far the point is; None at the end."""
        while True:
            try:
                message = self._messages.get(timeout=PROGRESS_S)
            except Empty:
                if (running := self._running) is None:
                    continue
                seconds = time.monotonic() - running.began
                return Message([], progress_of(running.point), seconds)
            if isinstance(message, BaseException):
                raise message
            return message


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
    thread = _PointThread(points, trace, details, careful)
    try:
        while (message := thread.message()) is not None:
            yield message
            if message.progress is None and not message.running_s:
                thread.go_on()
    finally:
        thread.go_on(False)
