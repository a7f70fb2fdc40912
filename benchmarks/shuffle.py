"""Balance and speed of the partitioners: ``python benchmarks/shuffle.py [table] [speed] [large]``.

`table`: factor of skew over exponents, sampling rates and partitioners, mean ± std over seeds.
`speed`: CPU time of a point with 2·10^6 records. `large`: CPU time and memory of one with 10^10.
Without an argument, all three.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import numpy as np

from core.parameters import defaults
from core.shuffle import Partition, draw, fos
from core.shuffle.parameters import KEY_PARAMETERS, SAMPLING_RATE
from core.shuffle.partitioners import partitioners

ZIPF = (0.1, 0.5, 1.0, 1.2)
RATES = (0.01, 0.05, 0.2)
SEEDS = 5
SMALL = {"records": 2_000_000, "keys": 20_000, "splits": 8, "buckets": 16}
LARGE = {"records": 10**10, "keys": 10**6, "splits": 1000, "buckets": 1000}


def run(name: str, size: dict[str, int], seed: int, **changes: Any) -> Partition:
    values = defaults(KEY_PARAMETERS) | {"shuffle.keys": size["keys"]}
    values |= {f"shuffle.{k}": v for k, v in changes.items()}
    data = draw(values, size["records"], size["splits"], np.random.default_rng([seed, 1]))
    rng = np.random.default_rng([seed, 2])
    return partitioners()[name].partition(data, size["buckets"], values, rng)


def cases() -> list[tuple[str, dict[str, Any]]]:
    """Partitioners with what varies: rates where there is sampling; SCID with limits as well."""
    variants: list[tuple[str, dict[str, Any]]] = []
    for name, record in partitioners().items():
        rates = RATES if SAMPLING_RATE in record.parameters else (None,)
        for rate in rates:
            values = {} if rate is None else {"sampling_rate": rate}
            variants.append((name, values))
            if name == "scid":
                variants.append((name, {**values, "limits_on_unsplit_keys": True}))
    return variants


def table() -> None:
    print(f"FoS of records, mean ± std over {SEEDS} seeds: {SMALL}")
    print(
        f"{'partitioner':18}{'s':>6}" + "".join(f"{f'a = {a}':>16}" for a in ZIPF) + "  fragments"
    )
    for name, values in cases():
        label = name + (" (limits)" if "limits_on_unsplit_keys" in values else "")
        rate = f"{values['sampling_rate']:.0%}" if "sampling_rate" in values else "–"
        line = f"{label:18}{rate:>6}"
        fragments = 0.0
        for zipf in ZIPF:
            parts = [run(name, SMALL, seed, zipf=zipf, **values) for seed in range(SEEDS)]
            values = [fos(p.loads) for p in parts]
            line += f"{f'{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}':>16}"
            fragments = max(fragments, *(p.fragments_per_key for p in parts))
        print(f"{line}{fragments:>11.4f}", flush=True)


def speed() -> None:
    print(f"CPU ms of a point, drawing the job included, median of 9: {SMALL}, a = 1")
    for name in partitioners():
        times, all_times = [], []
        for seed in range(10):
            start = time.process_time()
            part = run(name, SMALL, seed)
            times.append(time.process_time() - start)
            part.per_split()
            all_times.append(time.process_time() - start)
        point, sent = np.median(times[1:]) * 1e3, np.median(all_times[1:]) * 1e3
        print(f"  {name:14}{point:8.1f}   with flows {sent:8.1f}", flush=True)


def large() -> None:
    print(f"CPU s of a point, drawing the job included: {LARGE}, s = 1 %")
    for name in partitioners():
        run(name, SMALL, 0)
        for zipf in ZIPF:
            start = time.process_time()
            part = run(name, LARGE, 0, zipf=zipf)
            point = time.process_time() - start
            part.per_split()
            sent = time.process_time() - start
            # The process's peak so far: of this partitioner or one before it.
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(
                f"  {name:14} a = {zipf}: {point:6.2f}   with flows {sent:6.2f}"
                f"   FoS {fos(part.loads):.4f}   peak {peak:.2f} GiB",
                flush=True,
            )


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["table", "speed", "large"]
    for part in chosen:
        {"table": table, "speed": speed, "large": large}[part]()
