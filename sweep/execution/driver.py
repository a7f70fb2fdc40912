"""One sweep, from a checked grid to a dataset and its table."""

from __future__ import annotations

import datetime
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.console import Console

from core.errors import GridError
from core.jit import cache_directory
from core.parameters import Value
from sweep.console.final_summary import print_again, report
from sweep.console.plan_text import count, describe, estimate
from sweep.execution import ray_executor
from sweep.execution.manifest import manifest_of, now
from sweep.execution.progress import Progress
from sweep.execution.signals import Interrupts
from sweep.grid.grid import Grid
from sweep.grid.plan import Plan, make_plan
from sweep.grid.table import PointList
from sweep.store import DatasetWriter

Settings = Mapping[str, Value]


class QuietConsole(Console):
    """A console that falls silent where nobody listens any more: the sweep goes on."""

    def on_broken_pipe(self) -> None:
        """Print nothing from now on."""
        self.quiet = True
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(grid: Grid, settings: Settings, command: Sequence[str]) -> int:
    """Plan, run, store and report; return the exit code.

    Returns
    -------
    int
        0: every point is ok; 1: some failed; 130: interrupted.

    Raises
    ------
    InputError
        Before anything runs or is written. Later only where the dataset cannot be written any
        more (a full disk): what was finished stays readable.
    """
    if settings["executor"] == "local" and settings["sweep.timeout_s"] is not None:
        raise GridError(
            f"sweep.timeout_s={settings['sweep.timeout_s']:g}: executor=local runs points in this "
            "process, where a busy one cannot be ended; leave one of the two out"
        )
    console = QuietConsole(highlight=False, soft_wrap=False)
    plan = make_plan(grid)
    describe(plan, console)
    if settings["sweep.dry_run"]:
        workers = 1 if settings["executor"] == "local" else settings["ray.num_cpus"]
        earlier = str(settings["output.dir"] or "outputs/latest")
        estimate(plan, earlier, int(workers or os.cpu_count() or 1), console)
        return 0
    directory = str(settings["output.dir"] or _fresh_directory())
    manifest = manifest_of(plan, settings, command)
    interrupted = _execute(plan, settings, directory, manifest, console)
    failed = report(plan, directory, command, console)
    if interrupted:
        print_again(
            f"interrupted: what was finished is in {directory}; to go on:",
            command,
            directory,
            console,
        )
        return 130
    return 1 if failed else 0


def _execute(
    plan: Plan,
    settings: Settings,
    directory: str,
    manifest: Mapping[str, Any],
    console: Console,
) -> bool:
    """Run what is not finished and store it; return whether it was interrupted."""
    began = time.monotonic()
    tables = ("coflows", "reducers")
    wanted = frozenset(table for table in tables if settings[f"output.{table}"])
    counts = {"ok": 0, "failed": 0}
    with ExitStack() as stack:
        executor = None
        if settings["ray.address"] is not None:
            # A cluster that does not answer is bad input: found before anything is written.
            executor = stack.enter_context(_executor(settings, plan.points.without(())))
        data = stack.enter_context(DatasetWriter.open(directory, details=wanted))
        _say_set_aside(data, plan, console)
        passed_over = (
            set() if settings["sweep.retry_failed"] else data.failed() & plan.points.keys()
        )
        todo = plan.points.without(data.finished() | passed_over)
        data.write_manifest(manifest)
        data.write_points(plan.rows, plan.digest())
        _point_latest_at(directory)
        if finished := len(plan.points) - len(todo) - len(passed_over):
            console.print(
                f"{count(finished, 'point')} finished in {directory}: {len(todo)} to run",
                markup=False,
            )
        if passed_over:
            console.print(
                f"{count(len(passed_over), 'point')} failed before and will not run again without "
                "sweep.retry_failed=true",
                markup=False,
            )
        if todo and not _compiled():
            console.print("compiling the kernels, once on this machine: this takes a while")
        local = settings["executor"] == "local"
        with Interrupts(console, leave=local) as interrupts:
            try:
                if executor is None:
                    executor = stack.enter_context(
                        _executor(settings, todo, lambda: interrupts.asked)
                    )
                interrupts.install()
                with Progress(len(todo), console) as progress:
                    results = executor(todo, wanted)
                    _collect(results, data, progress, counts, settings, interrupts)
            except KeyboardInterrupt:
                pass
            data.flush()
            complete = sum(counts.values()) == len(todo)
            if complete:
                data.compact()
        interrupted = interrupts.asked and not complete
        ended = {"ended": now(), "wall_s": round(time.monotonic() - began, 3), **counts}
        state = "complete" if complete else "interrupted" if interrupted else "stopped"
        data.write_manifest({**manifest, **ended, "state": state})
    return interrupted


def _say_set_aside(data: DatasetWriter, plan: Plan, console: Console) -> None:
    for name, place in data.set_aside.items():
        console.print(
            f"{name} is damaged: set aside as {place}; its points of this grid run again",
            markup=False,
            soft_wrap=True,
        )
    if data.set_aside and (lost := len(data.without_result() - plan.points.keys())):
        console.print(
            f"{count(lost, 'point')} of earlier grids without a result: give their commands again",
            markup=False,
            soft_wrap=True,
        )


def _compiled() -> bool:
    """Whether kernels of this version lie compiled on disk."""
    path = cache_directory()
    return path is not None and any(path.rglob("*.nbi"))


def _collect(
    results: Iterator[ray_executor.Result | None],
    data: DatasetWriter,
    progress: Progress,
    counts: dict[str, int],
    settings: Settings,
    interrupts: Interrupts,
) -> None:
    for result in results:
        if result is not None:
            data.add(result.row, result.details)
            progress.add(result.row)
            ok = result.row["status"] == "ok"
            counts["ok" if ok else "failed"] += 1
            if not ok and settings["sweep.fail_fast"]:
                break
        if interrupts.asked:
            break
        data.poll()
        progress.poll()


@contextmanager
def _executor(
    settings: Settings, todo: PointList, asked: Callable[[], bool] = lambda: False
) -> Iterator[ray_executor.Executor]:
    def meanwhile() -> None:
        ray_executor.warm((engine, scheduler) for scheduler, engine, _ in todo.kinds())

    if settings["executor"] == "local" or not todo:
        yield ray_executor.run_locally
        return
    given: dict[str, Any] = {
        "address": settings["ray.address"],
        "num_cpus": settings["ray.num_cpus"],
        "chunk": settings["sweep.chunk"],
        "timeout_s": settings["sweep.timeout_s"],
        "retries": settings["sweep.retries"],
    }
    with ray_executor.RayExecutor(
        **{name: value for name, value in given.items() if value is not None},
        meanwhile=meanwhile,
        asked=asked,
    ) as executor:
        yield executor


def _fresh_directory() -> str:
    stem = f"outputs/{datetime.datetime.now():%Y-%m-%d_%H-%M-%S}"
    path, n = stem, 1
    while Path(path).exists():
        n += 1
        path = f"{stem}-{n}"
    return path


def _point_latest_at(directory: str) -> None:
    """Let ``outputs/latest`` point to a dataset that lies in ``outputs``."""
    path = Path(directory)
    if "://" in directory or path.resolve().parent != Path("outputs").resolve():
        return
    aside = Path(f"outputs/.latest-{os.getpid()}")
    try:
        aside.symlink_to(path.resolve().name)
        aside.replace("outputs/latest")
    except OSError:
        aside.unlink(missing_ok=True)
