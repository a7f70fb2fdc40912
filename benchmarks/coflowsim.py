"""Time the `coflowsim` engine: print seconds per point, and what compiling and loading take.

python benchmarks/coflowsim.py [trace file] [scheduler …]

Without a file, the Facebook trace beside the checkout, or else an `fb_like` one.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from core.coflowsim import ENGINE  # noqa: E402
from core.parameters import defaults  # noqa: E402
from core.registry import simulate  # noqa: E402
from core.schedulers import schedulers  # noqa: E402
from core.trace import Trace  # noqa: E402
from core.workloads import workloads  # noqa: E402
from core.workloads._format import read_trace  # noqa: E402

FACEBOOK = ROOT.parent / "shared/data/traces/FB2010-1Hr-150-0.txt"
REPEATS = 5

WARM = """
import sys, time
from core.coflowsim import ENGINE
from core.schedulers import schedulers
begin = time.perf_counter()
ENGINE.warm(schedulers()[name] for name in sys.argv[1:] or schedulers())
print(time.perf_counter() - begin)
"""


def load(path: str | None) -> Trace:
    if path is not None or FACEBOOK.is_file():
        return read_trace(path or FACEBOOK)
    workload = workloads()["fb_like"]
    return workload.build(defaults(workload.parameters), np.random.default_rng(0))


def warm_seconds(cache: str, *names: str) -> float:
    """Seconds that a new process takes to compile or load kernels, the import aside."""
    environment = os.environ | {"COFLOW_SWEEP_CACHE": cache, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WARM, *names]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(output.stdout)


def point_seconds(trace: Trace, name: str) -> tuple[float, float, int]:
    """Median seconds of a point, its mean CCT [s] and its recomputations."""
    values = defaults(schedulers()[name].rules["coflowsim"].parameters)
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        outcome = simulate(trace, "coflowsim", name, values)
        seconds.append(time.perf_counter() - begin)
    mean = float(np.mean(outcome.finish_s - outcome.start_s))
    return statistics.median(seconds), mean, outcome.events


def main(path: str | None = None, *names: str) -> None:
    print("| kernels of | compiled in s | loaded by the next process in s |")
    print("|---|---|---|")
    groups = {"queues and lists": ["aalo"], "fair": ["fair"], "pfp": ["pfp"], "all": []}
    for label, group in groups.items():
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = warm_seconds(cache, *group), warm_seconds(cache, *group)
        print(f"| {label} | {cold:.1f} | {warm:.2f} |", flush=True)
    trace = load(path)
    ENGINE.warm(schedulers().values())
    print(f"\n{trace.name}: {len(trace)} coflows, {len(trace.src)} flows, {trace.ports} ports\n")
    print(f"| scheduler | s per point (median of {REPEATS}) | mean CCT in s | recomputations |")
    print("|---|---|---|---|")
    for name in names or sorted(n for n, s in schedulers().items() if "coflowsim" in s.rules):
        seconds, mean, events = point_seconds(trace, name)
        print(f"| {name} | {seconds:.2f} | {mean:.3f} | {events} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
