"""Reports of a few figures, where the figures are not the subject."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sweep.report.figures import figures


@pytest.fixture
def draw_only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what limits reports to figures of some names; the full set takes seconds to draw."""

    def limit(*names: str) -> None:
        chosen = {name: figure for name, figure in figures().items() if name in names}
        assert len(chosen) == len(names)
        monkeypatch.setattr("sweep.report.build.figures", lambda: chosen)

    return limit


@pytest.fixture
def few_figures(draw_only: Callable[..., None]) -> None:
    """Limit reports to figures of grid rows, of coflows, of two runs and of shuffles."""
    draw_only("compare", "average_cct", "cdf", "fos_rate")
