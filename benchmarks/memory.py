"""Memory of the driver and of a worker: `python benchmarks/memory.py [N …]`.

Runs sweeps of toy points on Ray and prints the largest resident set of the driver and of a worker
over the whole run, and of what planning alone takes. Then the same for sweeps that store a row per
point and coflow, 526 of them a point: `python benchmarks/memory.py coflows [N …]` runs only those.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def resident(pid: int) -> float:
    """Return the resident set of a process [MB], 0 where it is gone."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1000
    except OSError:
        pass
    return 0.0


def workers(mark: str) -> list[int]:
    pids = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (
                b"ray::" in (process / "cmdline").read_bytes()[:6]
                and mark.encode() in (process / "environ").read_bytes()
            ):
                pids.append(int(process.name))
        except OSError:
            continue
    return pids


TOY = ("workload=toy",)
COFLOWS = ("workload.ports=10", "engine.trigger=coflow", "output.coflows=true")
"""Points of 5 ms with 526 coflows."""


def measure(n: int, *words: str) -> tuple[float, float, float]:
    """Return the largest resident sets of driver and worker [MB], and the time [s]."""
    mark = f"SWEEP_MEMORY_{os.getpid()}_{n}_{len(words)}"
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "sweep", "scheduler=aalo"),
                "queue.base=range(2,102)",
                f"queue.first_threshold_mb=range(1,{1 + n // 100})",
                *(f"output.dir={folder}/out", *words),
            ],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), mark: "1"},
            stdout=subprocess.DEVNULL,
        )
        driver = worker = 0.0
        while process.poll() is None:
            driver = max(driver, resident(process.pid))
            worker = max([worker, *(resident(pid) for pid in workers(mark))])
            time.sleep(0.1)
        assert process.returncode == 0
        return driver, worker, time.perf_counter() - began


def main() -> None:
    words = sys.argv[1:]
    sizes = [int(word) for word in words if word.isdigit()]
    if "coflows" not in words:
        print("  points  driver MB  worker MB       s   plan alone: MB       s")
        for n in sizes or [1000, 10_000, 100_000]:
            driver, worker, took = measure(n, *TOY)
            planning, _, planned = measure(n, *TOY, "sweep.dry_run=true")
            whole = f"{n:8} {driver:10.0f} {worker:10.0f} {took:7.1f}"
            print(f"{whole}   {planning:15.0f} {planned:7.1f}", flush=True)
    print("  points  coflows stored  driver MB  worker MB       s")
    for n in sizes or [1000, 10_000]:
        driver, worker, took = measure(n, *COFLOWS)
        print(f"{n:8} {526 * n:15} {driver:10.0f} {worker:10.0f} {took:7.1f}", flush=True)


if __name__ == "__main__":
    main()
