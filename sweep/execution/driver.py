"""One sweep, from a checked grid to a dataset and its table."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, TextIO, cast

from rich.console import Console

from core.errors import GridError
from core.jit import cache_directory
from core.parameters import Value
from sweep.console.final_summary import print_again, print_summary
from sweep.console.phrases import count
from sweep.console.plan_text import describe, estimate
from sweep.execution import own_code
from sweep.execution.local import run_locally
from sweep.execution.manifest import manifest_of, now
from sweep.execution.output_directory import fresh_directory, point_latest_at
from sweep.execution.progress import Progress
from sweep.execution.ray_executor import RayExecutor
from sweep.execution.signals import Interrupts
from sweep.execution.worker import Executor, PointProgress, Result, warm
from sweep.grid.grid import Grid
from sweep.grid.plan import Plan, make_plan
from sweep.grid.table import PointList
from sweep.plain_text import PlainStream
from sweep.store import DatasetWriter

Options = Mapping[str, Value]
"""How the sweep runs and where it goes, by key."""

MOST_NOTES = 5
"""Notes of points that are printed."""


def run_sweep(grid: Grid, options: Options, command: Sequence[str]) -> int:
    """Plan, run, store and print a summary; return the exit code.

    Returns
    -------
    int
        0: every point is ok; 1: some failed; 130: interrupted.

    Raises
    ------
    InputError
        Before anything runs or is written; later only if the dataset cannot be written any more
        (a full disk). What was finished stays readable.
    """
    if options["executor"] == "local" and options["sweep.timeout_s"] is not None:
        raise GridError(
            f"sweep.timeout_s={options['sweep.timeout_s']:g}: executor=local runs points in this "
            "process, which cannot end a point that runs too long; remove one of the two"
        )
    stdout = cast(TextIO, PlainStream(sys.stdout))
    console = Console(file=stdout, highlight=False, soft_wrap=False)
    plan = make_plan(grid)
    describe(plan, console)
    if options["sweep.dry_run"]:
        workers = 1 if options["executor"] == "local" else options["ray.num_cpus"]
        earlier = str(options["output.dir"] or "outputs/latest")
        estimate(plan, earlier, int(workers or os.cpu_count() or 1), console)
        return 0
    manifest = manifest_of(plan, options, command)
    directory, interrupted = _execute(plan, options, manifest, console)
    failed = print_summary(plan, directory, command, console)
    if interrupted:
        print_again(
            f"interrupted: the results so far are in {directory}; to continue, run:",
            command,
            directory,
            console,
        )
        return 130
    return 1 if failed else 0


def _execute(
    plan: Plan,
    options: Options,
    manifest: Mapping[str, Any],
    console: Console,
) -> tuple[str, bool]:
    """Run what is not finished and store it; return where, and whether it was interrupted.

    Nothing is written before Ray is up: a Ray that does not start is bad input.
    """
    began = time.monotonic()
    tables = ("coflows", "reducers")
    details = frozenset(table for table in tables if options[f"output.{table}"])
    counts = {"ok": 0, "failed": 0}
    notes: dict[str, None] = {}
    local = options["executor"] == "local"
    with Interrupts(leave=local) as interrupts, ExitStack() as stack:
        start = partial(_executor, options, stop_requested=interrupts.requested_now)
        executor = None
        output_dir = options["output.dir"]
        exists = output_dir is not None and DatasetWriter.exists(str(output_dir))
        if options["ray.address"] is not None or not exists:
            executor = stack.enter_context(start(plan.points.without(()), console))
        directory = str(output_dir or fresh_directory())
        data = stack.enter_context(DatasetWriter.open(directory, details=details))
        earlier = data.read_manifest()
        manifest = own_code.with_fingerprints(manifest, earlier)
        todo = _remaining(plan, options, data, console)
        for change in own_code.changes(earlier, todo):
            console.print(change, markup=False)
        if executor is None:
            executor = stack.enter_context(start(todo, console))
        data.write_manifest(manifest)
        data.write_points(plan.rows, plan.digest())
        point_latest_at(directory, str(manifest["started"]))
        try:
            interrupts.install()
            with Progress(todo.kinds(), console) as progress:
                results = executor(todo, details)
                _collect(results, data, progress, counts, options, interrupts, notes)
        except KeyboardInterrupt:
            interrupts.requested = True
        _print_notes(notes, console)
        data.flush()
        complete = sum(counts.values()) == len(todo)
        if complete:
            data.compact()
        interrupted = interrupts.requested and not complete
        ended = {"ended": now(), "wall_s": round(time.monotonic() - began, 3), **counts}
        state = "complete" if complete else "interrupted" if interrupted else "stopped"
        data.write_manifest({**manifest, **ended, "state": state})
    return directory, interrupted


def _remaining(plan: Plan, options: Options, data: DatasetWriter, console: Console) -> PointList:
    """Return the points to run; print how many are not, and why."""
    _print_set_aside(data, plan, console)
    passed_over = set() if options["sweep.retry_failed"] else data.failed() & plan.points.keys()
    todo = plan.points.without(data.finished() | passed_over)
    if finished := len(plan.points) - len(todo) - len(passed_over):
        console.print(
            f"{count(finished, 'point')} finished in {data.shown}: {len(todo)} to run",
            markup=False,
        )
    if passed_over:
        console.print(
            f"{count(len(passed_over), 'point')} failed before; add sweep.retry_failed=true to "
            "run them again",
            markup=False,
        )
    return todo


def _print_set_aside(data: DatasetWriter, plan: Plan, console: Console) -> None:
    for name, moved_to in data.set_aside.items():
        console.print(
            f"{name} is damaged and was moved to {moved_to}; its points of this grid run again",
            markup=False,
            soft_wrap=True,
        )
    if data.set_aside and (lost := len(data.without_result() - plan.points.keys())):
        console.print(
            f"{count(lost, 'point')} of earlier grids lost their results; rerun those commands to "
            "recompute them",
            markup=False,
            soft_wrap=True,
        )


def _print_notes(notes: Collection[str], console: Console) -> None:
    """Print each note of the points once, and of many the first."""
    for text in [*notes][:MOST_NOTES]:
        console.print(f"note: {text}", markup=False)
    if len(notes) > MOST_NOTES:
        console.print(f"note: {len(notes) - MOST_NOTES} more settings cannot matter either")


def _compiled() -> bool:
    """Whether kernels of this version lie compiled on disk."""
    path = cache_directory()
    return path is not None and any(path.rglob("*.nbi"))


def _collect(
    results: Iterator[Result | PointProgress | None],
    data: DatasetWriter,
    progress: Progress,
    counts: dict[str, int],
    options: Options,
    interrupts: Interrupts,
    notes: dict[str, None],
) -> None:
    for result in results:
        if isinstance(result, PointProgress):
            progress.show(result)
        elif result is not None:
            data.add(result.row, result.details)
            notes.update(dict.fromkeys(result.notes))
            progress.add(result.row)
            ok = result.row["status"] == "ok"
            counts["ok" if ok else "failed"] += 1
            if not ok and options["sweep.fail_fast"]:
                break
        if interrupts.requested:
            break
        data.poll()
        progress.poll()


@contextmanager
def _executor(
    options: Options,
    todo: PointList,
    console: Console,
    stop_requested: Callable[[], bool] = lambda: False,
) -> Iterator[Executor]:
    if todo and not _compiled():
        console.print("compiling the kernels; this takes a while, once on this machine")

    def meanwhile() -> None:
        warm((engine, scheduler) for scheduler, engine, _ in todo.kinds())

    if options["executor"] == "local" or not todo:
        yield run_locally
        return
    arguments: dict[str, Any] = {
        "address": options["ray.address"],
        "num_cpus": options["ray.num_cpus"],
        "chunk": options["sweep.chunk"],
        "timeout_s": options["sweep.timeout_s"],
        "retries": options["sweep.retries"],
    }
    with RayExecutor(
        **{name: value for name, value in arguments.items() if value is not None},
        meanwhile=meanwhile,
        stop_requested=stop_requested,
    ) as executor:
        yield executor
