"""What docs/analysis.md and docs/reproduction.md show works and is so."""

from __future__ import annotations

import re
import shlex
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sweep import load
from sweep.console.closing_table import closing_table
from sweep.report.build import table_of
from sweep.report.drawing.files import draw, save
from sweep.report.sources import open_runs
from sweep.store.reader import read_results
from tests.commands import report_here
from tests.paths import FACEBOOK, ROOT
from tests.report_data import sweep

ANALYSIS = (ROOT / "docs/analysis.md").read_text()
REPRODUCTION = (ROOT / "docs/reproduction.md").read_text()
SNIPPETS = re.findall(r"<!-- python -->\n```python\n(.*?)```", ANALYSIS, re.DOTALL)


def block(mark: str) -> list[str]:
    (found,) = re.findall(rf"<!-- {mark} -->\n```sh\n(.*?)```", ANALYSIS, re.DOTALL)
    return [line.split("#")[0].strip() for line in found.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("analysis")
    (command,) = block("sweep")
    sweep(place / "outputs" / "latest", *shlex.split(command)[3:])
    return place


def results(folder: Path) -> list[dict[str, Any]]:
    """Return the points under the fluid engine, in the order of the grid."""
    order = list(dict.fromkeys(load(folder / "outputs/latest")["point_id"]))
    rows = [row for rows in read_results(folder / "outputs/latest") for row in rows]
    rows = [row for row in rows if row["engine"] == "fluid"]
    return sorted(rows, key=lambda row: order.index(row["point_id"]))


def closing(folder: Path) -> dict[str, list[str]]:
    """Return the columns of the table that closes the sweep, under the fluid engine."""
    return {c.header: list(c.cells) for c in closing_table(results(folder)).columns}


def ms(seconds: float) -> str:
    return f"{1000 * seconds:,.2f}".replace(",", " ")


@pytest.fixture
def left(
    request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """Return the names that a snippet leaves behind."""
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(SNIPPETS[request.param], names)
    return names


def of(number: int) -> pytest.MarkDecorator:
    """Mark what a snippet has to give."""
    TRIED.add(number)
    return pytest.mark.parametrize("left", [number], indirect=True)


TRIED: set[int] = set()


def test_every_snippet_has_its_test() -> None:
    assert set(range(len(SNIPPETS))) == TRIED


@of(0)
def test_figures_from_a_notebook(left: dict[str, Any], folder: Path) -> None:
    svg = (folder / "heat.svg").read_text()
    assert "Sensitivity over two axes" in svg
    heat = table_of("heat", open_runs([folder / "outputs/latest"]).where({"engine": "fluid"}))
    assert all(f"{value:.4g}" in svg for value in heat.table["mean_cct_s"])


@of(1)
def test_means_and_improvements_are_those_of_the_closing_table(
    left: dict[str, Any], folder: Path
) -> None:
    table = closing(folder)
    assert [ms(v) for v in left["mean"]] == [cell.strip() for cell in table["mean"]]
    assert table["scheduler"] == [scheduler for scheduler, _ in left["mean"].index]
    said = ["–", *(f"{100 * v:.1f} %".replace("-", "−") for v in left["improvement"].iloc[1:])]
    assert said == [cell.split(" over")[0].strip() for cell in table["improvement"]]


@of(2)
def test_differences_replicate_by_replicate(left: dict[str, Any], folder: Path) -> None:
    mean: dict[tuple[str, int], float] = {}
    for row in results(folder):
        key = row["scheduler"], row["replicate"]
        mean[key] = min(mean.get(key, np.inf), row["mean_cct_s"])
    ratios = [mean["asebf", k] / mean["aalo", k] - 1 for k in range(3)]
    assert left["change"]["mean"] == pytest.approx(statistics.mean(ratios))
    assert left["change"]["std"] == pytest.approx(statistics.stdev(ratios))


@of(3)
def test_ratios_coflow_by_coflow(left: dict[str, Any], folder: Path) -> None:
    data = open_runs([folder / "outputs/latest"])
    ids = {r["scheduler"]: r["point_id"] for r in results(folder) if r["replicate"] == 0}
    sides = [
        data.detail("coflows", ["coflow_id", "cct_s"], [ids[name]]).sort_values("coflow_id")
        for name in ("varys", "aalo")
    ]
    ratio = sides[0]["cct_s"].to_numpy() / sides[1]["cct_s"].to_numpy()
    assert left["ratio"]["count"] == 60
    assert left["ratio"]["mean"] == pytest.approx(ratio.mean())
    assert left["ratio"]["max"] == pytest.approx(ratio.max())


@of(4)
def test_means_by_sql_are_those_of_the_closing_table(left: dict[str, Any], folder: Path) -> None:
    table = closing(folder)
    mean = dict(
        zip(zip(table["scheduler"], table["width"], strict=True), table["mean"], strict=True)
    )
    gap = dict(zip(table["scheduler"], table["gap"], strict=True))
    found = left["means"]
    assert len(found) == 6  # a line a row of the grid: Aalo and Varys stand at both widths
    assert found["mean_s"].is_monotonic_increasing
    for row in found.itertuples():
        width = row.width if row.scheduler == "asebf" else "–"
        assert ms(row.mean_s) == mean[row.scheduler, width].strip()
        if row.scheduler != "asebf":
            assert f"{100 * row.gap:.0f} %" == gap[row.scheduler].strip()


@of(5)
def test_percentiles_by_sql(left: dict[str, Any], folder: Path) -> None:
    coflows = load(folder / "outputs/latest", coflows=True).query("engine == 'fluid'")
    found = left["bins"]
    assert found["coflows"].sum() == len(coflows) == (2 + 1 + 1) * 3 * 60
    for row in found.itertuples():
        own = coflows[(coflows["scheduler"] == row.scheduler) & (coflows["bin"] == row.bin)]
        assert row.coflows == len(own)
        assert row.p95 == pytest.approx(np.quantile(own["slowdown"], 0.95))


@of(6)
def test_engines_by_polars(left: dict[str, Any], folder: Path) -> None:
    found = {row["scheduler"]: row for row in left["both"].to_dicts()}
    assert set(found) == {"aalo", "asebf", "varys"}
    for scheduler, row in found.items():
        own = [r["mean_cct_s"] for r in results(folder) if r["scheduler"] == scheduler]
        assert row["fluid"] == pytest.approx(statistics.mean(own))
        assert row["difference"] == pytest.approx(row["fluid"] / row["coflowsim"] - 1)
    table = closing(folder)
    assert ms(found["varys"]["fluid"]) == table["mean"][table["scheduler"].index("varys")].strip()


def test_the_commands_of_the_report_run(folder: Path) -> None:
    for command in block("report"):
        words = shlex.split(command)
        assert words[:3] == ["python", "-m", "sweep.report"]
        done = report_here(*words[3:], cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "outputs/latest/report/index.html").exists()
    assert (folder / "report/fluid/heat.svg").exists()


@pytest.mark.skipif(not FACEBOOK.exists(), reason=f"needs the Facebook trace at {FACEBOOK}")
def test_the_published_means(tmp_path: Path) -> None:
    """The table of docs/reproduction.md, row by row."""
    run = sweep(
        tmp_path / "run",
        "+experiment=asebf_headline",
        "workload=facebook",
        f"workload.path={FACEBOOK}",
    )
    sys.path.insert(0, str(ROOT / "docs" / "make"))
    try:
        from reproduction import headline  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    lines = headline(load(run))
    assert "\n".join(lines) in REPRODUCTION
    assert sum("reproduces" in line for line in lines) == 2


@pytest.mark.slow
@pytest.mark.skipif(not FACEBOOK.exists(), reason=f"needs the Facebook trace at {FACEBOOK}")
def test_the_picture_of_the_readme(tmp_path: Path) -> None:
    """It has the numbers that its two commands give, and is a figure of a report."""
    readme = (ROOT / "README.md").read_text()
    (block,) = re.findall(r"<!-- picture -->\n```sh\n(.*?)```", readme, re.DOTALL)
    sweeping, reporting = block.splitlines()
    words = [w for w in shlex.split(sweeping)[3:] if not w.startswith("output.dir")]
    run = sweep(tmp_path / "run", *words, f"workload.path={FACEBOOK}")
    assert shlex.split(reporting)[1:3] == ["-m", "sweep.report"]
    drawn = table_of("average_cct", open_runs([run]))
    shown = (ROOT / "docs/average_cct.svg").read_text()
    assert "docs/average_cct.svg" in readme
    assert len(shown) < 150_000
    save(draw(drawn.title, drawn.table, drawn.chart), tmp_path / "now.svg")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", (tmp_path / "now.svg").read_text())
    assert len(texts) > 20
    assert re.findall(r"<text[^>]*>([^<]*)</text>", shown) == texts
    bars = [p for p in drawn.table["improvement_text"] if "%" in p]
    assert len(bars) == 6
    assert all(text in "".join(texts) for text in bars)
