"""Which points go to a worker together, and which one is to blame when a worker ends.

Pure bookkeeping: no Ray, no clock of its own. A worker reports its points in order, so what a
chunk has not reported begins with the point that ran when the worker ended, or with points whose
report was lost. Only a point that was alone is ever blamed for a death, and only one that was
known to run for a timeout; the others of the chunk are handed out again. A worker that dies before
its first point says little about it: that counts only where no worker comes to begin any more.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sweep.execution.worker import REPORT_S, Result, failed, not_ok
from sweep.grid.point import Point

CHUNK_S = 1.0
"""Seconds of work that a task should carry."""

MOST_POINTS = 1000
"""Points of a chunk, so that results in flight fit in memory however quick the points are."""

UNBEGUN = 25
"""Deaths before a first point that count as one after it: most of a short life is its start."""

REPORT_COST_S = 0.001
"""Seconds that a report takes a worker, about."""


@dataclass(eq=False)
class Chunk:
    """Points on their way.

    Attributes
    ----------
    points : list of Point
        What the worker has not reported yet, in its order.
    trace : object
        Whatever stands for their workload.
    careful : bool
        The worker reports a point before the next begins: the first of `points` is running.
    heard : float or None
        When the worker last reported [s]; None before it has begun.
    late : Point or None
        The point for which the worker was told to end.
    """

    points: list[Point]
    trace: Any
    careful: bool = False
    heard: float | None = None
    late: Point | None = None


@dataclass
class ChunkQueue:
    """Points that wait, and what happened to those that were handed out.

    Parameters
    ----------
    points : sequence of Point
        Those of one workload one after the other; each is looked at when it is due.
    prepare : callable (point) → object
        Builds the workload of a point; called once a workload, when its first point is due.
    size : int, optional
        Points per chunk; about `CHUNK_S` worth if not given.
    timeout_s : float, optional
        Longest time for a point [s].
    retries : int
        How often a point whose worker died is tried again.
    """

    points: Sequence[Point]
    prepare: Callable[[Point], Any]
    size: int | None = None
    timeout_s: float | None = None
    retries: int = 0
    cost_s: dict[str, float] = field(default_factory=dict)
    waiting: int = field(init=False)
    """Points that were never handed out."""

    def __post_init__(self) -> None:
        self.waiting = len(self.points)
        self._coming = iter(self.points)
        self._next = next(self._coming, None)
        self._trace: Any = None
        self._trace_id: str | None = None
        self._again: deque[Chunk] = deque()
        self._deaths: Counter[str] = Counter()
        # By scheduler: deaths since a worker that had a point of it last came to begin.
        self._unbegun: Counter[str] = Counter()

    @property
    def empty(self) -> bool:
        """Whether nothing is left to hand out."""
        return not (self.waiting or self._again)

    def take(self, slots: int) -> Iterator[Chunk | Result]:
        """Yield the next chunk, after the rows of points whose workload cannot be built.

        Parameters
        ----------
        slots : int
            Workers; a chunk is small enough that all have work to the end.
        """
        if self._again:
            yield self._again.popleft()
            return
        while self._next is not None and self._next.trace_id != self._trace_id:
            name = self._next.trace_id
            try:
                self._trace, self._trace_id = self.prepare(self._next), name
            except Exception as error:
                while self._next is not None and self._next.trace_id == name:
                    yield failed(self._pop(self._next), error)
        if self._next is not None:
            yield self._cut(slots)

    def _pop(self, point: Point) -> Point:
        self._next = next(self._coming, None)
        self.waiting -= 1
        return point

    def _cut(self, slots: int) -> Chunk:
        chunk, seconds = list[Point](), 0.0
        most = self.size or max(1, min(MOST_POINTS, math.ceil(self.waiting / (2 * slots))))
        while (point := self._next) is not None and point.trace_id == self._trace_id:
            if len(chunk) >= most or not (self.size or seconds < CHUNK_S):
                break
            seconds += self.cost_s.get(point.scheduler, CHUNK_S)
            chunk.append(self._pop(point))
        # A timeout that strikes the right point at once is worth some time, but not too much.
        careful = self.timeout_s is not None and seconds > 10 * REPORT_COST_S * len(chunk)
        return Chunk(chunk, self._trace, careful)

    def heard(self, chunk: Chunk, results: Iterable[Result], now: float) -> None:
        """Note what a worker has reported."""
        if chunk.heard is None:
            for point in chunk.points:
                self._unbegun.pop(point.scheduler, None)
        chunk.heard = now
        for result in results:
            del chunk.points[0]
            name, wall = result.row["scheduler"], result.row.get("wall_s")
            if wall is not None:
                known = self.cost_s.get(name, wall)
                self.cost_s[name] = 0.7 * known + 0.3 * wall

    def overdue(self, chunk: Chunk, now: float) -> bool:
        """Whether a point of the chunk runs for longer than it may; asked once a chunk.

        The worker is to be ended then, with force, and the chunk given to `ended`.
        """
        if self.timeout_s is None or chunk.heard is None or chunk.late or not chunk.points:
            return False
        if now - chunk.heard <= self.timeout_s + (0.0 if chunk.careful else REPORT_S):
            return False
        chunk.late = chunk.points[0]
        return True

    def ended(self, chunk: Chunk, reason: BaseException, *, innocent: bool) -> Iterator[Result]:
        """Queue what a worker has left over; yield the row of the point that is to blame.

        Parameters
        ----------
        chunk : Chunk
        reason : Exception
            Why the worker ended.
        innocent : bool
            No point can be to blame: the machine went, or what it held.
        """
        if not chunk.points:
            return
        first, *rest = chunk.points
        known = chunk.careful or not rest
        if chunk.heard is None and not innocent:
            yield from self._never_began(chunk, reason)
        elif chunk.late is not None:
            if known and first is chunk.late:
                yield not_ok(
                    first, "timeout", f"ran longer than sweep.timeout_s={self.timeout_s:g}"
                )
                self._queue(rest, chunk.trace)
            else:
                self._queue(chunk.points, chunk.trace)
        elif innocent or not known:
            self._queue(chunk.points, chunk.trace)
        else:
            self._deaths[first.point_id] += 1
            if rest:
                self._queue(rest, chunk.trace)
                self._queue([first], chunk.trace)
            elif (died := self._deaths[first.point_id]) > self.retries:
                yield _blamed(first, died, "", reason)
            else:
                self._queue([first], chunk.trace)

    def _never_began(self, chunk: Chunk, reason: BaseException) -> Iterator[Result]:
        """Queue a chunk whose worker died before the first point; yield a row at the last.

        Chance alone can kill many workers in a row, or the code of a scheduler does.
        """
        first, *rest = chunk.points
        names = {point.scheduler for point in chunk.points}
        self._unbegun.update(names)
        died = max(self._unbegun[name] for name in names)
        if died <= UNBEGUN * (self.retries + 1):
            self._queue(chunk.points, chunk.trace)
        elif rest:
            self._queue(rest, chunk.trace)
            self._queue([first], chunk.trace)
        else:
            yield _blamed(first, died, " before it began", reason)

    def _queue(self, points: list[Point], trace: Any) -> None:
        if points:
            self._again.append(Chunk(points, trace, careful=True))


def _blamed(point: Point, died: int, when: str, reason: BaseException) -> Result:
    times = "time" if died == 1 else "times"
    message = f"its worker died {died} {times}{when} ({_said(reason)})"
    return not_ok(point, "error", message, str(reason))


def _said(reason: BaseException) -> str:
    lines = [line.strip() for line in str(reason).splitlines() if line.strip()]
    return f"{type(reason).__name__}: {lines[0]}" if lines else type(reason).__name__
