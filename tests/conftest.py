"""Datasets and reports that several files of tests look at."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from tests.report_data import AUTO, GRID, RUN_OF, SHUFFLE, TOY, sweep


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return datasets of which each figure finds one that it can be drawn from."""
    folder = tmp_path_factory.mktemp("runs")
    words = {"grid": GRID, "shuffle": SHUFFLE, "auto": AUTO, "toy": TOY}
    return {name: sweep(folder / name, *w) for name, w in words.items()}


@pytest.fixture(scope="session")
def reports(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the directories of their reports, in which each figure is drawn once (`RUN_OF`)."""
    from sweep.report.__main__ import main
    from sweep.report.figures import figures

    folder = tmp_path_factory.mktemp("reports")
    for name, run in runs.items():
        chosen = {n: f for n, f in figures().items() if RUN_OF.get(n, "grid") == name}
        with patch("sweep.report.build.figures", lambda chosen=chosen: chosen):
            assert main([str(run), "--out", str(folder / name)]) == 0
    return {name: folder / name for name in runs}
