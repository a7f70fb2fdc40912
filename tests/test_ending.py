"""What stands at the end of a sweep of more points than a table is made of."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from sweep import ending
from sweep.app import read_request, register
from sweep.plan import Plan, make_plan
from sweep.run import run

WORDS = (
    *("scheduler=aalo,asebf,varys", "queue.base=2,4,8", "queue.first_threshold_mb=1,5,20"),
    *("workload.coflows=8", "workload.ports=4", "executor=local"),
)


def ran(directory, *more: str) -> tuple[Plan, str]:
    """Run a grid and return its plan and its directory."""
    register()
    grid, settings = read_request([*WORDS, *more, f"output.dir={directory}"])
    assert run(grid, settings, ["sweep"]) == 0
    return make_plan(grid), str(directory)


def printed(plan: Plan, directory: str) -> list[str]:
    console = Console(file=io.StringIO(), width=400)
    ending.report(plan, directory, ["sweep"], console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


@pytest.mark.parametrize("repeats", [["replicates=3"], ["seed=1,2,3"], ["workload.seed=4,5"]])
def test_best_and_worst_are_the_lines_of_the_whole_table(repeats, tmp_path, monkeypatch) -> None:
    """Three lines of varys and nine each of the others, averaged over what is random."""
    plan, directory = ran(tmp_path / "d", *repeats)
    whole = printed(plan, directory)
    monkeypatch.setattr(ending, "MOST_ROWS", 10)
    for module in (ending, ending.print_table.__globals__["closing_table"].__globals__):
        names = module if isinstance(module, dict) else vars(module)
        monkeypatch.setitem(names, "BEST", 3)
        monkeypatch.setitem(names, "WORST", 2)
    few = printed(plan, directory)
    said = next(line for line in few if "left out" in line)
    lines = [line for line in whole if re.match("aalo|asebf|varys", line)]
    assert said.startswith(f"{len(lines) - 5} of {len(lines)} lines left out: these are the 3 best")

    def mean(line: str) -> float:
        column = head.index("mean")
        return float(re.split(r"\s{2,}", line)[column].replace(" ", ""))

    head = re.split(r"\s{2,}", next(line for line in whole if line.startswith("scheduler")))
    shown = [line for line in few if re.match("aalo|asebf|varys", line)]
    ranked = sorted(lines, key=mean)
    assert [mean(x) for x in shown] == [mean(x) for x in ranked[:3] + ranked[-2:]]
    words = [re.sub(r"\s+", " ", line).strip() for line in lines]
    assert all(re.sub(r"\s+", " ", line).strip() in words for line in shown)
    assert whole[1] == few[1]  # what the improvements are over


def test_points_that_failed_are_counted_beyond_the_table(tmp_path, monkeypatch) -> None:
    from sweep.store import Dataset

    plan = make_plan(read_request(WORDS)[0])
    with Dataset.open(tmp_path / "d") as data:
        for point in plan.points.values():
            data.add(point.columns() | {"status": "error", "error": "ValueError: no"})
    monkeypatch.setattr(ending, "MOST_ROWS", 4)
    lines = printed(plan, str(tmp_path / "d"))
    assert f"and {len(plan.points) - 4} more; the dataset has all" in lines


def test_a_dataset_with_rows_of_other_grids_shows_this_grids_rows(tmp_path) -> None:
    ran(tmp_path / "d", "workload.seed=1")
    plan, directory = ran(tmp_path / "d", "workload.seed=2")
    lines = printed(plan, directory)
    assert sum(bool(re.match("aalo|asebf|varys", line)) for line in lines) == len(plan.points)
