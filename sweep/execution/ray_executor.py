"""Runs points on Ray workers.

The executor takes points and yields one result for each, as they finish. A workload is built or
read once, put in the object store once, and read by all workers of a machine without a copy.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from core.errors import InputError
from sweep.execution import ray_output, ray_start
from sweep.execution.chunks import Chunk, ChunkQueue
from sweep.execution.ray_cleanup import Guard
from sweep.execution.ray_token import Authentication
from sweep.execution.worker import Details, Message, PointProgress, Result, run_chunk
from sweep.grid.point import Point, build_trace

COUNT_EVERY_S = 2.0
"""Seconds between looks at how many CPUs a Ray cluster has: machines come and go."""

SHUTDOWN_S = 4.0
"""Seconds that Ray may take to shut down by itself."""

LOOK_S = 0.005
"""Seconds between looks whether Ray is up: so long a signal may meet the handlers of Ray."""

LOOK_AT_SERVERS_S = 0.5
"""Seconds between looks whether the processes of a Ray that starts are alive."""

THREAD = "ray"
"""Name of the thread in which Ray was started."""


class RayExecutor:
    """Runs points on Ray workers; use in a ``with`` block.

    Without an address it uses the Ray that this process has initialised, and leaves it running; if
    there is none it starts one and ends it.

    Parameters
    ----------
    address : str, optional
        Ray cluster to connect to.
    num_cpus : int, optional
        Workers of a Ray that the executor starts.
    chunk : int, optional
        Points per task.
    timeout_s : float, optional
        A point that runs for longer [s] is ended, with its worker.
    retries : int
        How often a point whose worker died is tried again before it is blamed.
    meanwhile : callable, optional
        Runs beside Ray's start.
    stop_requested : callable, optional
        Whether to give up while Ray starts. The process should end by ``os._exit`` then: a
        thread of the name `THREAD` is still at it. What it starts ends with the process.

    Raises
    ------
    KeyboardInterrupt
        `stop_requested` returned true.
    InputError
        Ray does not start, or the address cannot be reached.
    """

    def __init__(
        self,
        address: str | None = None,
        num_cpus: int | None = None,
        chunk: int | None = None,
        timeout_s: float | None = None,
        retries: int = 3,
        meanwhile: Callable[[], None] | None = None,
        stop_requested: Callable[[], bool] = lambda: False,
    ) -> None:
        self._size, self._timeout_s, self._retries = chunk, timeout_s, retries
        self._stop_requested = stop_requested
        self._errors: list[BaseException] = []
        self._up, self._over = threading.Event(), threading.Event()
        self._guard: Guard | None = None
        self._thread: threading.Thread | None = None
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        with ray_output.quiet_ray():
            self._open(address, num_cpus, meanwhile)
        import ray

        self._ray = ray
        self._slots, self._counted = 1, -COUNT_EVERY_S
        self._task = ray.remote(max_retries=0, num_returns="streaming")(run_chunk)

    def _open(
        self, address: str | None, num_cpus: int | None, meanwhile: Callable[[], None] | None
    ) -> None:
        """Start Ray, unless this process has one, while `meanwhile` runs; wait for both."""
        if uses_ray := _is_initialized():
            if address is not None:
                raise ray_start.no_ray(
                    address,
                    "this process uses a Ray already; leave ray.address out to run on it, "
                    "or end it with ray.shutdown()",
                )
            self._up.set()
        else:
            ray_start.check(address)
        beside = threading.Thread(target=self._beside, args=(meanwhile,), daemon=True)
        if not uses_ray:
            self._guard = Guard() if address is None and Guard.possible() else None
            self._thread = threading.Thread(
                target=self._live, args=(address, num_cpus), name=THREAD, daemon=True
            )
        beside.start()
        if self._thread is not None:
            self._thread.start()
        self._wait(address, beside)
        if self._errors:
            self.__exit__()
            raise self._errors[0]

    def _wait(self, address: str | None, beside: threading.Thread) -> None:
        """Wait until Ray is up and `meanwhile` is over, or one of them has failed."""
        before = ray_start.ended_servers(os.getpid()).keys()
        deadline = time.monotonic() + ray_start.START_S
        look = 0.0
        while not self._up.wait(LOOK_S) or (beside.is_alive() and not self._errors):
            if self._stop_requested():
                raise KeyboardInterrupt
            beside.join(LOOK_S)
            if self._up.is_set() or (now := time.monotonic()) < look:
                continue
            look = now + LOOK_AT_SERVERS_S
            reason = None
            if now > deadline:
                reason = f"no answer within {ray_start.START_S:g} s"
            elif address is None:
                ended = ray_start.ended_servers(os.getpid())
                reason = next((why for pid, why in ended.items() if pid not in before), None)
            if reason is not None:
                self._give_up()
                if address is not None:
                    raise ray_start.no_cluster(address, reason)
                raise ray_start.no_ray(None, ray_start.failure(os.getpid()) or reason)

    def _give_up(self) -> None:
        """End what Ray has started; its library waits on in its thread, for half a minute."""
        self._over.set()
        if self._guard is not None:
            self._guard.close()

    def _beside(self, meanwhile: Callable[[], None] | None) -> None:
        try:
            if meanwhile is not None:
                meanwhile()
        except BaseException as error:
            self._errors.append(error)

    def _live(self, address: str | None, num_cpus: int | None) -> None:
        """Start Ray, and wait for its end: its processes go when the thread goes that made them.

        In a thread of its own, so that a signal need not wait for the start.
        """
        authentication = Authentication()
        try:
            ray_start.start(address, num_cpus, authentication)
        except BaseException as error:
            self._errors.append(error)
        finally:
            if self._guard is not None:
                self._guard.unmark(_session())
            self._up.set()
        self._over.wait()
        authentication.restore()

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is None:  # this process used Ray before
            return
        import ray

        if self._guard is None:
            self._shut_down(ray)
        else:
            late = threading.Timer(SHUTDOWN_S, self._guard.end_marked)
            late.daemon = True
            late.start()
            self._shut_down(ray)
            late.cancel()
            self._guard.close()
        self._over.set()
        self._thread.join()

    def _shut_down(self, ray: Any) -> None:
        """Shut Ray down beside this thread, which takes back the signals that Ray lets go."""
        down = threading.Thread(target=ray.shutdown, daemon=True)
        down.start()
        while down.is_alive():
            self._stop_requested()
            down.join(LOOK_S)
        self._stop_requested()

    def __call__(
        self, points: Sequence[Point], details: Details
    ) -> Iterator[Result | PointProgress | None]:
        """Run points; yield results as they finish, and None if none came for a while."""
        work = ChunkQueue(
            points,
            lambda point: self._ray.put(build_trace(point)),
            size=self._size,
            timeout_s=self._timeout_s,
            retries=self._retries,
        )
        flying: dict[Any, Chunk] = {}
        while flying or not work.empty:
            while len(flying) < 2 * self._count() and not work.empty:
                for item in work.take(self._slots):
                    if isinstance(item, Result):
                        yield item
                    else:
                        stream = self._task.remote(item.points, item.trace, details, item.careful)
                        flying[stream] = item
            streams = list(flying)
            ready, _ = self._ray.wait(streams, timeout=0.2) if streams else ([], [])
            if not ready:
                yield None
            for stream in ready:
                message, over = self._listen(stream, flying[stream], work)
                if over:
                    del flying[stream]
                yield from message.results
                yield message.progress
            self._end_overdue(flying, work)

    def _count(self) -> int:
        """Return the number of CPUs, counted again every `COUNT_EVERY_S`."""
        if (now := time.monotonic()) - self._counted >= COUNT_EVERY_S:
            self._counted = now
            self._slots = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        return self._slots

    def _listen(self, stream: Any, chunk: Chunk, work: ChunkQueue) -> tuple[Message, bool]:
        """Return a worker's message, and whether that was its last one."""
        errors = self._ray.exceptions
        try:
            message: Message = self._ray.get(next(stream))
        except StopIteration:
            reason: BaseException = RuntimeError("it stopped")
        except errors.RuntimeEnvSetupError as error:
            raise InputError(f"ray.address: the code cannot reach the workers: {error}") from error
        except errors.RayError as error:
            reason = error
        else:
            work.receive(chunk, message, time.monotonic())
            return message, False
        innocent = isinstance(reason, errors.NodeDiedError | errors.ObjectLostError)
        return Message(list(work.ended(chunk, reason, innocent=innocent))), True

    def _end_overdue(self, flying: Mapping[Any, Chunk], work: ChunkQueue) -> None:
        """End the workers whose point runs for too long: there is no other way to stop one."""
        for stream, chunk in flying.items():
            if not work.overdue(chunk, time.monotonic()):
                continue
            self._ray.cancel(stream, force=True)


def _is_initialized() -> bool:
    """Whether this process uses a Ray already."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def _session() -> str | None:
    """Return the directory of the Ray that this process has started; None before it exists."""
    import ray

    node = getattr(ray._private.worker, "_global_node", None)
    return None if node is None else str(node.get_session_dir_path())
