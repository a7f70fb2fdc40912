"""Random traces and parameters for the tests of the fluid engine."""

from __future__ import annotations

import random
from typing import Any

from core.trace import Trace, from_flows

MB = 1e6
SCHEDULERS = ("fifo", "scf", "ncf", "lcf", "varys", "aalo", "asebf", "fair", "srpt")
GIGABIT = 1.25e8


def random_trace(r: random.Random) -> Trace:
    """Few ports and coflows with sizes and gaps that make ties and exact hits likely."""
    ports = r.randint(1, 6)
    gap = r.choice([0.004, 0.008])
    coflows = []
    for k in range(r.randint(1, 7)):
        arrival = r.choice([0, 0, 1, 2, 3, r.randint(0, 40)]) * gap
        if r.random() < 0.5:
            mappers = r.sample(range(ports), r.randint(1, ports))
            reducers = r.sample(range(ports), r.randint(1, ports))
            sizes = {j: r.randint(1, 12) * MB for j in reducers}
            flows = [(i, j, sizes[j]) for j in reducers for i in mappers]
        else:
            flows = [
                (r.randrange(ports), r.randrange(ports), r.choice([0, 1, 2, 3, 4, 5, 8, 13]) * MB)
                for _ in range(r.randint(1, 6))
            ]
        coflows.append((k + 1, arrival, flows))
    return from_flows("random", ports, coflows)


def random_values(r: random.Random) -> dict[str, Any]:
    """Return every parameter that any scheduler reads."""
    values = _random_values(r)
    if values["queue.between"] == "wfq" and r.random() < 0.5:
        weights = [str(r.choice([0.5, 1, 2, 3, 7])) for _ in range(values["queue.count"])]
        values["queue.weights"] = ",".join(weights)
    return values


def _random_values(r: random.Random) -> dict[str, Any]:
    return {
        "engine.trigger": r.choice(["flow", "flow", "coflow"]),
        "engine.interval_ms": r.choice([0.0, 0.0, 0.0, 5.0, 8.0, 3.0]),
        "engine.backfill": r.random() < 0.75,
        "engine.within": r.choice(["equal_split", "max_min"]),
        "fabric.local_is_free": r.random() < 0.2,
        "fabric.gbps": r.choice([1.0, 1.0, 2.0, 0.5]),
        "order": r.choice(["static", "remaining"]),
        "queue.first_threshold_mb": r.choice([1.0, 2.0, 5.0]),
        "queue.base": r.choice([2.0, 1.5, 10.0]),
        "queue.count": r.choice([1, 2, 3, 10]),
        "queue.threshold_mode": r.choice(["cumulative", "per_queue"]),
        "queue.between": r.choice(["strict", "wfq"]),
        "queue.weights": None,
        "width": r.choice(["receiver", "sender", "max", "min", "sum", "flows"]),
    }


def random_capacities(r: random.Random, ports: int) -> tuple[list[float], list[float]] | None:
    """Return capacities per port for both sides [B/s], or None for uniform ones."""
    if r.random() < 0.7:
        return None
    out, into = ([r.choice([1, 2, 3]) * GIGABIT for _ in range(ports)] for _ in range(2))
    return out, into
