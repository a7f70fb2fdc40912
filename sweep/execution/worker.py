"""What is done with a point: by a Ray worker, or by this process. Knows nothing of Ray."""

from __future__ import annotations

import contextlib
import platform
import queue
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any

from core import registry
from core.job_measures import rate_columns, reducer_columns
from core.metrics import coflow_table, summarise
from core.outcome import Outcome
from core.schedulers import schedulers
from core.trace import Trace
from sweep.grid.point import Point, build_trace

REPORT_S = 0.1
"""Seconds for which a worker may keep results to itself before it begins another point."""


SEND_S = 0.02
"""Seconds for the word that a point begins to leave a worker: the point may end it at once."""


@dataclass(frozen=True)
class Result:
    """What came of a point: a row of the dataset, and its rows in tables with details."""

    row: dict[str, Any]
    details: dict[str, dict[str, Any]] = field(default_factory=dict)


Details = frozenset[str]
"""Names of the tables with details that are wanted."""

Executor = Callable[[Sequence[Point], Details], Iterator[Result | None]]
"""Yields a result a point; None says that nothing came for a moment."""


def run_point(point: Point, trace: Trace, wanted: Details) -> Result:
    """Run one point; whatever it raises becomes a row with status ``error``."""
    began = time.perf_counter()
    try:
        outcome = registry.simulate(trace, point.engine, point.scheduler, point.values)
        row = point.columns() | {"status": "ok"} | summarise(trace, outcome)
        details = _details(trace, outcome, wanted)
    except Exception as error:
        return failed(point, error)
    row |= {"wall_s": time.perf_counter() - began, "host": platform.node()}
    return Result(row, details)


def _details(trace: Trace, outcome: Outcome, wanted: Details) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any] | None] = {}
    if "coflows" in wanted:
        found["coflows"] = coflow_table(trace, outcome)
    if "reducers" in wanted and trace.shuffle:
        found["reducers"] = reducer_columns(trace.shuffle)
        found["rates"] = rate_columns(trace.shuffle)
    return {name: columns for name, columns in found.items() if columns is not None}


def failed(point: Point, error: BaseException) -> Result:
    """Return the row of a point that raised."""
    said = "".join(traceback.format_exception(error))
    return not_ok(point, "error", f"{type(error).__name__}: {error}", said)


def not_ok(point: Point, status: str, message: str, said: str | None = None) -> Result:
    """Return the row of a point that has no result."""
    row = {"status": status, "error": message, "traceback": said, "host": platform.node()}
    return Result(point.columns() | row)


def warm(kinds: Iterable[tuple[str, str]]) -> None:
    """Compile the kernels of engines and schedulers, or load them from the cache."""
    needed: dict[str, set[str]] = defaultdict(set)
    for engine, scheduler in kinds:
        needed[engine].add(scheduler)
    for engine, names in needed.items():
        registry.engines()[engine].warm(schedulers()[name] for name in sorted(names))


_warmed: set[tuple[str, str]] = set()
"""Engines and schedulers whose kernels this process has loaded."""


def _warm_once(points: Iterable[Point]) -> None:
    """Load kernels before the clock of a point runs."""
    new = {(p.engine, p.scheduler) for p in points} - _warmed
    with contextlib.suppress(Exception):  # the points will say what is wrong
        warm(new)
        _warmed.update(new)


def run_chunk(
    points: Sequence[Point], trace: Trace, wanted: Details, careful: bool
) -> Iterator[list[Result]]:
    """Run points on a worker; yield the results that came since the last yield, in their order.

    The first, empty list says that the first point begins now: kernels are loaded. What is
    finished is yielded before a point begins if the last yield is `REPORT_S` ago; with `careful`,
    before every point, so that whoever listens knows which one is running.
    """
    _warm_once(points)
    yield []
    if careful:
        time.sleep(SEND_S)
    results: list[Result] = []
    reported = time.monotonic()
    for point in points:
        if results and (careful or time.monotonic() - reported >= REPORT_S):
            yield results
            results, reported = [], time.monotonic()
        results.append(run_point(point, trace, wanted))
    yield results


def run_locally(points: Sequence[Point], wanted: Details) -> Iterator[Result | None]:
    """Run points one after the other in this process.

    They run in a thread of their own, so that signals reach the main one during a long point.
    """
    results: queue.Queue[Result | BaseException | None] = queue.Queue(maxsize=64)

    def work() -> None:
        try:
            for result in _one_by_one(points, wanted):
                results.put(result)
            results.put(None)
        except BaseException as error:
            results.put(error)

    threading.Thread(target=work, name="points", daemon=True).start()
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


def _one_by_one(points: Sequence[Point], wanted: Details) -> Iterator[Result]:
    for _, group in groupby(points, key=lambda point: point.trace_id):
        first = next(group)
        try:
            trace = build_trace(first)
        except Exception as error:
            yield from (failed(point, error) for point in chain([first], group))
            continue
        for point in chain([first], group):
            _warm_once([point])
            yield run_point(point, trace, wanted)
