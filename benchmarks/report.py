"""Size and time of a report: python benchmarks/report.py [points] [coflows].

A made-up dataset, with replicates and coflows, is written through the package's own writer.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np

from core.metrics import METRICS
from sweep.store import DatasetWriter

ROOT = Path(__file__).resolve().parents[1]
SCHEDULERS = ("asebf", "aalo", "varys", "fair", "fifo")
WIDTHS = ("receiver", "sender", "max", "min", "sum")
REPLICATES = 5


def write(directory: Path, points: int, coflows: int) -> int:
    """Write a dataset of about so many points; return how many there are."""
    rng = np.random.default_rng(1)
    thresholds = np.geomspace(1, 1000, max(2, round((points / 25 / REPLICATES) ** 0.5)))
    bases = np.linspace(2, 40, len(thresholds))
    grid = [*product(SCHEDULERS, WIDTHS, thresholds, bases, range(REPLICATES))][:points]
    size = rng.lognormal(3, 3, coflows)
    ports = rng.integers(1, 100, (2, coflows))
    fixed = {"engine": "fluid", "workload": "fb_like", "engine_trigger": "flow", "seed": 0}
    rows = []
    with DatasetWriter.open(directory, details=["coflows"]) as dataset:
        for k, (scheduler, width, threshold, base, replicate) in enumerate(grid):
            row = {
                "point_id": f"{k:016x}",
                "scheduler": scheduler,
                "replicate": replicate,
                "trace_id": f"t{replicate}",
                "width": width,
                "queue_first_threshold_mb": float(threshold),
                "queue_base": float(base),
                **fixed,
            }
            cct = size * rng.lognormal(0, 0.3, coflows)
            metrics = {m.name: float(cct.mean()) for m in METRICS if m.kind is float}
            metrics |= {"coflows": coflows, "events": 1000 + k}
            columns = {
                **{"coflow_id": np.arange(coflows), "arrival_s": size, "start_s": size},
                **{"finish_s": size + cct, "cct_s": cct, "gamma_s": size, "slowdown": cct / size},
                **{"senders": ports[0], "receivers": ports[1], "flows": ports[0] * ports[1]},
                **{"length_bytes": size * 1e6, "size_bytes": size * 3e6},
                "bin": np.repeat("LW", coflows),
            }
            dataset.add({**row, **metrics, "status": "ok"}, {"coflows": columns})
            rows.append({"grid_row": k, **row})
        dataset.write_points(rows)
        dataset.write_manifest({"command": "benchmarks/report.py", "state": "complete"})
    return len(rows)


def main() -> None:
    """Write, report, and print what it took."""
    points, coflows = (
        int(word) for word in (*sys.argv[1:], *("10000", "526")[len(sys.argv) - 1 :])
    )
    with tempfile.TemporaryDirectory() as folder:
        dataset, report = Path(folder) / "dataset", Path(folder) / "report"
        began = time.perf_counter()
        points = write(dataset, points, coflows)
        print(
            f"{points} points x {coflows} coflows, written in {time.perf_counter() - began:.1f} s"
        )
        began = time.perf_counter()
        cpu = _children_s()
        done = subprocess.run(
            [sys.executable, "-m", "sweep.report", str(dataset), "--out", str(report)],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        print(done.stdout.strip().replace(folder, ""))
        print(f"{time.perf_counter() - began:.1f} s, of which {_children_s() - cpu:.1f} s CPU")
        for path in sorted(report.iterdir(), key=lambda p: -p.stat().st_size)[:4]:
            print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.name}")


def _children_s() -> float:
    """Return the processor time of processes that have ended [s]."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
