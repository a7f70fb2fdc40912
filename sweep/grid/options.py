"""Options that shape a grid: seed, replicates, axes in step, a filter, a sample."""

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
