"""Profiles, marks and kernels of the whole suite; datasets that several files look at."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from filelock import FileLock

from tests import marks, profiles
from tests.paths import ROOT
from tests.ray_session import _ends_shared_ray, shared_ray  # noqa: F401
from tests.report_data import AUTO, GRID, RUN_OF, SHUFFLE, TOY, sweep

profiles.register()


def pytest_configure(config: pytest.Config) -> None:
    for name, text in marks.MARKS.items():
        config.addinivalue_line("markers", f"{name}: {text}")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run what is named, a file or with -k, in this process: workers take seconds to start."""
    named = any("::" in word or word.endswith(".py") for word in config.args)
    return 0 if named or config.option.keyword or config.option.collectonly else None


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels before several workers want them at once."""
    if session.config.option.tx and "NUMBA_DISABLE_JIT" not in os.environ:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "tests.warm_kernels"]
        subprocess.run(command, cwd=ROOT, env=environment, check=False)  # the tests will tell


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow_here = pytest.mark.skip(reason="takes minutes where nothing is compiled")
    for item in items:
        marks.mark(item)
        if item.get_closest_marker("compiled") and "NUMBA_DISABLE_JIT" in os.environ:
            item.add_marker(slow_here)


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a directory that the first worker to want it fills, for all of them to read."""
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    path = shared / name
    with FileLock(shared / f"{name}.lock"):
        if not (shared / f"{name}.made").exists():
            shutil.rmtree(path, ignore_errors=True)  # of a worker that failed
            path.mkdir()
            make(path)
            (shared / f"{name}.made").touch()
    return path


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return datasets of which each figure finds one that it can be drawn from."""
    words = {"grid": GRID, "shuffle": SHUFFLE, "auto": AUTO, "toy": TOY}

    def make(path: Path) -> None:
        for name, w in words.items():
            sweep(path / name, *w)

    path = once(tmp_path_factory, "runs", make)
    return {name: path / name for name in words}


@pytest.fixture(scope="session")
def reports(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the directories of their reports, in which each figure is drawn once (`RUN_OF`)."""
    from sweep.report.__main__ import main
    from sweep.report.figures import figures

    def make(path: Path) -> None:
        for name, run in runs.items():
            chosen = {n: f for n, f in figures().items() if RUN_OF.get(n, "grid") == name}
            with patch("sweep.report.build.figures", lambda chosen=chosen: chosen):
                assert main([str(run), "--out", str(path / name)]) == 0

    path = once(tmp_path_factory, "reports", make)
    return {name: path / name for name in runs}
