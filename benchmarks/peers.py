"""Overhead per point against other ways to run a sweep: `python benchmarks/peers.py [N …]`.

Every row is measured in this one run, each as a command of its own: its start is the time of a
sweep of one point, and what a point costs is (time of N points − start) / (N − 1), with a task
that does nothing; both are medians of three runs, but for N points of the slow paths. coflow-sweep
runs the toy workload, whose simulations take real time; that is measured too and subtracted. Paths
that take long a point run up to `SLOW` points, or `SLOWEST`; those whose packages are missing are
left out with a note (`pip install -e '.[benchmarks]'`).
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SLOWEST = 100
SLOW = 1000
"""Most points of the paths that take a tenth of a second for each: more would take 20 minutes."""

HYDRA = """
import hydra

@hydra.main(version_base=None, config_path=None)
def main(config):
    pass

main()
"""

RAY = """
import sys, ray
ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
n, size = int(sys.argv[1]), int(sys.argv[2])

@ray.remote
def task(points):
    return [{"point": p} for p in points]

flying, left, done = [], list(range(n)), 0
while left or flying:
    while left and len(flying) < max(8, 512 // size):
        flying.append(task.remote(left[:size]))
        left = left[size:]
    ready, flying = ray.wait(flying)
    done += len(ray.get(ready[0]))
assert done == n
"""

TUNE = """
import sys, logging, ray
from ray import tune

class Nothing(tune.Trainable):
    def setup(self, config):
        pass
    def step(self):
        return {"done": True}
    def reset_config(self, config):
        return True

ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
tuner = tune.Tuner(
    Nothing,
    param_space={"x": tune.grid_search(list(range(int(sys.argv[1]))))},
    tune_config=tune.TuneConfig(reuse_actors=True, max_concurrent_trials=2),
    run_config=tune.RunConfig(verbose=0, storage_path=sys.argv[2]),
)
tuner.fit()
"""


def ours(*words: str) -> Callable[[int, str], list[str]]:
    def command(n: int, folder: str) -> list[str]:
        first = max(1, n // 100)
        return [
            *(sys.executable, "-m", "sweep", "scheduler=aalo", "workload=toy"),
            f"queue.base=range(2,{2 + min(n, 100)})",
            f"queue.first_threshold_mb=range(1,{1 + first})",
            *(f"output.dir={folder}/out", *words),
        ]

    return command


def script(text: str, *words: str) -> Callable[[int, str], list[str]]:
    def command(n: int, folder: str) -> list[str]:
        file = Path(folder) / "script.py"
        file.write_text(text)
        return [sys.executable, str(file), str(n), *(m.format(folder=folder) for m in words)]

    return command


def hydra(*words: str) -> Callable[[int, str], list[str]]:
    def command(n: int, folder: str) -> list[str]:
        file = Path(folder) / "script.py"
        file.write_text(HYDRA)
        return [sys.executable, str(file), "-m", f"+x=range({n})", *words]

    return command


PATHS: dict[str, tuple[Callable[[int, str], list[str]], int, str]] = {
    "coflow-sweep on Ray": (ours("ray.num_cpus=2"), 10**6, "ray"),
    "coflow-sweep executor=local": (ours("executor=local"), 10**6, "numba"),
    "plain Ray, 64 points a task": (script(RAY, "64"), 10**6, "ray"),
    "plain Ray, a task a point": (script(RAY, "1"), 10**6, "ray"),
    "Ray Tune, reuse_actors": (script(TUNE, "{folder}"), SLOWEST, "tensorboardX"),
    "Hydra basic multirun": (hydra(), SLOW, "hydra"),
    "Hydra + joblib": (
        hydra("hydra/launcher=joblib", "hydra.launcher.n_jobs=2"),
        SLOW,
        "hydra_plugins.hydra_joblib_launcher",
    ),
    "Hydra + ray launcher": (
        hydra("hydra/launcher=ray", "+hydra.launcher.ray.init.num_cpus=2"),
        SLOW,
        "hydra_plugins.hydra_ray_launcher",
    ),
}


def seconds(path: str, n: int) -> tuple[float, float]:
    """Return how long a sweep takes, and how long its simulations took of that [s]."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        done = subprocess.run(
            PATHS[path][0](n, folder),
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path[1:]])},
            capture_output=True,
            text=True,
            check=False,
        )
        took = time.perf_counter() - began
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else "failed")
        if not path.startswith("coflow-sweep"):
            return took, 0.0
        code = (
            f"from sweep import load; t = load({folder + '/out'!r}); print(len(t), t.wall_s.sum())"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        rows, simulated = done.stdout.split()
        assert int(rows) == n
        return took, float(simulated) / (2 if "Ray" in path else 1)


def typical(path: str, n: int, times: int) -> tuple[float, float]:
    """Return `seconds` of some runs: the one whose time beside the simulations is the median."""
    runs = sorted((seconds(path, n) for _ in range(times)), key=lambda run: run[0] - run[1])
    return runs[times // 2]


def start_up() -> None:
    """Print where the time to the first result goes."""
    code = """
import json, time, threading
t = [time.perf_counter()]
def lap(name):
    t.append(time.perf_counter()); laps[name] = t[-1] - t[-2]
laps = {}
import sweep.cli.main, sweep.execution.driver; lap("imports")
from sweep.cli.main import read_request, register
from sweep.grid.plan import make_plan
from sweep.grid.point import build_trace
register(); grid, _ = read_request(["scheduler=asebf,aalo"]); lap("Hydra's composition")
points = make_plan(grid).points.without(()); lap("plan")
build_trace(points[0]); lap("workload")
from sweep.execution import ray_executor
kinds = [(engine, scheduler) for scheduler, engine, _ in points.kinds()]
ray_executor.warm(kinds); lap("kernels from the cache")
ray_executor.RayExecutor(num_cpus=2).__exit__(); lap("ray.init and shutdown, alone")
ray_executor.RayExecutor(num_cpus=2, meanwhile=lambda: ray_executor.warm(kinds)).__exit__()
lap("ray.init and shutdown, with the kernels beside it")
print(json.dumps(laps))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    print("\nstart-up                                             s")
    for name, took in json.loads(done.stdout.splitlines()[-1]).items():
        print(f"{name:<50} {took:5.2f}")


def main() -> None:
    sizes = [int(word) for word in sys.argv[1:]] or [100, 1000, 10_000]
    print(f"{'path':<30} {'start s':>8}" + "".join(f" {f'ms/point, N={n}':>22}" for n in sizes))
    for path, (_, most, needs) in PATHS.items():
        try:
            installed = importlib.util.find_spec(needs) is not None
        except ModuleNotFoundError:
            installed = False
        if not installed:
            print(f"{path:<30} left out: {needs} is not installed")
            continue
        try:
            start, simulated_alone = typical(path, 1, 3)
            cells = []
            for n in sizes:
                if n > most:
                    cells.append("–")
                    continue
                took, simulated = typical(path, n, 3 if most > SLOW else 1)
                cells.append(
                    f"{1000 * (took - start - (simulated - simulated_alone)) / (n - 1):.3f}"
                )
        except RuntimeError as error:
            print(f"{path:<30} failed: {error}")
            continue
        print(f"{path:<30} {start:8.1f}" + "".join(f" {cell:>22}" for cell in cells), flush=True)
    start_up()


if __name__ == "__main__":
    main()
