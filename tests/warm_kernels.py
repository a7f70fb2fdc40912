"""Compile every kernel that is not on disk, so that the tests meet none that is not.

``python -m tests.warm_kernels``: half of them in a second process, so as to take half as long.
"""

from __future__ import annotations

import subprocess
import sys

HALVES = ("fluid", "coflowsim")
SHUFFLES = (
    *("workload=shuffle_jobs", "workload.records=200", "workload.jobs=2", "shuffle.keys=20"),
    *("workload.maps=2", "workload.reducers=2", "scheduler=aalo"),
)


def warm(half: str) -> None:
    """Compile the kernels of an engine; with the second one also those of the shuffles."""
    from core import registry
    from core.schedulers import schedulers

    registry.engines()[half].warm([r for r in schedulers().values() if half in r.rules])
    if half == HALVES[1]:
        from core.shuffle._base import partitioners
        from sweep.cli.main import register
        from sweep.cli.request import read_request
        from sweep.grid.plan import make_plan
        from sweep.grid.point import build_trace

        register()
        every = f"shuffle.partitioner={','.join(partitioners())}"
        for point in make_plan(read_request([*SHUFFLES, every])[0]).points.without(()):
            build_trace(point)


def main(words: list[str]) -> int:
    """Warm the halves that are named; both where none is."""
    if words:
        for half in words:
            warm(half)
        return 0
    from core.jit import CACHE

    done = CACHE / "tests-are-warm" if CACHE is not None else None
    if done is not None and done.exists():
        return 0
    other = subprocess.Popen([sys.executable, "-m", "tests.warm_kernels", HALVES[1]])
    warm(HALVES[0])
    code = other.wait()
    if code == 0 and done is not None:
        done.touch()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
