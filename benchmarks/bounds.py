"""Values and times of the lower bounds: ``python benchmarks/bounds.py [trace file …]``.

Without a file, synthetic traces up to 20 000 coflows on 1000 ports. The effort of the search is
a number of jobs, so its time is about the same for all of them; `loads` reads every flow once.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from core.bounds import EFFORT, Loads, isolation, loads, partition, single_port
from core.trace import Trace, from_flows, from_records, make_records
from core.workloads._format import read_trace

SIZES = ((50, 500), (150, 526), (150, 5_000), (1000, 20_000))
T = TypeVar("T")


def synthetic(ports: int, coflows: int) -> Trace:
    rng = np.random.default_rng(0)
    widths = (1, 2, max(ports // 50, 1), ports // 4)
    sides = rng.choice(widths, (2, coflows), p=[0.4, 0.3, 0.25, 0.05])
    mappers, reducers = ([rng.permutation(ports)[:n] for n in side] for side in sides)
    mb = [np.ceil((rng.pareto(1.1) + 1) * 10 * rng.uniform(0.5, 1.5, len(r))) for r in reducers]
    # Arrivals such that the ports are busy a fifth of the time.
    seconds = sum(float(m.sum()) for m in mb) * 1e6 / (ports * 1.25e8) * 5
    arrival_s = np.sort(rng.uniform(0, seconds, coflows))
    records = make_records(mappers, reducers, mb)
    return from_records("synthetic", ports, np.arange(coflows), arrival_s, records)


def timed(call: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def measure(name: str, trace: Trace) -> None:
    port_loads, seconds = timed(lambda: loads(trace))
    print(
        f"{name}: {trace.ports} ports, {len(trace)} coflows, {len(trace.src)} flows, "
        f"{len(port_loads.port)} loads read in {seconds:.3f} s"
    )
    show("isolation", lambda: isolation(port_loads).mean_s)
    show("single port", lambda: single_port(port_loads).mean_s)
    for effort in (EFFORT // 10, EFFORT, EFFORT * 4):
        show(f"partition, {effort:.1e} jobs", partition_of(port_loads, effort))


def partition_of(port_loads: Loads, effort: int) -> Callable[[], float]:
    return lambda: partition(port_loads, effort).mean_s


def show(name: str, call: Callable[[], float]) -> None:
    value, seconds = timed(call)
    print(f"  {name:26} {value:10.4f} s   in {seconds:6.3f} s")


def main(paths: list[str]) -> None:
    tiny = from_flows("tiny", 2, [(0, 0.0, [(0, 1, 1e6)]), (1, 0.0, [(0, 1, 1e6)])])
    _, seconds = timed(lambda: partition(loads(tiny)) and single_port(loads(tiny)))
    print(f"kernels ready after {seconds:.2f} s")
    for path in paths:
        measure(path, read_trace(path))
    if not paths:
        for ports, coflows in SIZES:
            measure("synthetic", synthetic(ports, coflows))


if __name__ == "__main__":
    main(sys.argv[1:])
