"""Runs points in this process, one after the other."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from queue import Empty, Queue

from sweep.execution.worker import (
    Details,
    PointProgress,
    Result,
    failed,
    progress_of,
    run_point,
    warm_once,
)
from sweep.grid.point import Point, build_trace

THREAD = "points"
"""Name of the thread in which points run."""

LOOK_S = 0.2
"""Seconds between looks at the point that runs."""


def run_locally(
    points: Sequence[Point], details: Details
) -> Iterator[Result | PointProgress | None]:
    """Run points one after the other in this process; an `Executor`.

    They run in a thread of their own, so that signals reach the main one during a long point.
    """
    results: Queue[Result | BaseException | None] = Queue(maxsize=64)
    running: list[Point] = []

    def work() -> None:
        try:
            for result in _one_by_one(points, details, running):
                results.put(result)
            results.put(None)
        except BaseException as error:
            results.put(error)

    threading.Thread(target=work, name=THREAD, daemon=True).start()
    while True:
        try:
            result = results.get(timeout=LOOK_S)
        except Empty:
            yield progress_of(running[0]) if running else None
            continue
        if result is None:
            return
        if isinstance(result, BaseException):
            raise result
        yield result


def _one_by_one(
    points: Sequence[Point], details: Details, running: list[Point]
) -> Iterator[Result]:
    """Yield the result of each point; `running` holds the one that runs."""
    for _, group in groupby(points, key=lambda point: point.trace_id):
        first = next(group)
        try:
            trace = build_trace(first)
        except (Exception, SystemExit) as error:
            yield from (failed(point, error) for point in chain([first], group))
            continue
        for point in chain([first], group):
            warm_once([point])
            running[:] = [point]
            yield run_point(point, trace, details)
