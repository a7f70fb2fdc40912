"""Options that shape a grid: seed, replicates, axes in step, a filter, a sample."""

from __future__ import annotations

from core.parameters import Parameter

SEED = Parameter("seed", int, 0, "seed that every random choice derives from", minimum=0)
REPLICATES = Parameter(
    "replicates",
    int,
    1,
    "number of draws of a random workload; each draw is a grid row",
    minimum=1,
    maximum=1e6,
)

ZIP = Parameter(
    "sweep.zip",
    str,
    None,
    "keys whose values are taken in step, not combined, as in [queue.base,queue.count]; for "
    "several groups [[a,b],[c,d]]",
)
FILTER = Parameter(
    "sweep.filter",
    str,
    None,
    "keep only the grid rows that meet this condition, as in "
    "\"queue.base > 2 or scheduler == 'varys'\"",
)
SAMPLE = Parameter(
    "sweep.sample",
    int,
    None,
    "number of random samples of the axes, each run for every scheduler, engine and workload; "
    "allows key=interval(a,b) and key=tag(log,interval(a,b))",
    minimum=1,
    maximum=1e7,
)
METHOD = Parameter(
    "sweep.sample_method",
    str,
    "random",
    "how samples are drawn: at random, by a Latin hypercube, or by a scrambled Sobol sequence",
    choices=("random", "latin", "sobol"),
)
