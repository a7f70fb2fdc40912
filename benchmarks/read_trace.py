"""Time reading traces: ``python benchmarks/read_trace.py [file …]``.

Without a file, a synthetic trace of the size of the Facebook one is made first.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from core.trace import from_records, make_records
from core.workloads._format import read_trace
from core.workloads._format_write import write_trace

REPEATS = 5


def synthetic(path: Path, ports: int = 150, coflows: int = 526) -> None:
    rng = np.random.default_rng(0)
    sides = rng.choice([1, 2, 10, 50, 140], (2, coflows), p=[0.35, 0.15, 0.2, 0.18, 0.12])
    mappers, reducers = ([rng.permutation(ports)[:n] for n in side] for side in sides)
    mb = [np.ceil(rng.pareto(1.0, len(r)) * 10) for r in reducers]
    arrival_s = np.sort(rng.integers(0, 3_600_000, coflows)) / 1000
    records = make_records(mappers, reducers, mb)
    write_trace(from_records("synthetic", ports, np.arange(coflows), arrival_s, records), path)


def measure(path: Path) -> None:
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        trace = read_trace(path)
        seconds.append(time.perf_counter() - start)
    print(
        f"{path.name}: {path.stat().st_size / 1e3:.0f} kB, {len(trace)} coflows, "
        f"{len(trace.src)} flows: first {seconds[0]:.3f} s, best {min(seconds):.3f} s"
    )


def main(paths: list[str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        if not paths:
            made = Path(directory) / "synthetic.txt"
            synthetic(made)
            paths = [str(made)]
        for path in paths:
            measure(Path(path))


if __name__ == "__main__":
    main(sys.argv[1:])
