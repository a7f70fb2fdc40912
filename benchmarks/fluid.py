"""Time the `fluid` engine: print CPU seconds per scheduler and trigger, or of compiling.

python benchmarks/fluid.py [--trace FILE] [scheduler …]
python benchmarks/fluid.py --cold [scheduler …]

Without a file, the Facebook trace beside the checkout, or else an `fb_like` one. With ``--cold``,
the seconds that a new process takes to compile a scheduler's kernels into an empty cache, and
that the next one takes to load them. CPU seconds of one process: other work on the machine
still slows it down, so compare numbers of one run only.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from core.fluid import ENGINE, run  # noqa: E402
from core.parameters import Value, defaults  # noqa: E402
from core.schedulers import schedulers  # noqa: E402
from core.trace import Trace  # noqa: E402
from core.workloads import workloads  # noqa: E402
from core.workloads._format import read_trace  # noqa: E402

FACEBOOK = ROOT.parent / "shared/data/traces/FB2010-1Hr-150-0.txt"
VARIANTS: tuple[dict[str, Value], ...] = (
    {"engine.trigger": "flow"},
    {"engine.trigger": "coflow"},
    {"engine.within": "max_min"},
    {"queue.between": "wfq"},
    {"order": "remaining"},
)

WARM = """
import sys, time
from core.fluid import ENGINE
from core.schedulers import schedulers
begin = time.process_time()
ENGINE.warm(schedulers()[name] for name in sys.argv[1:] or schedulers())
print(time.process_time() - begin)
"""


def load(path: str | None) -> Trace:
    if path is not None or FACEBOOK.is_file():
        return read_trace(path or FACEBOOK)
    workload = workloads()["fb_like"]
    return workload.build(defaults(workload.parameters), np.random.default_rng(0))


def warm_seconds(cache: str, *names: str) -> float:
    """CPU seconds that a new process takes to compile or load kernels, the import aside."""
    environment = os.environ | {"COFLOW_SWEEP_CACHE": cache, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WARM, *names]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(output.stdout)


def compiling(names: list[str]) -> None:
    print("| scheduler | compiled in CPU s | loaded by the next process in CPU s |")
    print("|---|---|---|")
    for name in [*names, "all"]:
        group = [] if name == "all" else [name]
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = warm_seconds(cache, *group), warm_seconds(cache, *group)
        print(f"| {name} | {cold:.1f} | {warm:.2f} |", flush=True)


def running(trace: Trace, names: list[str]) -> None:
    ENGINE.warm(schedulers()[name] for name in names)
    print(f"{trace.name}: {len(trace)} coflows, {len(trace.src)} flows, {trace.ports} ports\n")
    print("| scheduler | with | CPU s | decisions | mean CCT in s |")
    print("|---|---|---|---|---|")
    for name in names:
        scheduler = schedulers()[name]
        read = {p.key for p in (*scheduler.rules["fluid"].parameters, *ENGINE.parameters)}
        for values in VARIANTS:
            if values.keys() <= read:
                begin = time.process_time()
                outcome = run(trace, scheduler, values)
                seconds = time.process_time() - begin
                mean = float(np.mean(outcome.finish_s - outcome.start_s))
                ((key, value),) = values.items()
                print(
                    f"| {name} | {key}={value} | {seconds:.2f} | {outcome.events} | {mean:.3f} |",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trace", metavar="FILE", help="a trace in the coflow-benchmark format")
    parser.add_argument("--cold", action="store_true", help="time compiling instead")
    parser.add_argument("scheduler", nargs="*", help="all if none is named")
    arguments = parser.parse_args()
    names = arguments.scheduler or sorted(n for n, s in schedulers().items() if "fluid" in s.rules)
    if arguments.cold:
        compiling(names)
    else:
        running(load(arguments.trace), names)


if __name__ == "__main__":
    main()
