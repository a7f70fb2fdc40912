"""Compile every kernel that is not on disk, so that the tests meet none that is not.

``python -m tests.warm_kernels``: half of them in a second process, so as to take half as long.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HALVES = ("fluid", "coflowsim")
SHUFFLES = (
    *("workload=shuffle_jobs", "workload.records=200", "workload.jobs=2", "shuffle.keys=20"),
    *("workload.maps=2", "workload.reducers=2", "scheduler=fair", "engine=coflowsim"),
)


def warm(half: str) -> None:
    """Run an engine's schedulers on three coflows; with the second engine every partitioner too."""
    from core.schedulers import schedulers
    from core.shuffle.partitioners import partitioners

    able = [name for name, record in schedulers().items() if half in record.rules]
    _run("workload=toy", f"engine={half}", f"scheduler={','.join(able)}")
    if half == HALVES[1]:
        _run(*SHUFFLES, f"shuffle.partitioner={','.join(partitioners())}")


def _run(*words: str) -> None:
    from tests.commands import here

    with tempfile.TemporaryDirectory() as folder:
        done = here(*words, "executor=local", "output.dir=out", cwd=Path(folder))
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)


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
