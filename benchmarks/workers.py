"""One worker against two: `python benchmarks/workers.py [points] [trace]`.

Runs the same points on one and on two Ray workers, after both have loaded their kernels, and
prints the ratio. Without a trace the points run on fb_like.
"""

from __future__ import annotations

import sys
import time

from sweep.cli.main import read_request, register
from sweep.execution import ray_executor
from sweep.grid.plan import make_plan
from sweep.grid.table import PointList


def points(count: int, path: str | None) -> PointList:
    register()
    words = ["scheduler=asebf", f"queue.first_threshold_mb=range(1,{count + 1})"]
    if path is not None:
        words += ["workload=trace", f"workload.path='{path}'"]
    return make_plan(read_request(words)[0]).points.without(())


def seconds(todo: PointList, workers: int) -> float:
    with ray_executor.RayExecutor(num_cpus=workers) as executor:
        # Every worker process loads its kernels before the clock runs.
        list(executor(todo[: 4 * workers], frozenset()))
        began = time.perf_counter()
        rows = [r for r in executor(todo, frozenset()) if r is not None]
        took = time.perf_counter() - began
    assert all(r.row["status"] == "ok" for r in rows)
    return took


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    todo = points(count, sys.argv[2] if len(sys.argv) > 2 else None)
    for _ in range(3):
        one, two = seconds(todo, 1), seconds(todo, 2)
        print(f"{count} points: 1 worker {one:.2f} s, 2 workers {two:.2f} s, ratio {one / two:.2f}")


if __name__ == "__main__":
    main()
