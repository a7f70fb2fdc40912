"""Datasets and reports that several files of tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report_data import AUTO, GRID, SHUFFLE, TOY, sweep


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return datasets of which each figure finds one that it can be drawn from."""
    place = tmp_path_factory.mktemp("runs")
    words = {"grid": GRID, "shuffle": SHUFFLE, "auto": AUTO, "toy": TOY}
    return {name: sweep(place / name, *w) for name, w in words.items()}


@pytest.fixture(scope="session")
def reports(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the directories of their reports."""
    from sweep.report.__main__ import main

    place = tmp_path_factory.mktemp("reports")
    for name, run in runs.items():
        assert main([str(run), "--out", str(place / name)]) == 0
    return {name: place / name for name in runs}
