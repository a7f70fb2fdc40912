"""How the fluid engine's time and memory grow: python benchmarks/scaling.py [--quick].

Synthetic traces along three axes (coflows, ports, flows per coflow) up to 10^7 flows, each in a
process of its own. Writes docs/scaling.svg and docs/scaling.md; with ``--quick``, a few small
sizes and no files.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
LOAD = 0.3
LIMIT_S = 30
"""CPU seconds of one process, reading and loading included."""
BUDGET_S = 600
"""Of the whole, by the clock."""
SHORTEST_S = 0.02
"""Times below say more about constant costs than about growth, and are left out of fits."""
COLOURS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73")


class Size(NamedTuple):
    """A trace: flows are those per coflow, on average."""

    axis: str
    ports: int
    coflows: int
    flows: int


class Case(NamedTuple):
    """What runs on it."""

    scheduler: str
    trigger: str


CASES = (
    *(Case(s, t) for s in ("aalo", "varys") for t in ("flow", "coflow")),
    Case("fair", "flow"),
)
AXES = ("coflows", "ports", "flows")
FULL = (
    *(Size("coflows", 150, n, 100) for n in (500, 1_000, 2_000, 5_000, 10_000, 20_000)),
    *(Size("flows", 500, 1_000, f) for f in (50, 200, 1_000, 5_000, 10_000)),
    Size("all", 1_000, 20_000, 500),
    *(Size("ports", p, 2_000, 100) for p in (50, 100, 200, 500, 1_000)),
)
QUICK = (
    *(Size("coflows", 150, n, 100) for n in (500, 1_000, 2_000)),
    *(Size("ports", p, 500, 100) for p in (50, 150, 500)),
    *(Size("flows", 150, 500, f) for f in (50, 200, 800)),
)


def synthetic(size: Size) -> Any:
    """Return a trace: a quarter of the coflows are w × w meshes, the others 1 to 3 × 1 to 3.

    Sizes are heavy-tailed; arrivals are such that the ports are busy for the share `LOAD`.
    """
    from core.trace import from_records, make_records

    rng = np.random.default_rng(0)
    wide = min(size.ports, round((4 * size.flows) ** 0.5))
    sides = rng.integers(1, 4, (2, size.coflows))
    sides[:, rng.random(size.coflows) < 0.25] = wide
    mappers, reducers = (
        [rng.choice(size.ports, n, replace=False, shuffle=False) for n in side] for side in sides
    )
    mb = [
        np.ceil((rng.pareto(1.3) + 1) * m * rng.uniform(0.5, 1.5, r))
        for m, r in zip(*sides, strict=True)
    ]
    seconds = sum(float(x.sum()) for x in mb) * 1e6 / (size.ports * 1.25e8) / LOAD
    arrival_s = np.sort(rng.uniform(0, seconds, size.coflows))
    records = make_records(mappers, reducers, mb)
    return from_records("synthetic", size.ports, np.arange(size.coflows), arrival_s, records)


def measure(size: Size, case: Case) -> dict[str, float]:
    """Run one case in this process; return CPU seconds, peak memory [MB] and counts."""
    from core.fluid import ENGINE, run
    from core.schedulers import schedulers

    ENGINE.warm([schedulers()[case.scheduler]])
    trace = synthetic(size)
    began = time.process_time()
    values = {"engine.trigger": case.trigger, "engine.bound": "none"}
    outcome = run(trace, schedulers()[case.scheduler], values)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": seconds,
        "peak_mb": peak * (1 if sys.platform == "darwin" else 1024) / 1e6,
        "flows": len(trace.src),
        "events": outcome.events,
    }


def in_process(size: Size, case: Case) -> dict[str, float] | None:
    """Measure in a new process; None if it takes too long."""
    words = [sys.executable, __file__, "--one", json.dumps([size, case])]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=False)
    if done.returncode == -signal.SIGXCPU:
        return None
    done.check_returncode()
    return dict(json.loads(done.stdout))


Rows = list[tuple[Size, Case, dict[str, float]]]


def measure_all(sizes: Sequence[Size]) -> tuple[Rows, int]:
    """Measure every size and case; return also how many runs were left out.

    After a case was too slow, it is left out for the larger sizes of that axis; all are left out
    once the whole has taken `BUDGET_S`.
    """
    for case in CASES:  # compile once, outside the limit
        measure(Size("", 4, 4, 4), case)
    began = time.monotonic()
    rows: Rows = []
    missing = 0
    slow: set[tuple[str, Case]] = set()
    for size in sizes:
        for case in CASES:
            skipped = (size.axis, case) in slow or time.monotonic() - began > BUDGET_S
            measures = None if skipped else in_process(size, case)
            if measures is None:
                slow.add((size.axis, case))
                missing += 1
            else:
                rows.append((size, case, measures))
    return rows, missing


def exponent(x: Sequence[float], seconds: Sequence[float]) -> str:
    """Return the slope of log time over log x, with the number of sizes it comes from."""
    pairs = [(a, s) for a, s in zip(x, seconds, strict=True) if s >= SHORTEST_S]
    if len(pairs) < 3:
        return "–"
    logs = np.log(np.array(pairs))
    return f"{np.polyfit(logs[:, 0], logs[:, 1], 1)[0]:.2f} ({len(pairs)})"


def tables(rows: Rows) -> str:
    """Return the exponents and every measurement as Markdown tables."""
    text = "| scheduler | trigger | coflows | ports | flows | flows × events | events × ports |\n"
    text += "|---|---|" + "--:|" * 5 + "\n"
    for case in CASES:
        of_case = [(size, measures) for size, c, measures in rows if c == case]
        cells = []
        for axis in AXES:
            along = [(s, f) for s, f in of_case if s.axis == axis]
            x = [f["flows"] if axis == "flows" else getattr(s, axis) for s, f in along]
            cells.append(exponent(x, [f["seconds"] for _, f in along]))
        seconds = [f["seconds"] for _, f in of_case]
        cells.append(exponent([f["flows"] * f["events"] for _, f in of_case], seconds))
        cells.append(exponent([s.ports * f["events"] for s, f in of_case], seconds))
        text += f"| `{case.scheduler}` | {case.trigger} | {' | '.join(cells)} |\n"
    text += "\n| ports | coflows | flows | scheduler | trigger | events | CPU s | peak MB "
    text += "| µs / event |\n|--:|--:|--:|---|---|" + "--:|" * 4 + "\n"
    for size, case, f in rows:
        text += (
            f"| {size.ports} | {size.coflows} | {f['flows']} | `{case.scheduler}` | {case.trigger} "
            f"| {f['events']} | {f['seconds']:.2f} | {f['peak_mb']:.0f} "
            f"| {1e6 * f['seconds'] / f['events']:.1f} |\n"
        )
    return text


def draw(rows: Rows, path: Path) -> None:
    """Draw time against flows × events and peak memory against flows."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "coflow-sweep"  # the same picture is the same file
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for colour, case in zip(COLOURS, CASES, strict=True):
        of_case = [f for _, c, f in rows if c == case]
        work = [f["flows"] * f["events"] for f in of_case]
        style: dict[str, Any] = {"s": 16, "color": colour}
        label = f"{case.scheduler}, trigger={case.trigger}"
        left.scatter(work, [f["seconds"] for f in of_case], label=label, **style)
        right.scatter([f["flows"] for f in of_case], [f["peak_mb"] for f in of_case], **style)
    work = [f["flows"] * f["events"] for _, _, f in rows]
    ends = np.array([min(work), max(work)])
    lowest = max(min(f["seconds"] for _, _, f in rows), 1e-3)
    for slope, dashes in ((1.0, "--"), (0.5, ":")):
        growth = lowest * (ends / ends[0]) ** slope
        left.plot(ends, growth, dashes, color="grey", linewidth=0.8, label=f"slope {slope:g}")
    top = max(f["seconds"] for _, _, f in rows)
    left.set(xlabel="flows × events", ylabel="CPU time [s]", ylim=(lowest / 2, top * 2))
    right.set(xlabel="flows", ylabel="peak memory [MB]")
    for axes in (left, right):
        axes.set(xscale="log", yscale="log")
        axes.grid(alpha=0.3, linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False, fontsize="small")
    figure.savefig(path, metadata={"Date": None})


PAGE = """# How the fluid engine scales

Written by `python benchmarks/scaling.py` (Python {python}, {machine}; times are CPU seconds of one
point without the bound, each in a process of its own). A quarter of the coflows of these traces are
w × w meshes, the others have 1 to 3 senders and receivers; sizes are heavy-tailed, and ports are
busy for {load:.0%} of the time.

![CPU time against flows × events, and peak memory against flows](scaling.svg)

First how time grows: the exponent a of time ∝ x^a, and from how many sizes it comes. Along an axis
only that number grows: 1 is linear, 2 quadratic. A loop that looks at every flow at every event has
exponent 1 against flows × events, which itself grows with the square of the number of coflows.
A dash: fewer than three sizes took {shortest} s or more.

{table}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="a few small sizes, no files")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 5))
        size, case = json.loads(arguments.one)
        print(json.dumps(measure(Size(*size), Case(*case))))
        return
    rows, missing = measure_all(QUICK if arguments.quick else FULL)
    table = tables(rows)
    if missing:
        table += (
            f"\nLeft out: {missing} runs of more than {LIMIT_S} CPU s, or larger than such a one.\n"
        )
    print(table)
    if not arguments.quick:
        draw(rows, ROOT / "docs" / "scaling.svg")
        page = PAGE.format(
            python=platform.python_version(),
            machine=platform.machine(),
            load=LOAD,
            shortest=SHORTEST_S,
            table=table,
        )
        (ROOT / "docs" / "scaling.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
