"""What stands at the end of a sweep of more points than a table is made of."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys

import pytest
from rich.console import Console

from sweep.cli.main import register
from sweep.cli.request import read_request
from sweep.console import closing_table as closing
from sweep.console import final_summary
from sweep.execution.driver import run_sweep
from sweep.grid.plan import Plan, make_plan
from sweep.store import DatasetWriter, load, read_manifest
from tests.commands import here
from tests.paths import ROOT

WORDS = (
    *("scheduler=aalo,asebf,varys", "queue.base=2,4,8", "queue.first_threshold_mb=1,5,20"),
    *("workload.coflows=8", "workload.ports=4", "executor=local"),
)


def ran(directory, *more: str) -> tuple[Plan, str]:
    """Run a grid and return its plan and its directory."""
    register()
    grid, settings = read_request([*WORDS, *more, f"output.dir={directory}"])
    assert run_sweep(grid, settings, ["sweep"]) == 0
    return make_plan(grid), str(directory)


def printed(plan: Plan, directory: str) -> list[str]:
    console = Console(file=io.StringIO(), width=400)
    final_summary.print_summary(plan, directory, ["sweep"], console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def numbers(lines: list[str]) -> list[str]:
    return [re.sub(r"\s+", " ", x).strip() for x in lines if re.match("aalo|asebf|varys", x)]


@pytest.mark.parametrize("repeats", [["replicates=3"], ["seed=1,2,3"], ["workload.seed=4,5"]])
def test_best_and_worst_are_the_lines_of_the_whole_table(repeats, tmp_path, monkeypatch) -> None:
    """One line of varys and nine each of the others, averaged over what is random."""
    plan, directory = ran(tmp_path / "d", *repeats)
    whole = printed(plan, directory)
    few = limited(plan, directory, monkeypatch)
    assert whole[1] == few[1]  # what the improvements are over
    head = re.split(r"\s{2,}", next(line for line in whole if line.startswith("scheduler")))

    def mean(line: str) -> float:
        return float(re.split(r"\s{2,}", line)[head.index("mean")].replace(" ", ""))

    lines = [line for line in whole if re.match("aalo|asebf|varys", line)]
    ranked = sorted(lines, key=mean)
    expected = [lines[0], *(x for x in ranked[:3] + ranked[3:][-2:] if x is not lines[0])]
    shown = numbers(few)
    assert len(shown) == len(set(shown)) == len(expected)
    assert [mean(x) for x in few if re.match("aalo|asebf|varys", x)] == list(map(mean, expected))
    assert set(shown) <= set(numbers(whole))
    said = next(line for line in few if "left out" in line)
    assert said.startswith(f"{19 - len(expected)} of 19 lines left out: these are the first, the 3")


def limited(plan: Plan, directory: str, monkeypatch) -> list[str]:
    """Return what is printed with room for ten points, three best and two worst lines."""
    for module in (final_summary, closing):
        monkeypatch.setattr(module, "BEST", 3)
        monkeypatch.setattr(module, "WORST", 2)
    monkeypatch.setattr(final_summary, "MOST_ROWS", 10)
    monkeypatch.setattr(final_summary, "MOST_LINES", 5)
    return printed(plan, directory)


def test_lines_are_compared_with_the_first_under_the_same_circumstances(
    tmp_path, monkeypatch
) -> None:
    plan, directory = ran(tmp_path / "d", "fabric.gbps=1,2,4")
    whole, few = printed(plan, directory), limited(plan, directory, monkeypatch)
    assert set(numbers(few)) <= set(numbers(whole))
    assert "fabric.gbps=1" in few[1]


def test_few_lines_of_many_replicates_are_all_shown_once(tmp_path, monkeypatch) -> None:
    plan, directory = ran(tmp_path / "d", "replicates=3")
    whole = printed(plan, directory)
    monkeypatch.setattr(final_summary, "MOST_ROWS", 10)
    assert printed(plan, directory) == whole


def test_failures_are_counted_beyond_the_rows_that_are_read(tmp_path, monkeypatch) -> None:
    """Every message is shown, however late the first point that has it; points are told apart."""
    plan = make_plan(read_request(WORDS)[0])
    points = list(plan.points.values())
    with DatasetWriter.open(tmp_path / "d") as data:
        for k, point in enumerate(points):
            if k % 2:
                data.add(point.columns() | {"status": "ok", "mean_cct_s": 1.0})
            else:
                said = "ValueError: late" if k == len(points) - 1 else "ValueError: no"
                data.add(point.columns() | {"status": "error", "error": said})
    for most in (1000, 2):
        monkeypatch.setattr(final_summary, "MOST_ROWS", most)
        text = "\n".join(printed(plan, str(tmp_path / "d")))
        assert f"{(len(points) + 1) // 2} of {len(points)} points failed" in text
        assert "ValueError: late" in text
    assert re.search(r"aalo queue.base=2 queue.first_threshold_mb=1 .*ValueError: no", text)


def test_a_dataset_with_rows_of_other_grids_shows_this_grids_rows(tmp_path) -> None:
    ran(tmp_path / "d", "workload.seed=1")
    plan, directory = ran(tmp_path / "d", "workload.seed=2")
    lines = printed(plan, directory)
    assert sum(bool(re.match("aalo|asebf|varys", line)) for line in lines) == len(plan.points)


@pytest.mark.parametrize(
    "name",
    [
        *("plain", "2026_01_30", "1.10", "1e3", "true", "a b", "ünï", "x=y", "a,b", "~", "$HOME"),
        *(
            "trail\\",
            'bq\\"z',
            "it's",
            '"',
            "\\\\",
            "a\\b",
            "${x}",
            "\\${x}",
            "~a",
            "[a]",
            "{a}",
            "#",
            "a:b",
        ),
    ],
)
def test_the_command_to_go_on_names_the_same_directory(name: str) -> None:
    """Typed in a shell, through Hydra's grammar, and again from the command that it prints."""
    register()
    console = Console(file=io.StringIO(), width=400)
    final_summary.print_again("to go on:", ["sweep", "scheduler=aalo"], name, console)
    said = console.file.getvalue()  # type: ignore[attr-defined]
    words = shlex.split(said.removeprefix("to go on: "))
    same = f"./{name}" if name.startswith("~") else name
    assert read_request(words[1:])[1]["output.dir"] == same


def test_names_that_look_like_numbers_stay_as_typed() -> None:
    register()
    for name in ("2026_01_30", "1.10", "1e3", "007"):
        assert read_request([f"output.dir={name}"])[1]["output.dir"] == name


@pytest.mark.parametrize("lines", [0, 3])
def test_a_sweep_goes_on_when_its_output_is_closed(tmp_path, lines: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "sweep", *WORDS, "replicates=5", f"output.dir={tmp_path / 'd'}"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    for _ in range(lines):
        process.stdout.readline()
    process.stdout.close()
    with process.stderr as errors:
        said = errors.read().decode()
    assert process.wait(120) == 0, said
    assert said == ""
    table = load(tmp_path / "d")
    assert (table["status"] == "ok").all()
    assert read_manifest(tmp_path / "d")["state"] == "complete"


def test_a_null_beside_a_value_is_a_column(tmp_path) -> None:
    """`queue.weights=null` is read, and not the other line's value."""
    weights = 'queue.weights=null,"3 2 1"'
    words = ("scheduler=aalo", "workload=toy", "queue.between=wfq", "queue.count=3", weights)
    done = here(*words, "executor=local", cwd=tmp_path)
    (header,) = [line for line in done.stdout.splitlines() if line.startswith("scheduler ")]
    assert "queue.weights" in header
    cells = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("aalo ")]
    assert cells[0] == "null"
    assert "queue.weights: null, 3 2 1" in done.stdout
