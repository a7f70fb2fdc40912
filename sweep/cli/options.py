"""Options of a run: how to run it and where it goes. They never change a point's result."""

from __future__ import annotations

from core.parameters import Parameter
from sweep.grid.options import FILTER, METHOD, REPLICATES, SAMPLE, SEED, ZIP

__all__ = ["FILTER", "METHOD", "OPTIONS", "REPLICATES", "SAMPLE", "SEED", "ZIP"]

OPTIONS = (
    *(ZIP, FILTER, SAMPLE, METHOD),
    Parameter(
        "executor",
        str,
        "ray",
        "what runs the points: workers of Ray, or this process (local)",
        choices=("ray", "local"),
    ),
    Parameter(
        "output.dir", str, None, "directory or URI of the dataset; null: outputs/<date>_<time>"
    ),
    Parameter(
        "output.coflows",
        bool,
        False,
        "also store a table with one row for each coflow of each point",
    ),
    Parameter(
        "output.reducers",
        bool,
        False,
        "also store a table with one row for each bucket of each job of each point, and one with "
        "the sampling rates that auto compared",
    ),
    Parameter(
        "ray.address",
        str,
        None,
        "address of the Ray cluster to use; null: the sweep starts a local one",
    ),
    Parameter(
        "ray.num_cpus",
        int,
        None,
        "number of workers of the local Ray; null: one for each core",
        minimum=1,
    ),
    Parameter(
        "sweep.chunk",
        int,
        None,
        "points that go to a worker together; null: points of about a second",
        minimum=1,
    ),
    Parameter("sweep.dry_run", bool, False, "print the plan and run nothing"),
    Parameter(
        "sweep.timeout_s",
        float,
        None,
        "longest time that a point may take; then the sweep ends its worker (needs executor=ray)",
        unit="s",
        minimum=0,
        open_minimum=True,
    ),
    Parameter(
        "sweep.retries",
        int,
        3,
        "number of times to run a point again whose worker died, before it counts as failed",
        minimum=0,
    ),
    Parameter(
        "sweep.retry_failed", bool, False, "run the points again that failed earlier in output.dir"
    ),
    Parameter("sweep.fail_fast", bool, False, "start no more points after the first failure"),
)
"""Each takes one value a run."""
