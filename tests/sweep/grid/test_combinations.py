"""From axes to grid rows: axes in step, conditions, samples; and the plan in words."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from core.errors import GridError, InputError
from sweep.cli.main import main, read_request, register
from sweep.console.plan_text import describe
from sweep.grid.axes import Interval, Shape
from sweep.grid.combinations import Combinations, count_combinations
from sweep.grid.filter import Filter
from sweep.grid.plan import Plan, make_plan

AXES = {"a.x": [1, 2, 3], "b": ["p", "q"], "c": [10.0, 20.0, 30.0]}


def plan(*overrides: str, **more: str) -> Plan:
    register()
    return make_plan(read_request(["workload=toy", "scheduler=aalo", *overrides], **more)[0])


def rows(axes=AXES, seed: int = 0, **shape) -> list[dict]:
    return list(Combinations(axes, Shape(**shape), seed))


# ---- in step -------------------------------------------------------------------------------------


def test_zipped_axes_go_in_step_where_the_first_of_them_stands() -> None:
    found = [(r["a.x"], r["b"], r["c"]) for r in rows(zipped=(("a.x", "c"),))]
    assert found == [(x, b, 10.0 * x) for x in (1, 2, 3) for b in "pq"]


def test_repeated_values_stay_where_axes_go_in_step() -> None:
    p = plan("queue.base=2,2,4", "queue.count=3,4,3", "sweep.zip=[queue.base,queue.count]")
    assert [(r["queue_base"], r["queue_count"]) for r in p.rows] == [(2, 3), (2, 4), (4, 3)]


def test_several_zips_and_zips_of_a_file(tmp_path: Path) -> None:
    words = ("queue.base=2,4", "queue.count=3,4", "queue.first_threshold_mb=1,2")
    pair = "sweep.zip=[[scheduler,queue.base],[queue.count,queue.first_threshold_mb]]"
    register()
    request = ["workload=toy", "scheduler=aalo,asebf", *words, pair]
    assert len(make_plan(read_request(request)[0]).rows) == 4
    (tmp_path / "experiment").mkdir()
    text = "# @package _global_\ngrid: {queue.base: [2, 4], queue.count: [3, 4]}\n"
    text += "sweep: {zip: [queue.base, queue.count]}\n"
    (tmp_path / "experiment" / "e.yaml").write_text(text)
    assert len(plan("+experiment=e", config_dir=str(tmp_path)).rows) == 2


@pytest.mark.parametrize(
    ("zipped", "said"),
    [
        ("[queue.base]", "two or more keys"),
        ("[queue.base,queue.count]", "queue.base has 2, queue.count has 3"),
        ("queue.base,queue.count", "queue.base has 2, queue.count has 3"),
        ("[queue.base,queue.cont]", "queue.cont is not an axis.*did you mean 'queue.count'"),
        ("[[queue.base,scheduler],[queue.base,engine]]", "two or more|only once"),
    ],
)
def test_axes_that_cannot_go_in_step(zipped: str, said: str) -> None:
    with pytest.raises(GridError, match=said):
        plan("queue.base=2,4", "queue.count=3,4,5", f"sweep.zip={zipped}")


# ---- conditions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a.x > 1", 12),
        ("a.x > 1 and b == 'p'", 6),
        ("1 < a.x <= 2 or not b == 'p'", 12),
        ("b in ('p', 'r')", 9),
        ("a.x not in [1, 3]", 6),
        ("a.x * 10 == c", 6),
        ("(a.x + 1) ** 2 - c / 10 >= 8", 8),
        ("-a.x < -2", 6),
        ("true", 18),
        ("b != null", 18),
    ],
)
def test_conditions(text: str, kept: int) -> None:
    assert len(rows(filter=text)) == kept


@pytest.mark.parametrize(
    "text",
    [
        *("a.y > 1", "a.x > ", "", "b == p", "a.x.real > 0", "__import__('os')", "f(a.x)"),
        *("a.x if b else c", "lambda: 1", "[x for x in c]", "a.x[0]", "b'p' == b", "1j", "..."),
        *(
            "a.x @ c",
            "a.x is b",
            "x := 1",
            "f'{b}'",
            "(" * 500,
            "1+" * 600 + "1",
            "a.x > 1; b",
            "~a.x",
            "{1}",
        ),
    ],
)
def test_expressions_that_are_not_conditions_are_refused(text: str) -> None:
    with pytest.raises(GridError, match=r"sweep\.filter="):
        rows(filter=text)


@pytest.mark.parametrize(
    "text",
    [
        "b * 9 == b",
        "'%9d' % a.x == b",
        "b > 1",
        "a.x / 0 > 1",
        "9e99 ** 9e99 > c",
        "a.x in 5",
        "-b == 1",
    ],
)
def test_conditions_that_fail_on_a_row_say_on_which(text: str) -> None:
    with pytest.raises(GridError, match=r"does not work for a\.x=1 b=p c=10\.0"):
        rows(filter=text)


def test_a_condition_on_the_command_line_needs_no_quotes_of_hydras() -> None:
    for text in ("queue.base > 2", "'queue.base > 2'", '"queue.base > 2"'):
        assert len(plan("queue.base=2,4,8", f"sweep.filter={text}").rows) == 2
    p = plan("queue.base=2,4", "queue.between=strict,wfq", "sweep.filter='wfq' == queue.between")
    assert len(p.rows) == 2
    with pytest.raises(GridError, match="no grid row is left"):
        plan("queue.base=2", "sweep.filter=queue.base > 2")


@given(st.integers(-5, 5), st.integers(-5, 5), st.booleans())
def test_a_condition_means_what_it_means_in_python(x: int, y: int, flag: bool) -> None:
    for text in ("x < y <= 3", "x * y - 2 > x or not f", "x == y and f", "x % 3 in (y, 1)"):
        expected = eval(text, {}, {"x": x, "y": y, "f": flag})
        assert Filter(text, ("x", "y", "f"))({"x": x, "y": y, "f": flag}) == bool(expected)


# ---- samples -------------------------------------------------------------------------------------


def test_a_random_sample_has_distinct_rows_in_the_order_of_the_grid() -> None:
    everything = rows()
    some = rows(sample=7)
    places = [everything.index(row) for row in some]
    assert places == sorted(set(places))
    assert len(some) == 7
    assert rows(sample=100) == everything
    assert rows(sample=7, seed=1) != some == rows(sample=7, seed=0)


def test_every_row_is_as_likely_as_any_other() -> None:
    """2000 samples of 3 of 18: each row is in 333 ± 17 (σ); 5 σ fail once in 10^5."""
    counts = [0] * 18
    everything = rows()
    for seed in range(2000):
        for row in rows(sample=3, seed=seed):
            counts[everything.index(row)] += 1
    assert max(abs(n - 2000 / 6) for n in counts) < 5 * math.sqrt(2000 / 6 * 5 / 6)


@pytest.mark.parametrize("method", ["random", "latin", "sobol"])
def test_intervals_are_drawn_from(method: str) -> None:
    axes = {"u": Interval(2.0, 4.0), "w": Interval(1.0, 3.0, whole=True), "b": ["p", "q"]}
    found = rows(axes, sample=64, method=method)
    assert len(found) == 64
    assert all(2 <= r["u"] <= 4 for r in found)
    assert {r["w"] for r in found} == {1, 2, 3}
    assert all(isinstance(r["w"], int) for r in found)
    assert {r["b"] for r in found} == {"p", "q"}


@pytest.mark.parametrize("method", ["latin", "sobol"])
def test_each_part_of_an_axis_has_its_share(method: str) -> None:
    """Of 16 rows each sixteenth of an interval has one, each of two values half of them."""
    axes = {"u": Interval(0.0, 16.0), "v": Interval(1.0, 2.0**16, log=True), "b": ["p", "q"]}
    found = rows(axes, sample=16, method=method)
    assert sorted(int(r["u"]) for r in found) == list(range(16))
    assert sorted(int(math.log2(r["v"])) for r in found) == list(range(16))
    assert sum(r["b"] == "p" for r in found) == 8


def test_a_sample_on_the_command_line() -> None:
    words = ("queue.base=tag(log,interval(1.5,100))", "queue.count=interval(2,5)")
    p = plan(*words, "sweep.sample=20", "sweep.sample_method=latin", "seed=3")
    assert len(p.rows) == 20
    assert {r["queue_count"] for r in p.rows} == {2, 3, 4, 5}
    assert all(1.5 <= r["queue_base"] <= 100 for r in p.rows)
    again = plan(*words, "sweep.sample=20", "sweep.sample_method=latin", "seed=3")
    assert list(again.points) == list(p.points)


@pytest.mark.parametrize("method", ["random", "latin", "sobol"])
@pytest.mark.parametrize("axis", ["queue.base=interval(2,9)", "queue.base=range(2,9)"])
def test_every_draw_runs_under_every_scheduler(method: str, axis: str) -> None:
    register()
    words = ["workload=toy", "scheduler=aalo,asebf", axis, "sweep.sample=4"]
    p = make_plan(read_request([*words, f"sweep.sample_method={method}"])[0])
    by_name = {
        name: [r["queue_base"] for r in p.rows if r["scheduler"] == name]
        for name in ("aalo", "asebf")
    }
    assert by_name["aalo"] == by_name["asebf"]
    assert len(by_name["aalo"]) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["queue.base=range(2,nan,1)"], "a range has a finite start"),
        (["queue.base=interval(2,4)"], "an interval lists no values"),
        (["queue.base=interval(4,2)", "sweep.sample=3"], "must end above its start"),
        (["queue.base=interval(0.5,4)", "sweep.sample=3"], r"queue\.base=0\.5: allowed"),
        (["queue.between=interval(1,2)", "sweep.sample=3"], "only a number has an interval"),
        (["engine=interval(1,2)", "sweep.sample=3"], "engine"),
        (["replicates=interval(1,2)", "sweep.sample=3"], "replicates"),
        (["sweep.sample=0"], r"sweep\.sample=0"),
        (["sweep.sample_method=latin"], "needs sweep.sample"),
        (
            ["fabric.gbps=tag(log,interval(0,2))", "sweep.sample=3"],
            "a log interval must start above 0",
        ),
        (["sweep.filter=a", "sweep.filter=b"], "set twice"),
    ],
)
def test_bad_samples(words: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        plan(*words)


def test_a_sample_of_a_grid_too_large_to_list() -> None:
    axes = {f"k{i}": list(range(100)) for i in range(10)}
    assert count_combinations(axes, Shape()) == 100**10
    with pytest.raises(GridError, match="more than"):
        rows(axes)
    assert len(rows(axes, sample=50)) == 50
    few = {key: axes[key] for key in ("k0", "k1", "k2", "k3", "k4")}  # 10^10 can be numbered
    assert len(rows(few, sample=50)) == 50


# ---- in words ------------------------------------------------------------------------------------


def said(p: Plan) -> list[str]:
    console = Console(file=io.StringIO(), width=500)
    describe(p, console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_a_plan_says_what_it_is() -> None:
    lines = said(plan("queue.base=2,4,8", "queue.count=3,4,5", "sweep.filter=queue.base > 2"))
    assert lines[-1] == "9 combinations, 6 grid rows where queue.base > 2: 6 unique points"
    lines = said(plan("queue.base=2,4", "queue.count=3,4", "sweep.zip=[queue.base,queue.count]"))
    assert "  in step: queue.base, queue.count" in lines
    assert lines[-1] == "2 grid rows: 2 unique points"
    lines = said(plan("queue.base=interval(2,4)", "sweep.sample=3"))
    assert "  queue.base: 2…4" in lines
    assert lines[-1] == "3 draws (random), 3 grid rows: 3 unique points"


def test_a_dry_run_says_how_long_by_the_run_before(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["workload=toy", "scheduler=fifo", "executor=local"]
    assert main([*words, "sweep.dry_run=true"]) == 0
    assert "time: unknown for" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    assert main(words) == 0
    capsys.readouterr()
    assert main([*words, "fabric.gbps=1,2,3", "sweep.dry_run=true"]) == 0
    assert "time: about 1 s on 1 worker, going by outputs/latest" in capsys.readouterr().out
    assert main([*words, "scheduler=scf", "sweep.dry_run=true"]) == 2  # twice
    assert main(["workload=toy", "scheduler=scf", "sweep.dry_run=true"]) == 0
    assert "unknown for scf fluid toy: outputs/latest has no such points" in capsys.readouterr().out
