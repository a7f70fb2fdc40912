"""Datasets for the tests of the report, made by running small sweeps."""

from __future__ import annotations

from pathlib import Path

from tests.commands import here

GRID = (
    *("scheduler=asebf,aalo,varys", "width=receiver,max", "queue.first_threshold_mb=5,20"),
    *("engine=fluid,coflowsim", "workload.coflows=20", "workload.ports=10", "replicates=3"),
    "output.coflows=true",
)
SHUFFLE = (
    *("workload=shuffle_jobs", "workload.records=2000", "workload.jobs=3", "shuffle.keys=200"),
    *("workload.maps=4", "workload.reducers=4", "shuffle.partitioner=hash,scid,lpt_split"),
    *("shuffle.sampling_rate=0.05,0.2", "shuffle.zipf=0.5,1.2", "scheduler=asebf", "replicates=2"),
    *("shuffle.map_s_per_record=0.001", "shuffle.reduce_s_per_record=0.001"),
    *("output.coflows=true", "output.reducers=true"),
)
AUTO = (
    *("workload=shuffle_jobs", "workload.records=2000", "workload.jobs=2", "shuffle.keys=200"),
    *("shuffle.partitioner=scid", "shuffle.sampling_rate=auto", "scheduler=asebf"),
    *("shuffle.map_s_per_record=0.001", "shuffle.reduce_s_per_record=0.001"),
    "output.reducers=true",
)
TOY = ("+experiment=worked_example", "output.coflows=true")

RUN_OF = {
    **dict.fromkeys(("gantt",), "toy"),
    **dict.fromkeys(("fos_rate", "fos_zipf", "reducer_loads", "sampling_gain"), "shuffle"),
    **dict.fromkeys(("rate_curve",), "auto"),
    **dict.fromkeys(("compare",), "both"),
}
"""The run that each figure is drawn from; the others are drawn from ``grid``."""


def sweep(directory: Path, *words: str) -> Path:
    """Run a sweep in this process; return where its dataset lies."""
    done = here(*words, "executor=local", f"output.dir={directory}")
    assert done.returncode == 0, done.stdout + done.stderr
    return directory
