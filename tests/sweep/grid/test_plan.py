"""Grids: checks, relevance, ids, seeds."""

from __future__ import annotations

import gc
import hashlib
import itertools
import json
import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.errors import GridError, InputError, ParameterError, TraceError
from core.keys import is_context
from core.registry import engines
from core.shuffle.partitioners import partitioners
from core.workloads import workloads
from sweep.cli.main import register
from sweep.cli.request import read_request
from sweep.grid.plan import make_plan
from sweep.grid.point import build_trace

DATA = "tests/data/traces"


@pytest.fixture(autouse=True)
def _at_the_root(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(request.config.rootpath)
    register()


def plan(*overrides: str, **more):
    grid, _ = read_request(overrides, **more)
    return make_plan(grid)


def test_rows_that_differ_only_in_what_they_do_not_read_are_one_point() -> None:
    """varys reads neither (1), aalo the base (2), asebf both (2 · 3 = 6)."""
    p = plan(
        "scheduler=varys,aalo,asebf", "width=sender,receiver,max", "queue.base=2,10", "workload=toy"
    )
    assert (len(p.rows), len(p.points)) == (18, 9)
    by_scheduler = {
        s: [q for q in p.points.values() if q.scheduler == s] for s in ("varys", "aalo")
    }
    assert len(by_scheduler["varys"]) == 1
    assert all("width" not in q.values for q in by_scheduler["aalo"])
    assert p.unread() == [
        "width is not read by aalo, varys",
        "queue.base is not read by varys",
    ]


def test_a_parameter_with_a_condition_is_read_only_where_it_holds() -> None:
    """strict reads no weights: 2 rows, 1 point; wfq reads them: 2 points; varys neither: 1."""
    p = plan(
        *("scheduler=aalo,varys", "queue.between=strict,wfq", "queue.count=2", "workload=toy"),
        "queue.weights='2,1','3,1'",
    )
    assert (len(p.rows), len(p.points)) == (8, 4)
    weights = [q.values.get("queue.weights") for q in p.points.values() if q.scheduler == "aalo"]
    assert weights == [None, "2,1", "3,1"]
    assert "queue.weights is read only with queue.between=wfq" in p.unread()
    assert all("queue.weights" in q.values for q in p.points.values() if "wfq" in q.values.values())


@pytest.mark.parametrize("text", ["3,2", "'3 2 x'", "'3 2 -1'", "'3 2 1 1'"])
def test_weights_that_do_not_fit_are_found_before_anything_runs(text: str) -> None:
    words = ("scheduler=aalo", "workload=toy", "queue.between=wfq", "queue.count=3")
    with pytest.raises(ParameterError, match=r"queue\.weights=.*give 3 numbers > 0"):
        plan(*words, f"queue.weights={text}")
    assert len(plan(*words, "queue.weights=3 2 1").points) == 1


def test_a_key_whose_condition_never_holds_is_an_error() -> None:
    with pytest.raises(GridError, match=r"queue\.weights: no point.*with queue\.between=wfq"):
        plan("scheduler=aalo", "queue.weights='2,1'", "workload=toy")


def test_every_grid_row_is_kept_with_its_point_and_what_was_asked() -> None:
    p = plan("scheduler=varys,asebf", "width=sender,max", "workload=toy")
    assert [r["grid_row"] for r in p.rows] == [0, 1, 2, 3]
    assert [r["width"] for r in p.rows] == ["sender", "max", "sender", "max"]
    assert p.rows[0]["point_id"] == p.rows[1]["point_id"] != p.rows[2]["point_id"]


def test_the_first_axis_varies_slowest() -> None:
    p = plan("queue.base=2,3", "scheduler=aalo,asebf", "workload=toy")
    asked = [(r["queue_base"], r["scheduler"]) for r in p.rows]
    assert asked == [(2.0, "aalo"), (2.0, "asebf"), (3.0, "aalo"), (3.0, "asebf")]


def test_ids_do_not_depend_on_the_order_of_keys_or_on_spelling() -> None:
    a = plan("scheduler=asebf", "queue.base=2", "width=max", "workload=toy")
    b = plan("width=max", "workload=toy", "queue.base=2.0", "scheduler=asebf")
    c = plan("scheduler=asebf", "queue.base=3", "width=max", "workload=toy")
    assert set(a.points) == set(b.points)
    assert not set(a.points) & set(c.points)


def test_ids_are_those_of_every_machine_and_version() -> None:
    """A change here makes finished points of older datasets run again: on purpose only."""
    old = "engine=coflowsim"
    (toy,) = plan("scheduler=asebf", "workload=toy", old).points
    (random,) = plan("scheduler=varys", "seed=7", "replicates=1", old).points
    (trace,) = plan(
        "scheduler=varys", "workload=trace", f"workload.path={DATA}/rand-8x200.txt", old
    ).points
    assert [toy, random, trace] == GOLDEN_IDS


GOLDEN_IDS = ["722955a166bfbbb2", "49480b0a1eb3191f", "187d85cdea3b3167"]


def test_a_trace_is_known_by_its_bytes(tmp_path) -> None:
    copy = tmp_path / "elsewhere.txt"
    copy.write_bytes(Path(DATA, "rand-8x200.txt").read_bytes())
    first = plan("scheduler=aalo", "workload=trace", f"workload.path={DATA}/rand-8x200.txt")
    second = plan("scheduler=aalo", "workload=trace", f"workload.path={copy}")
    copy.write_text(copy.read_text().replace("264.0", "265.0", 1))
    third = plan("scheduler=aalo", "workload=trace", f"workload.path={copy}")
    assert set(first.points) == set(second.points)
    assert set(first.points) != set(third.points)


def test_schedulers_of_a_replicate_see_the_same_workload_and_replicates_differ() -> None:
    p = plan("scheduler=aalo,varys", "replicates=2", "workload.coflows=20", "workload.ports=10")
    traces = {(q.scheduler, q.replicate): build_trace(q) for q in p.points.values()}
    same = traces["aalo", 0].size_bytes, traces["varys", 0].size_bytes
    assert np.array_equal(*same)
    other = traces["aalo", 1].size_bytes
    assert len(other) != len(same[0]) or not np.array_equal(same[0], other)


def test_a_seed_of_the_workload_is_the_sweeps_seed_said_otherwise() -> None:
    one = plan("scheduler=aalo", "workload.seed=7")
    other = plan("scheduler=aalo", "seed=7")
    assert set(one.points) == set(other.points)
    (by_workload,), (by_sweep,) = one.points.values(), other.points.values()
    assert (by_workload.seed, by_sweep.seed) == (None, 7)


def test_repeated_values_are_dropped_and_counted() -> None:
    p = plan("scheduler=aalo,aalo,varys", "queue.base=2,2.0", "workload=toy")
    assert p.repeated == {"scheduler": 1, "queue.base": 1}
    assert len(p.rows) == 2


def test_ranges_quotes_and_globs_follow_hydras_grammar() -> None:
    p = plan("scheduler=aalo", "queue.base=range(2,5)", "workload=toy")
    assert [r["queue_base"] for r in p.rows] == [2.0, 3.0, 4.0]
    p = plan("scheduler=glob(*cf)", "workload=toy")
    assert sorted({r["scheduler"] for r in p.rows}) == ["lcf", "ncf", "scf"]
    p = plan("scheduler=aalo", "workload=trace", f"workload.path='{DATA}/rand-8x200.txt'")
    assert len(p.points) == 1


def test_an_experiment_file_holds_a_grid_and_the_command_line_wins(tmp_path) -> None:
    folder = tmp_path / "experiment"
    folder.mkdir()
    (folder / "mine.yaml").write_text(
        "# @package _global_\n"
        "defaults:\n  - override /workload: toy\n"
        "grid:\n  scheduler: [varys, asebf]\n  queue: {base: [2, 4]}\n  width: max\n"
    )
    p = plan("+experiment=mine", config_dir=str(tmp_path))
    assert (len(p.rows), len(p.points)) == (4, 3)
    p = plan("+experiment=mine", "queue.base=8", "scheduler=asebf", config_dir=str(tmp_path))
    assert [q.values["queue.base"] for q in p.points.values()] == [8.0]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["scheduler=asbef"], ["scheduler=asbef", "did you mean 'asebf'", "varys"]),
        (["workload=trce"], ["workload=trce", "did you mean 'trace'"]),
        (["engine=coflowsm"], ["engine=coflowsm", "coflowsim"]),
        (["width=reciever"], ["width=reciever", "did you mean 'receiver'"]),
        (["queue.base=0"], ["queue.base=0", "a number > 1"]),
        (["queue.base=1"], ["queue.base=1", "> 1"]),
        (["queue.base=abc"], ["queue.base=abc"]),
        (["queue.base=true"], ["queue.base=true"]),
        (["queue.base=nan"], ["queue.base=nan"]),
        (["queue.count=2.5"], ["queue.count=2.5", "whole number"]),
        (["queue.bse=2"], ["queue.bse", "did you mean 'queue.base'"]),
        (["base=2"], ["base", "did you mean 'queue.base'"]),
        (["scheduler=varys", "queue.base=2"], ["queue.base", "no point", "aalo"]),
        (["workload=toy", "workload.coflows=3"], ["workload.coflows", "fb_like"]),
        (["workload=toy", "seed=3"], ["seed", "no point", "fb_like"]),
        (["workload=toy", "replicates=3"], ["replicates", "no point"]),
        (["replicates=0"], ["replicates=0"]),
        (["scheduler=aalo", "scheduler=varys"], ["scheduler", "twice"]),
        (["scheduler=[]"], ["scheduler=[]", "empty"]),
        (["scheduler="], ["scheduler=", "empty"]),
        (["queue.base=[2,4]"], ["queue.base", "a,b"]),
        (["executor=ray,local"], ["executor", "one value"]),
        (["executor=slurm"], ["executor=slurm", "ray, local"]),
        (["workload=trace"], ["workload.path", "missing"]),
        (["hydra.run.dir=x"], ["hydra.run.dir", "output.dir"]),
        (["~queue.base"], ["~queue.base"]),
        (["grid.scheduler=aalo"], ["grid.scheduler", "scheduler=asebf,aalo"]),
        (["+experiment=nowhere"], ["nowhere"]),
        (["queue.base=2,,4"], ["queue.base=2,,4"]),
        (["word"], ["word", "key=value"]),
    ],
)
def test_bad_grids_name_key_value_and_what_is_allowed(overrides, said) -> None:
    with pytest.raises(InputError) as caught:
        plan(*overrides)
    for text in said:
        assert text in str(caught.value)


def test_a_missing_trace_is_found_while_planning() -> None:
    with pytest.raises(TraceError, match=r"nowhere\.txt"):
        plan("workload=trace", "workload.path=nowhere.txt")


def test_errors_in_experiment_files_are_found(tmp_path) -> None:
    folder = tmp_path / "experiment"
    folder.mkdir()
    for text, said in [
        ("grid: {queue.bse: [2]}", "queue.bse"),
        ("grid: {scheduler: []}", "empty"),
        ("grid: {executor: [ray]}", "executor"),
        ("grid: {queue.base: [[2]]}", "queue.base"),
        ("queue: {bsae: 2}", "queue.bsae"),
    ]:
        (folder / "bad.yaml").write_text(f"# @package _global_\n{text}\n")
        with pytest.raises(GridError, match=said):
            plan("+experiment=bad", config_dir=str(tmp_path))
    with pytest.raises(GridError, match="no such directory"):
        plan(config_dir=str(tmp_path / "none"))


def test_a_parameter_says_what_it_allows() -> None:
    with pytest.raises(ParameterError, match=r"queue\.count=0: allowed is a whole number ≥ 1"):
        plan("queue.count=0")


def test_a_trace_that_changes_after_planning_is_not_stored_under_the_old_id(tmp_path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("2 1\n1 0 1 0 1 1:1\n")
    (point,) = plan("scheduler=aalo", "workload=trace", f"workload.path={path}").points.values()
    assert len(build_trace(point)) == 1
    path.write_text("2 1\n1 0 1 0 1 1:1000\n")
    with pytest.raises(TraceError, match="has changed since"):
        build_trace(point)


@pytest.mark.parametrize("line", ["scheduler: aalo", "workload: toy", "engine: fluid"])
def test_a_name_outside_the_grid_of_a_file_is_an_error(line, tmp_path) -> None:
    folder = tmp_path / "experiment"
    folder.mkdir()
    (folder / "e.yaml").write_text(f"# @package _global_\n{line}\n")
    with pytest.raises(InputError):
        plan("+experiment=e", config_dir=str(tmp_path))


def test_a_value_of_a_file_that_no_point_reads_is_an_error(tmp_path) -> None:
    folder = tmp_path / "experiment"
    folder.mkdir()
    text = "# @package _global_\nqueue: {base: 2}\ngrid: {scheduler: [varys]}\n"
    (folder / "e.yaml").write_text(text)
    with pytest.raises(GridError, match=r"queue\.base: no point"):
        plan("+experiment=e", config_dir=str(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        *("scheduler: [aalo, asebf", "5", "grid: 5", "a: 1\na: 2", "--- 1\n--- 2", "\t- x"),
        *("queue: {base: '${queue.count}', count: '${queue.base}'}", "defaults: foo"),
        *("width: ${oc.env:NOT_SET_ANYWHERE}", "x: !!python/name:os.system", "\x00\x01"),
    ],
)
def test_broken_files_are_input_errors(text, tmp_path) -> None:
    folder = tmp_path / "experiment"
    folder.mkdir()
    (folder / "e.yaml").write_text(f"# @package _global_\n{text}\n")
    with pytest.raises(InputError):
        plan("+experiment=e", config_dir=str(tmp_path))


@pytest.mark.parametrize(
    "override",
    [
        *("queue.count=range(1,5,0)", "queue.first_threshold_mb=range(1,1e9,1)"),
        *("queue.base=" + 400 * "9", "seed=" + 400 * "9", "queue.base=" + 5000 * "9"),
        *("scheduler=aalo,", "scheduler=aalo,,varys", "ray.num_cpus=2"),
    ],
)
def test_values_that_would_hang_or_break_hydra_are_refused(override) -> None:
    with pytest.raises(InputError):
        plan(override, "executor=local")


def test_a_unit_that_the_engine_does_not_read_is_an_error() -> None:
    """In coflowsim a MB of the file is a MB of the simulator."""
    path = f"workload.path={DATA}/rand-8x200.txt"
    with pytest.raises(GridError, match=r"workload\.mb_bytes: no point"):
        plan("workload=trace", path, "workload.mb_bytes=1e5", "engine=coflowsim")


def test_arrivals_that_leave_no_digits_are_refused(tmp_path) -> None:
    (tmp_path / "t.txt").write_text("2 1\n1 1e17 1 0 1 1:1\n")
    with pytest.raises(TraceError, match=r"t\.txt line 2: arrival"):
        plan("workload=trace", f"workload.path={tmp_path / 't.txt'}")


def test_ids_are_a_hash_of_json_with_sorted_keys() -> None:
    """What anybody can compute: ids of datasets that are there have to stay."""
    words = ("scheduler=aalo", "queue.base=3", "replicates=2", "shuffle.partitioner=scid")
    p = plan(*words, "workload.coflows=9", "workload.load=0.5")
    second = list(p.points.values())[1]
    own, shuffle, rest = {}, {}, {}
    for key, value in second.values.items():
        part = {"workload": own, "shuffle": shuffle}.get(key.partition(".")[0], rest)
        part[key] = value
    version = engines()["fluid"].version
    content = workloads()["fb_like"].content(dict(second.values))
    source = ["fb_like", content, own, 1, partitioners()["scid"].version, shuffle]

    def digest(content: object) -> str:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    assert second.trace_id == digest(source)
    assert second.point_id == digest([source, ["aalo", "fluid", version, rest]])


def test_rows_and_points_are_the_same_however_they_are_asked_for() -> None:
    words = ("scheduler=varys,aalo", "queue.base=2,4", "seed=1,2", "workload=toy,fb_like")
    p = plan(*words, "replicates=3", "shuffle.partitioner=traced,hash")
    rows, points = list(p.rows), list(p.points.values())
    assert rows == [p.rows[k] for k in range(len(p.rows))] == p.rows[:]
    assert rows[-1] == p.rows[-1]
    with pytest.raises(IndexError):
        p.rows[len(p.rows)]
    assert [p.points[q.point_id] for q in points] == points
    assert [p.points.name(k) for k in range(len(points))] == [q.point_id for q in points]
    assert [p.points.index_of(q.point_id) for q in points] == list(range(len(points)))
    for missing in ("0" * 16, "f" * 16, "g", "", "f" * 17):
        assert missing not in p.points
    first = {row["point_id"]: row for row in reversed(rows)}
    assert all(first[q.point_id]["scheduler"] == q.scheduler for q in points)
    assert list(dict.fromkeys(row["point_id"] for row in rows)) == list(p.points)


def test_points_of_one_workload_run_one_after_the_other() -> None:
    p = plan("scheduler=varys,aalo,asebf", "seed=1,2", "replicates=2", "workload.coflows=9")
    done = {next(iter(p.points)), "not one of them"}
    todo = p.points.without(done)
    assert len(todo) == len(p.points) - 1
    assert {q.point_id for q in todo} == set(p.points) - done
    runs = [trace for trace, _ in itertools.groupby(q.trace_id for q in todo)]
    assert len(runs) == len(set(runs)) == 4
    assert todo.kinds() == Counter((q.scheduler, q.engine, q.workload) for q in todo)


def test_replicates_and_seeds_are_one_line() -> None:
    p = plan("scheduler=aalo", "queue.base=2,4", "seed=1,2", "replicates=3")
    lines = p.lines(is_context)[0].tolist()
    by_base = {q.values["queue.base"]: set() for q in p.points.values()}
    for line, q in zip(lines, p.points.values(), strict=True):
        by_base[q.values["queue.base"]].add(line)
    assert sorted(map(len, by_base.values())) == [1, 1]
    assert len(set(lines)) == 2
    assert len(set(p.lines(is_context)[1].tolist())) == 1


def test_a_plan_holds_some_bytes_a_row() -> None:
    def held(thresholds: int) -> int:
        words = ("scheduler=aalo", "workload=toy", "queue.base=range(2,102)")
        grid, _ = read_request([*words, f"queue.first_threshold_mb=range(1,{thresholds + 1})"])
        gc.collect()
        tracemalloc.start()
        p = make_plan(grid)
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(p.points) == 100 * thresholds
        return size

    assert held(150) - held(20) < 13_000 * 100


def test_the_digest_of_a_grid_changes_with_its_rows_alone() -> None:
    words = ["scheduler=varys,aalo", "queue.base=2,4", "workload=toy"]
    code = (
        "from sweep.cli.main import read_request, register; from sweep.grid.plan import make_plan\n"
        f"register(); print(make_plan(read_request({words!r})[0]).digest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path.cwd())},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert said == {plan(*words).digest()}
    others = [
        ["scheduler=aalo,varys", *words[1:]],
        [words[0], "queue.base=2,4,8", words[2]],
        [*words, "sweep.filter=queue.base > 2"],
        [*words, "queue.count=3"],
    ]
    assert len({plan(*w).digest() for w in (words, *others)}) == 5


def test_rows_with_replicates_are_limited_before_they_are_made() -> None:
    words = ("scheduler=asebf", "queue.base=range(2,102)", "queue.first_threshold_mb=range(1,1001)")
    with pytest.raises(GridError, match=r"100000 rows with replicates: more than 10000000"):
        plan(*words, "replicates=101")


def test_rows_without_replicates_are_not_counted_as_if_they_had_some(monkeypatch) -> None:
    """3 rows of toy and 3 · 20 of fb_like are 63."""
    words = ("scheduler=aalo", "workload=fb_like,toy", "queue.base=2,3,4", "replicates=20")
    monkeypatch.setattr("sweep.grid.plan.MOST_ROWS", 63)
    assert len(plan(*words).rows) == 63
    monkeypatch.setattr("sweep.grid.plan.MOST_ROWS", 62)
    with pytest.raises(GridError, match="more than 62 in all"):
        plan(*words)
