"""Compare the `fb_like` workload with the Facebook trace: print a Markdown table.

python benchmarks/fb_like_table.py [seeds]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from fb_facts import FACEBOOK, facts  # noqa: E402

from core.parameters import defaults  # noqa: E402
from core.workloads import workloads  # noqa: E402


def main(seeds: int = 10) -> None:
    workload = workloads()["fb_like"]
    values = defaults(workload.parameters)
    rows = [facts(workload.build(values, np.random.default_rng(seed))) for seed in range(seeds)]
    print(f"| fact | published trace | fb_like, median over {seeds} seeds (min … max) |")
    print("|---|---|---|")
    for name, published in FACEBOOK.items():
        values = [row[name] for row in rows]
        low, middle, high = (_number(v) for v in (min(values), np.median(values), max(values)))
        print(f"| {name} | {_number(published)} | {middle} ({low} … {high}) |")


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
