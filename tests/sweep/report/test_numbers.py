"""What is drawn is what the CSV says, figure by figure, and every axis has its unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure as Drawing

from sweep.report.__main__ import main
from sweep.report.build import table_of
from sweep.report.drawing.chart import Chart
from sweep.report.drawing.files import colours_of, draw, panels_of
from sweep.report.figures import figures
from sweep.report.sources import open_runs
from tests.report_data import RUN_OF

NO_UNIT = {
    "bucket, the fullest first",
    "engine",
    "exponent a of the keys (0: all alike)",
    "FoS of records",
    "records / mean",
    "sampling rate",
    "share of records sampled",
    "width: ports on this side",
}
"""Ranks, ratios and names."""

Pairs = list[tuple[float, float]]


@pytest.fixture(scope="module")
def both(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("both")
    only = {"compare": figures()["compare"]}
    with patch("sweep.report.build.figures", lambda: only):
        assert main([str(runs["toy"]), str(runs["toy"]), "--out", str(place)]) == 0
    return place


def bars(figure: Drawing) -> Pairs:
    found = [p for axes in figure.axes for p in axes.patches]
    ends = [(float(p.get_x()), float(p.get_x() + p.get_width())) for p in found]
    return [(min(pair), max(pair)) for pair in ends]


def lines(figure: Drawing) -> Pairs:
    found = [c for axes in figure.axes for c in axes.containers]
    drawn = [c[0] for c in found if isinstance(c, ErrorbarContainer)]
    return [xy for line in drawn for xy in zip(*line.get_data(), strict=True)]


def steps(figure: Drawing) -> Pairs:
    drawn = [line for axes in figure.axes for line in axes.lines]
    return [xy for line in drawn for xy in zip(*line.get_data(), strict=True)]


def points(figure: Drawing) -> Pairs:
    drawn = [c for axes in figure.axes for c in axes.collections]
    return [tuple(xy) for c in drawn for xy in c.get_offsets()]


def cells(figure: Drawing) -> Pairs:
    """Return a number and its row for each cell."""
    image = np.ma.filled(figure.axes[0].images[0].get_array(), np.nan)
    return [(float(v), float(r)) for (r, _), v in np.ndenumerate(image) if not np.isnan(v)]


DRAWN: Mapping[str, Callable[[Drawing], Pairs]] = {
    "bars": bars,
    "spans": bars,
    "lines": lines,
    "steps": steps,
    "points": points,
    "heat": cells,
}


def wanted(csv: pd.DataFrame, chart: Chart) -> Pairs:
    """Return what the CSV's rows have to look like."""
    x, y = csv[chart.x[0].column], csv[chart.y[0].column]
    if chart.mark == "bars":
        return [(min(v, 0.0), max(v, 0.0)) for v in x]
    if chart.mark == "spans":
        return list(zip(x, csv[chart.end], strict=True))
    if chart.mark == "heat":
        z = csv[chart.z[0].column]
        if chart.colour:
            names = list(dict.fromkeys(csv[chart.colour].astype(str)))
            z = csv[chart.colour].astype(str).map(names.index).astype(float)
        rows = list(dict.fromkeys(y))
        return [(v, float(rows.index(name))) for v, name in zip(z, y, strict=True)]
    return list(zip(x, y, strict=True))


@pytest.mark.parametrize("name", figures())
def test_the_numbers_drawn_are_those_of_the_csv(
    name: str, runs: dict[str, Path], reports: dict[str, Path], both: Path
) -> None:
    run = RUN_OF.get(name, "grid")
    data = open_runs([runs["toy"]] * 2 if run == "both" else [runs[run]])
    csv = pd.read_csv((both if run == "both" else reports[run]) / f"{name}.csv")
    drawn = table_of(name, data)
    assert len(csv) == len(drawn.table) > 0
    parts = [part.index for _, part in panels_of(drawn.table, drawn.chart)]
    shown = csv.loc[[row for part in parts for row in part]]
    figure = draw(drawn.title, drawn.table, drawn.chart)
    found, asked = DRAWN[drawn.chart.mark](figure), wanted(shown, drawn.chart)
    np.testing.assert_allclose(sorted(found), sorted(asked), rtol=1e-12, atol=1e-15)
    x = drawn.chart.x[0]
    if x.marker in csv:
        ends = [v for a in figure.axes for n in a.lines for v in n.get_xdata() if n.get_ms() == 16]
        ends = [v for v in ends if not np.isnan(v)]
        np.testing.assert_array_equal(sorted(ends), sorted(shown[x.marker].dropna()))
    whiskers(figure, shown, drawn.chart)
    labelled(name, figure, drawn.chart)
    assert set(colours_of(drawn.table, drawn.chart)) == set(
        csv[drawn.chart.colour].astype(str) if drawn.chart.colour else ()
    )


def whiskers(figure: Drawing, csv: pd.DataFrame, chart: Chart) -> None:
    """Compare half the lengths of whiskers with the CSV's."""
    axis = chart.x[0] if chart.mark == "bars" else chart.y[0]
    if axis.error not in csv:
        return
    found = [c for a in figure.axes for c in a.containers if isinstance(c, ErrorbarContainer)]
    segments = [s for c in found for s in c[2][0].get_segments()]
    side = 0 if chart.mark == "bars" else 1
    half = sorted(abs(s[1][side] - s[0][side]) / 2 for s in segments)
    np.testing.assert_allclose(half, sorted(csv[axis.error].fillna(0)), rtol=1e-9, atol=1e-12)
    assert max(half) > 0


def labelled(name: str, figure: Drawing, chart: Chart) -> None:
    """Check that axes of numbers have a unit, and names a key or a word."""
    first = figure.axes[0]
    sides = [first.get_xlabel()]
    if chart.mark == "heat" and not chart.colour:
        sides = [figure.axes[-1].get_ylabel()]
    elif chart.mark not in ("bars", "spans"):
        sides.append(first.get_ylabel())
    for text in sides:
        assert text
        assert re.search(r"\[.+\]", text) or text in NO_UNIT, (name, text)


def test_a_csv_that_is_off_is_noticed(runs: dict[str, Path]) -> None:
    """The comparison itself can fail."""
    drawn = table_of("average_cct", open_runs([runs["toy"]]))
    figure = draw("", drawn.table, drawn.chart)
    other: Any = drawn.table.assign(mean_cct_s=drawn.table["mean_cct_s"] * 1.001)
    assert sorted(bars(figure)) == sorted(wanted(drawn.table, drawn.chart))
    assert sorted(bars(figure)) != sorted(wanted(other, drawn.chart))
