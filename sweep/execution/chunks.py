"""Which points go to a worker together, and which one is to blame when a worker ends.

Pure bookkeeping: no Ray, no clock. A worker sends its results in the order of the chunk. When it
ends, the first point without a result is the one that ran, or one whose result was lost on the
way. So a point is blamed for a death only if it was alone in its chunk, and for a timeout only if
it is certain that it ran; the other points of the chunk go to another worker. A worker that dies
before its first point says little about that point: such deaths count only while no worker manages
to start.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sweep.execution.worker import REPORT_S, Message, Result, failed, not_ok
from sweep.grid.point import Point

CHUNK_S = 1.0
"""Seconds of work that a task should carry."""

MOST_POINTS = 1000
"""Points of a chunk, so that results in flight fit in memory however quick the points are."""

UNBEGUN = 25
"""Deaths before a first point that count as one after it: most of a short life is its start."""

MESSAGE_COST_S = 0.001
"""Seconds that a message takes a worker, about."""


@dataclass(eq=False)
class Chunk:
    """Points that are with a worker, or will be.

    Attributes
    ----------
    points : list of Point
        Those without a result, in the order in which the worker runs them.
    trace : object
        What stands for their workload.
    careful : bool
        The worker sends each result before the next point begins: the first of `points` is running.
    since : float or None
        When the first of `points` began, at the latest [s]; None before the worker has begun.
    late : Point or None
        The point that ran for too long, so that the worker is ended.
    """

    points: list[Point]
    trace: Any
    careful: bool = False
    since: float | None = None
    late: Point | None = None


@dataclass
class ChunkQueue:
    """Points that wait, and what happened to those that were handed out.

    Parameters
    ----------
    points : sequence of Point
        Those of one workload one after the other; each is resolved when it is due.
    prepare : callable (point) → object
        Builds the workload of a point; called once a workload, when its first point is due.
    size : int, optional
        Points per chunk; by default about `CHUNK_S` worth.
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
        # By scheduler: deaths since a worker last began a chunk with a point of it.
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
            Workers; a chunk is small enough that all of them have work to the end.
        """
        if self._again:
            yield self._again.popleft()
            return
        while self._next is not None and self._next.trace_id != self._trace_id:
            name = self._next.trace_id
            try:
                self._trace, self._trace_id = self.prepare(self._next), name
            except (Exception, SystemExit) as error:
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
        careful = self.timeout_s is not None and seconds > 10 * MESSAGE_COST_S * len(chunk)
        return Chunk(chunk, self._trace, careful)

    def receive(self, chunk: Chunk, message: Message, now: float) -> None:
        """Take note of a worker's message that has come at the time `now` [s]."""
        if chunk.since is None:
            for point in chunk.points:
                self._unbegun.pop(point.scheduler, None)
        chunk.since = now - message.running_s
        for result in message.results:
            del chunk.points[0]
            name, wall = result.row["scheduler"], result.row.get("wall_s")
            if wall is not None:
                earlier = self.cost_s.get(name, wall)
                self.cost_s[name] = 0.7 * earlier + 0.3 * wall

    def overdue(self, chunk: Chunk, now: float) -> bool:
        """Return whether a point of the chunk has run for too long; true only once a chunk.

        The caller then ends the worker with force, and gives the chunk to `ended`.
        """
        if self.timeout_s is None or chunk.since is None or chunk.late or not chunk.points:
            return False
        if now - chunk.since <= self.timeout_s + (0.0 if chunk.careful else REPORT_S):
            return False
        chunk.late = chunk.points[0]
        return True

    def ended(self, chunk: Chunk, reason: BaseException, *, innocent: bool) -> Iterator[Result]:
        """Queue the points that a worker leaves; yield the row of the one that is to blame.

        Parameters
        ----------
        chunk : Chunk
        reason : Exception
            Why the worker ended.
        innocent : bool
            No point can be to blame: the machine is gone, or what it held.
        """
        if not chunk.points:
            return
        first, *rest = chunk.points
        certain = chunk.careful or not rest
        if chunk.since is None and not innocent:
            yield from self._never_began(chunk, reason)
        elif chunk.late is not None:
            if certain and first is chunk.late:
                yield not_ok(
                    first, "timeout", f"ran longer than sweep.timeout_s={self.timeout_s:g}"
                )
                self._queue(rest, chunk.trace)
            else:
                self._queue(chunk.points, chunk.trace)
        elif innocent or not certain:
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
        """Queue a chunk whose worker died before the first point; blame a point in the end.

        Many workers in a row can die by chance, or by the code of a scheduler.
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
    message = f"its worker died {died} {times}{when} ({_first_line(reason)})"
    return not_ok(point, "error", message, str(reason))


def _first_line(reason: BaseException) -> str:
    lines = [line.strip() for line in str(reason).splitlines() if line.strip()]
    return f"{type(reason).__name__}: {lines[0]}" if lines else type(reason).__name__
