"""The line of a sweep that runs: how far it is, and how long it will still take."""

import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sweep.execution.progress import FORGET_S, Progress
from sweep.execution.remaining_time import RemainingTime
from sweep.execution.worker import PointProgress
from sweep.grid.point import Kind

QUICK, SLOW = Kind("varys", "fluid", "trace"), Kind("fair", "fluid", "trace")


def row(kind: Kind, wall_s: float | None, status: str = "ok", number: int = 0) -> dict:
    names = {"scheduler": kind.scheduler, "engine": kind.engine, "workload": kind.workload}
    mean = 5.0 if status == "ok" else None
    names |= {"point_id": f"{kind.scheduler}{number}", "status": status}
    return {**names, "wall_s": wall_s, "mean_cct_s": mean}


def progress(kinds: dict[Kind, int]) -> Progress:
    return Progress(kinds, Console(file=io.StringIO(), width=200))


def test_nothing_is_promised_without_evidence():
    line = progress({QUICK: 100})
    assert "ETA –" in line.line(60.0)
    line.add(row(QUICK, 1.0), elapsed_s=1.0)
    assert "ETA –" in line.line(1.0)


def test_points_that_take_the_same_time_have_one_time_to_the_end():
    """10 of 100 points of 6 s each on one worker: 90 · 6 s = 9 min are left."""
    line = progress({QUICK: 100})
    for k in range(10):
        line.add(row(QUICK, 6.0), elapsed_s=6.0 * (k + 1))
    assert line.line(60.0).startswith("10/100 points  6 s a point  ETA 9 min")


def test_a_kind_without_a_result_leaves_the_end_open():
    """4 quick points are left, 1 s each; how long the 4 slow ones take nothing tells."""
    line = progress({QUICK: 8, SLOW: 4})
    for k in range(4):
        line.add(row(QUICK, 1.0), elapsed_s=1.0 * (k + 1))
    assert "ETA more than 4 s" in line.line(4.0)
    line.add(row(SLOW, 100.0), elapsed_s=104.0)
    assert "more than" not in line.line(104.0)


def test_work_is_weighed_by_kind():
    """5 quick points of 1 s are done and 1 slow one of 100 s: 2 slow ones are left, not 2/6."""
    time = RemainingTime({QUICK: 5, SLOW: 3})
    elapsed = 0.0
    for kind, wall in [(QUICK, 1.0)] * 5 + [(SLOW, 100.0)]:
        elapsed += wall
        time.add(kind, wall, elapsed)
    low, high = time.interval(elapsed) or (0.0, 0.0)
    assert low <= 200.0 <= high < math.inf


@given(
    walls=st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=60, max_size=60),
    slow=st.lists(st.sampled_from([20.0, 30.0]), min_size=12, max_size=12),
    start_s=st.sampled_from([0.0, 3.0]),
)
def test_the_true_end_is_in_the_range_after_a_third(walls, slow, start_s):
    """One worker; kinds come by turns, five quick points to a slow one, after a start of 3 s."""
    todo = [(SLOW, slow[k // 6]) if k % 6 == 5 else (QUICK, walls[k - k // 6]) for k in range(72)]
    time = RemainingTime({QUICK: 60, SLOW: 12})
    total = start_s + sum(wall for _, wall in todo)
    elapsed = start_s
    for k, (kind, wall) in enumerate(todo[:-1], 1):
        elapsed += wall
        time.add(kind, wall, elapsed)
        if k >= 24:
            low, high = time.interval(elapsed) or (math.inf, 0.0)
            left = total - elapsed
            assert 0.8 * low <= left <= 1.25 * high
            assert high < 3 * left + 100


def test_failures_are_counted_and_promise_nothing():
    time = RemainingTime({QUICK: 10})
    for k in range(5):
        time.add(QUICK, 0.0, float(k + 1))
    assert time.interval(5.0) is None
    line = progress({QUICK: 2})
    line.add(row(QUICK, None, "error"), elapsed_s=1.0)
    assert "1 failed" in line.line(2.0)


def test_a_running_point_shows_its_coflows_until_it_ends():
    line = progress({SLOW: 2})
    line.show(PointProgress("fair0", "fair", 312, 526), elapsed_s=60.0)
    assert line.line(61.0) == "0/2 points  0 points/s  ETA –  running: fair 312/526 coflows"
    assert "running" not in line.line(60.0 + FORGET_S)  # its worker has died, say
    line.show(PointProgress("fair0", "fair", 400, 526), elapsed_s=70.0)
    line.add(row(SLOW, 70.0), elapsed_s=70.0)
    assert "running" not in line.line(70.0)


def test_few_of_many_running_points_are_shown():
    line = progress({SLOW: 9})
    for k in range(5):
        line.show(PointProgress(f"fair{k}", "fair", k, 10), elapsed_s=1.0)
    assert line.line(1.0).endswith(
        "fair 0/10 coflows, fair 1/10 coflows, fair 2/10 coflows, 2 more"
    )


@pytest.mark.parametrize(("done", "text"), [(0, "0 points/s"), (4, "2 points/s")])
def test_the_line_says_how_fast_points_end(done, text):
    line = progress({QUICK: 9})
    for _ in range(done):
        line.add(row(QUICK, 0.5), elapsed_s=2.0)
    assert text in line.line(2.0)
