"""Settings of a run: how to run it and where it goes. They never change a point's result."""

from __future__ import annotations

from core.parameters import Parameter

SEED = Parameter("seed", int, 0, "seed that every random choice derives from", minimum=0)
REPLICATES = Parameter(
    "replicates", int, 1, "how often to draw a random workload anew", minimum=1, maximum=1e6
)

ZIP = Parameter(
    "sweep.zip",
    str,
    None,
    "keys whose values go in step, as in [queue.base,queue.count]; several: [[a,b],[c,d]]",
)
FILTER = Parameter(
    "sweep.filter",
    str,
    None,
    "keep only grid rows for which this holds, as in \"queue.base > 2 or scheduler == 'varys'\"",
)
SAMPLE = Parameter(
    "sweep.sample",
    int,
    None,
    "draw values of the axes so often, for every scheduler, engine and workload; then "
    "key=interval(a,b) is an axis, too, and tag(log,interval(a,b))",
    minimum=1,
    maximum=1e7,
)
METHOD = Parameter(
    "sweep.sample_method",
    str,
    "random",
    "rows at random, by a Latin hypercube, or by a scrambled Sobol sequence",
    choices=("random", "latin", "sobol"),
)

SETTINGS = (
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
