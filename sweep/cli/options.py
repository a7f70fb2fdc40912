"""Options of a run: how to run it and where it goes. They never change a point's result."""

from __future__ import annotations

from core.parameters import Parameter
from sweep.grid.options import FILTER, METHOD, REPLICATES, SAMPLE, SEED, ZIP

__all__ = ["FILTER", "METHOD", "OPTIONS", "REPLICATES", "SAMPLE", "SEED", "ZIP"]

OPTIONS = (
    *(ZIP, FILTER, SAMPLE, METHOD),
    Parameter(
        "executor", str, "ray", "where points run: Ray, or this process", choices=("ray", "local")
    ),
    Parameter("output.dir", str, None, "dataset directory or URI; empty: outputs/<date>_<time>"),
    Parameter("output.coflows", bool, False, "also store one row per point and coflow"),
    Parameter(
        "output.reducers",
        bool,
        False,
        "also store one row per point, job and bucket, and those of the rates that auto weighed",
    ),
    Parameter("ray.address", str, None, "Ray cluster to connect to; empty: a local one"),
    Parameter("ray.num_cpus", int, None, "workers of the local Ray; empty: one a core", minimum=1),
    Parameter(
        "sweep.chunk", int, None, "points per task; empty: about a second's worth", minimum=1
    ),
    Parameter("sweep.dry_run", bool, False, "print the plan and run nothing"),
    Parameter(
        "sweep.timeout_s",
        float,
        None,
        "longest time for a point; its worker is ended then (not with executor=local)",
        unit="s",
        minimum=0,
        open_minimum=True,
    ),
    Parameter(
        "sweep.retries",
        int,
        3,
        "how often a point whose worker died is tried again before it is blamed",
        minimum=0,
    ),
    Parameter("sweep.retry_failed", bool, False, "run points again that failed in output.dir"),
    Parameter("sweep.fail_fast", bool, False, "stop handing out points after the first failure"),
)
"""One value a run; `SEED` may be an axis and `REPLICATES` makes one."""
