"""The README and the pages that it points to first: their commands and snippets work."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from tests.commands import here, in_process
from tests.paths import ROOT

TEXT = (ROOT / "README.md").read_text("utf-8")
SWEEPS = (ROOT / "docs" / "sweeps.md").read_text("utf-8")
RESULTS = (ROOT / "docs" / "results.md").read_text("utf-8")
SNIPPETS = re.findall(r"<!-- python -->\n```python\n(.*?)```", TEXT + RESULTS, re.DOTALL)


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> Path:
    """A directory with a small dataset at ``outputs/latest``."""
    cwd = tmp_path_factory.mktemp("readme")
    words = "scheduler=asebf,aalo executor=local workload.coflows=30 workload.ports=12"
    done = here(*words.split(), cwd=cwd)
    assert done.returncode == 0, done.stderr
    return cwd


def test_the_table_shown_is_the_table_printed(tmp_path) -> None:
    """Of the first command, but for the executor, the path and the progress."""
    done = here("scheduler=asebf,aalo", "executor=local", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = {line.rstrip() for line in TEXT.splitlines()}
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    table = [line for line in printed if re.match(r"(scheduler |CCT|asebf|aalo)", line)]
    assert len(table) == 4
    assert [line for line in table if line not in shown] == []


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippets_run(number, swept) -> None:
    done = in_process("-c", SNIPPETS[number], cwd=swept)
    assert done.returncode == 0, done.stderr
    assert "aalo" in done.stdout
    assert "asebf" in done.stdout


def test_the_snippet_about_shuffles_works(tmp_path) -> None:
    text = (ROOT / "docs" / "shuffle.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"<!-- python -->\n```python\n(.*?)```", text, re.DOTALL)
    done = in_process("-c", f"{snippet}\nassert sent_records.sum() == 1000", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_there_are_snippets_for_three_readers() -> None:
    assert [re.findall(r"import (\w+)", snippet)[0] for snippet in SNIPPETS] == [
        *("load", "load", "duckdb", "polars")
    ]


def test_the_grid_file_shown_works(swept) -> None:
    (yaml,) = re.findall(r"```yaml\n(.*?)```", SWEEPS, re.DOTALL)
    folder = swept / "my_grids" / "experiment"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.yaml").write_text(yaml)
    words = ("--config-dir", "my_grids", "+experiment=mine", "sweep.dry_run=true")
    done = here(*words, cwd=swept)
    assert "6 grid rows: 6 unique points" in done.stdout, done.stderr


_ELSEWHERE = {
    *("--help", "--config-dir", "workload=trace", "workload=facebook"),
    "+experiment=asebf_headline",
}
"""What needs files that only an example has, or the network."""


def test_the_commands_shown_are_understood(swept) -> None:
    """Every example of a sweep plans, but for the one whose trace is an example's name."""
    commands = re.findall(r"^python -m sweep (.*)$", f"{TEXT}\n{SWEEPS}", re.MULTILINE)
    commands = list(dict.fromkeys(commands))
    planned = 0
    for command in commands:
        words = shlex.split(command.split("#")[0])
        if _ELSEWHERE & set(words):
            continue
        dry = [] if "sweep.dry_run=true" in words else ["sweep.dry_run=true"]
        done = here(*words, *dry, cwd=swept)
        assert done.returncode == 0, (command, done.stderr)
        planned += 1
    assert planned >= 12


def test_the_reference_of_columns_is_up_to_date() -> None:
    """Regenerate with ``python docs/make/columns.py``."""
    spec = importlib.util.spec_from_file_location("columns", ROOT / "docs" / "make" / "columns.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PATH.read_text() == module.text()
