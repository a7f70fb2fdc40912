"""What docs/analysis.md and docs/reproduction.md show works and is so."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sweep import load
from tests.report_data import ROOT, sweep

ANALYSIS = (ROOT / "docs/analysis.md").read_text()
REPRODUCTION = (ROOT / "docs/reproduction.md").read_text()
SNIPPETS = re.findall(r"<!-- python -->\n```python\n(.*?)```", ANALYSIS, re.DOTALL)
TRACE = ROOT.parent / "shared/data/traces/FB2010-1Hr-150-0.txt"
if not TRACE.exists():
    TRACE = Path(os.environ.get("FB_TRACE", TRACE))


def block(mark: str) -> list[str]:
    (found,) = re.findall(rf"<!-- {mark} -->\n```sh\n(.*?)```", ANALYSIS, re.DOTALL)
    return [line.split("#")[0].strip() for line in found.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("analysis")
    (command,) = block("sweep")
    sweep(place / "outputs" / "latest", *shlex.split(command)[3:])
    return place


def python(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_are_snippets_for_each_tool() -> None:
    for tool in ("pandas", "duckdb", "polars", "plot("):
        assert any(tool in snippet or tool == "pandas" for snippet in SNIPPETS)
    assert len(SNIPPETS) == 6


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_a_snippet_runs(folder: Path, number: int) -> None:
    said = python(folder, "-c", SNIPPETS[number])
    assert said.strip() or "savefig" in SNIPPETS[number]


def test_the_commands_of_the_report_run(folder: Path) -> None:
    for command in block("report"):
        python(folder, *shlex.split(command)[1:])
    assert (folder / "report/index.html").exists()
    assert (folder / "report/fluid/heat.svg").exists()


@pytest.mark.skipif(not TRACE.exists(), reason=f"needs the Facebook trace at {TRACE}")
def test_the_published_means(tmp_path: Path) -> None:
    """The table of docs/reproduction.md, row by row."""
    run = sweep(
        tmp_path / "run",
        "+experiment=asebf_headline",
        "workload=facebook",
        f"workload.path={TRACE}",
    )
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        from reproduction import headline  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    lines = headline(load(run))
    assert "\n".join(lines) in REPRODUCTION
    assert sum("reproduces" in line for line in lines) == 2
