"""A scheduler, or a partitioner, has one colour in all figures of a report."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sweep.report.build import table_of
from sweep.report.data import ReportData
from sweep.report.drawing.chart import PALETTE, Chart
from sweep.report.drawing.colours import palette_index
from sweep.report.drawing.files import colours_of
from sweep.report.sources import in_memory, open_runs


def schedulers(*names: str) -> ReportData:
    frame = pd.DataFrame({"scheduler": names, "engine": "fluid", "workload": "toy"})
    frame = frame.assign(point_id=[f"p{k}" for k in range(len(names))], status="ok")
    return in_memory(frame)


def chart(colour: str, colour_axis: str = "") -> Chart:
    return Chart("steps", x=(), y=(), colour=colour, colour_axis=colour_axis)


def test_a_figure_that_has_them_in_another_order_has_the_same_colours() -> None:
    data = schedulers("aalo", "varys", "asebf")
    table = pd.DataFrame({"label": ["varys width=max", "asebf", "varys width=min"]})
    found = palette_index(data, table, chart("label"))
    assert found["asebf"] == 2
    assert found["varys width=max"] == 1
    assert found["varys width=min"] == 1 + len(PALETTE)  # the same colour, dashed
    won = pd.DataFrame({"winner": ["asebf", "aalo = varys"]})
    found = palette_index(data, won, chart("winner", colour_axis="scheduler"))
    assert found["asebf"] == 2
    assert found["aalo = varys"] == 3  # nobody's


def test_many_settings_of_one_scheduler_leave_the_others_their_colours() -> None:
    data = schedulers("aalo", "varys")
    table = pd.DataFrame({"label": [f"aalo q={k}" for k in range(12)] + ["varys"]})
    found = palette_index(data, table, chart("label"))
    places = [found[v] for v in table["label"]]
    assert len({*places}) == 13
    assert [p % len(PALETTE) for p in places].count(1) == 1
    assert found["varys"] == 1


@pytest.mark.parametrize(
    ("run", "names"),
    [
        ("grid", ("average_cct", "cdf", "gap", "pairwise", "wins", "engines", "bottleneck")),
        ("shuffle", ("fos_rate", "fos_zipf", "reducer_loads", "sampling_gain", "cdf")),
    ],
)
def test_one_name_has_one_colour_on_a_page(
    run: str, names: tuple[str, ...], runs: dict[str, Path]
) -> None:
    data = open_runs([runs[run]])
    word = {"grid": ["asebf", "aalo", "varys"], "shuffle": ["hash", "scid", "lpt_split"]}[run]
    for name in names:
        drawn = table_of(name, data)
        for value, (colour, _) in colours_of(drawn.table, drawn.chart).items():
            (k, *more) = [k for k, n in enumerate(word) if n in value.replace("=", " ").split()]
            assert more or colour == PALETTE[k], (name, value)


def test_rates_at_which_a_partitioner_has_not_run_are_marked(runs: dict[str, Path]) -> None:
    data = open_runs([runs["shuffle"]])
    for name in ("fos_rate", "fos_zipf"):
        table = table_of(name, data).table
        assert set(table.loc[table["shuffle_partitioner"] == "hash", "rate_read"]) == {"no"}
        assert set(table.loc[table["shuffle_partitioner"] != "hash", "rate_read"]) == {"yes"}
