"""One sweep, from a checked grid to a dataset and its table."""

from __future__ import annotations

import datetime
import os
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from core import registry
from core.errors import StoreError
from core.jit import cache_directory
from core.parameters import Value
from sweep import execute
from sweep.grid import Grid, grid_size
from sweep.interrupts import Interrupts
from sweep.manifest import manifest_of, now
from sweep.plan import Plan, Point, make_plan
from sweep.progress import Progress
from sweep.store import Dataset, load
from sweep.table import print_failures, print_table

Settings = Mapping[str, Value]


def run(grid: Grid, settings: Settings, command: Sequence[str]) -> int:
    """Plan, run, store and report; return the exit code.

    Raises
    ------
    InputError
        Before anything runs or is written.
    """
    console = Console(highlight=False, soft_wrap=False)
    plan = make_plan(grid)
    describe(plan, console)
    if settings["sweep.dry_run"]:
        return 0
    directory = str(settings["output.dir"] or _fresh_directory())
    manifest = manifest_of(plan, settings, command)
    complete = _execute(plan, settings, directory, manifest, console)
    failed = _report(plan, directory, console)
    if not complete:
        console.print(
            f"interrupted: what was finished is in {directory}; to go on, the same command with "
            f"output.dir={shlex.quote(directory)}",
            markup=False,
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
    """Run what is not finished and store it; False if it was interrupted."""
    began = time.monotonic()
    coflows = bool(settings["output.coflows"])
    counts = {"ok": 0, "failed": 0}
    with ExitStack() as stack:
        executor = None
        if settings["ray.address"] is not None:
            # A cluster that does not answer is bad input: found before anything is written.
            executor = stack.enter_context(_executor(settings, list(plan.points.values())))
        data = stack.enter_context(Dataset.open(directory, coflows=coflows))
        todo = [p for p in plan.points.values() if p.point_id not in data.finished()]
        data.write_manifest(manifest)
        data.write_points(plan.rows)
        _point_latest_at(directory)
        if done := len(plan.points) - len(todo):
            console.print(
                f"{_count(done, 'point')} finished in {directory}: {len(todo)} to run",
                markup=False,
            )
        if todo and not _compiled():
            console.print("compiling the kernels, once on this machine: this takes a while")
        local = settings["executor"] == "local"
        with Interrupts(console, leave=local) as interrupts:
            try:
                if executor is None:
                    executor = stack.enter_context(_executor(settings, todo))
                interrupts.install()
                with Progress(len(todo), console) as progress:
                    results = executor(todo, coflows)
                    _collect(results, data, progress, counts, settings, interrupts)
            except KeyboardInterrupt:
                pass
            data.flush()
        complete = not interrupts.asked or sum(counts.values()) == len(todo)
        ended = {"ended": now(), "wall_s": round(time.monotonic() - began, 3), **counts}
        state = "complete" if complete else "interrupted"
        data.write_manifest({**manifest, **ended, "state": state})
    return complete


def describe(plan: Plan, console: Console) -> None:
    """Print axes, grid rows and unique points, and why rows collapsed."""
    axes = [f"{k}: {', '.join(map(str, v))}" for k, v in plan.axes.items() if len(v) > 1]
    rows, points = len(plan.rows), len(plan.points)
    for axis in axes:
        console.print(f"  {axis}", markup=False, soft_wrap=True)
    for key, count in plan.repeated.items():
        console.print(f"  {key}: {_count(count, 'repeated value')} left out", markup=False)
    grid = (
        _count(rows, "grid row")
        if rows == grid_size(plan.axes)
        else (f"{grid_size(plan.axes)} combinations, {rows} grid rows with replicates")
    )
    if fixed := [f"{k}={v[0]}" for k, v in plan.axes.items() if len(v) == 1]:
        console.print(f"  {' '.join(fixed)}", markup=False, soft_wrap=True)
    console.print(f"{grid}: {_count(points, 'unique point')}", markup=False)
    if points < rows:
        for reason in plan.unread():
            console.print(f"  {reason}", markup=False, soft_wrap=True)


def _compiled() -> bool:
    """Whether kernels of this version lie compiled on disk."""
    path = cache_directory()
    return path is not None and any(path.rglob("*.nbi"))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _collect(
    results: Iterator[execute.Result | None],
    data: Dataset,
    progress: Progress,
    counts: dict[str, int],
    settings: Settings,
    interrupts: Interrupts,
) -> None:
    for result in results:
        if result is not None:
            data.add(result.row, result.coflows)
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
def _executor(settings: Settings, todo: Sequence[Point]) -> Iterator[execute.Executor]:
    def meanwhile() -> None:
        execute.warm(todo)

    if settings["executor"] == "local" or not todo:
        yield execute.run_locally
        return
    address, cpus, chunk = (
        settings[f"{k}"] for k in ("ray.address", "ray.num_cpus", "sweep.chunk")
    )
    with execute.RayExecutor(
        address=None if address is None else str(address),
        num_cpus=None if cpus is None else int(cpus),
        chunk=None if chunk is None else int(chunk),
        meanwhile=meanwhile,
    ) as executor:
        yield executor


def _report(plan: Plan, directory: str, console: Console) -> int:
    """Print the table, the failures and where the dataset lies; return how many points failed."""
    try:
        table = load(directory)
    except StoreError:
        rows: list[dict[str, Any]] = []
    else:
        wanted = table[table["point_id"].isin(plan.points)].drop_duplicates("point_id")
        objects = wanted.astype(object)
        records = objects.where(objects.notna(), None).to_dict("records")
        rows = [_as_read(record, plan.points[record["point_id"]]) for record in records]
    done = [row for row in rows if row["status"] == "ok"]
    failed = [row for row in rows if row["status"] not in ("ok", None)]
    if done:
        print_table(done, console)
    if failed:
        print_failures(failed, console)
        console.print(
            f"to run only the failed points again: the same command with "
            f"output.dir={shlex.quote(directory)}",
            markup=False,
        )
    console.print(f"dataset: {directory}", markup=False, soft_wrap=True)
    return len(failed)


def _as_read(record: Mapping[Any, Any], point: Point) -> dict[str, Any]:
    """Return a row of the grid with the parameters that its point has read, the others None."""
    asked = {str(k): v for k, v in record.items()}
    unread = dict.fromkeys(p.column for p in registry.parameters().values())
    return asked | unread | point.columns()


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
