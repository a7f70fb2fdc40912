"""Runs points on Ray workers. The only importer of Ray.

The executor takes points and yields one result for each, as they finish. A workload is built or
read once, put in the object store once, and read by all workers of a machine without a copy.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import conf
import core
import sweep
from core.errors import InputError
from sweep.execution.chunks import Chunk, ChunkQueue
from sweep.execution.ray_cleanup import Guard
from sweep.execution.worker import Details, Message, PointProgress, Result, run_chunk
from sweep.grid.point import Point, build_trace

COUNT_EVERY_S = 2.0
"""Seconds between looks at how many CPUs a Ray cluster has: machines come and go."""

SHUTDOWN_S = 4.0
"""Seconds that Ray may take to shut down by itself."""

LOOK_S = 0.005
"""Seconds between looks whether Ray is up: so long a signal may meet the handlers of Ray."""

THREAD = "ray"
"""Name of the thread in which Ray was started."""


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


def _start_ray(address: str | None, num_cpus: int | None) -> None:
    import ray

    more: dict[str, Any] = {
        "num_cpus": num_cpus,
        "include_dashboard": False,
        # Workers are ready when the first points come, and after a death before they get any.
        "_system_config": {"preload_python_modules": ["numba", "sweep.execution.worker"]},
    }
    if address is not None:
        more = {"runtime_env": _travelling_code()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(
                address=address or "local",
                logging_level=logging.ERROR,
                log_to_driver=False,
                **more,
            )
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        if address is None:
            raise
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
        The address cannot be reached.
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
        self._errors: list[BaseException] = []
        self._up, self._over = threading.Event(), threading.Event()
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if address is not None:
            _knock(address)
        self._guard = Guard() if address is None and Guard.possible() else None
        beside = threading.Thread(target=self._beside, args=(meanwhile,), daemon=True)
        beside.start()
        self._thread = threading.Thread(
            target=self._live, args=(address, num_cpus), name=THREAD, daemon=True
        )
        self._thread.start()
        while not self._up.wait(LOOK_S) or (beside.is_alive() and not self._errors):
            if stop_requested():
                raise KeyboardInterrupt
            beside.join(LOOK_S)
        if self._errors:
            self.__exit__()
            raise self._errors[0]
        import ray

        self._ray = ray
        self._slots, self._counted = 1, -COUNT_EVERY_S
        self._task = ray.remote(max_retries=0, num_returns="streaming")(run_chunk)

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
        try:
            _start_ray(address, num_cpus)
        except BaseException as error:
            self._errors.append(error)
        finally:
            if self._guard is not None:
                self._guard.unmark(_session())
            self._up.set()
        self._over.wait()

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        import ray

        if self._guard is None:
            ray.shutdown()
        else:
            late = threading.Timer(SHUTDOWN_S, self._guard.end_marked)
            late.daemon = True
            late.start()
            ray.shutdown()
            late.cancel()
            self._guard.close()
        self._over.set()
        self._thread.join()

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
        """Return the CPUs there are, counted anew from time to time."""
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


def _session() -> str | None:
    """Return the directory of the Ray that this process has started, if it has come so far."""
    import ray

    node = getattr(ray._private.worker, "_global_node", None)
    return None if node is None else str(node.get_session_dir_path())


def _travelling_code() -> dict[str, Any]:
    """Return the runtime environment: these packages travel, what they need is on the machines."""
    places = [str(Path(str(p.__file__)).parent) for p in (conf, core, sweep)]
    return {"py_modules": places, "excludes": ["**/__pycache__"]}
