"""Jobs and redrawn traces: what a partitioner makes of them as coflows, rows and tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import registry
from core.errors import GridError, InputError, ParameterError, ShuffleError, TraceError
from core.metrics import RATE_COLUMNS, REDUCER_COLUMNS, SHUFFLE_METRICS
from core.parameters import Value
from core.shuffle.partitioners import partitioners
from core.trace import Trace, from_flows
from core.workloads import workloads
from core.workloads._jobs import hosts_of
from core.workloads.shuffle_jobs import parse_classes
from sweep import load
from sweep.cli.main import main, read_request, register
from sweep.grid.plan import Plan, make_plan
from sweep.grid.point import build_trace
from tests.values import by_key

JOBS = workloads()["shuffle_jobs"]
SMALL: dict[str, Value] = {
    "workload.jobs": 3,
    "workload.records": 3000,
    "workload.maps": 4,
    "workload.reducers": 5,
    "workload.ports": 12,
    "shuffle.keys": 200,
}
ROUNDING = 1e-9


def coflows(seed: int = 0, **values: Value) -> Trace:
    given = SMALL | by_key(**values)
    return JOBS.trace(given, np.random.default_rng(seed), np.random.SeedSequence(seed))


def plan(*overrides: str) -> Plan:
    register()
    return make_plan(read_request(overrides)[0])


def received(trace: Trace, k: int) -> np.ndarray:
    return trace.per_port(trace.dst)[k]


# ---- jobs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(partitioners()))
def test_reducers_receive_the_bytes_of_their_buckets(name: str) -> None:
    trace = coflows(shuffle__partitioner=name, shuffle__value_spread=0.5)
    assert len(trace) == len(trace.shuffle) == 3
    for k, job in enumerate(trace.shuffle):
        assert job.job_id == trace.coflow_id[k]
        assert job.records.sum() == 3000
        assert received(trace, k).sum() == pytest.approx(job.load_bytes.sum(), rel=ROUNDING)
        if name != "aqe_skew":  # the only one with more buckets than reducers
            there = np.sort(received(trace, k)[received(trace, k) > 0])
            held = np.sort(job.load_bytes[job.load_bytes > 0])
            np.testing.assert_allclose(there, held, rtol=ROUNDING)


def test_partitioners_and_rates_see_the_same_records() -> None:
    """With sizes that differ by key, equal sums mean equal counts of all keys."""
    totals = {
        (name, rate): coflows(
            shuffle__partitioner=name, shuffle__sampling_rate=rate, shuffle__value_spread=1.0
        ).total_bytes()
        for name in ("hash", "scid", "lpt_split", "range", "salt")
        for rate in (0.02, 0.5)
    }
    first = next(iter(totals.values()))
    for total in totals.values():
        np.testing.assert_allclose(total, first, rtol=ROUNDING)
    other = coflows(seed=1, shuffle__value_spread=1.0).total_bytes()
    assert not np.isclose(other, first, rtol=1e-6).any()


def test_the_sample_delays_the_coflow_and_not_the_job() -> None:
    """A job reads 3000 records on 4 tasks: 3000 · 0.01 s / 4 = 7.5 s, plus 10 % sampled map work.

    1 s a record on 300 sampled ones is 75 s more.
    """
    costs = {"shuffle__scan_s_per_record": 0.01, "shuffle__map_s_per_record": 1.0}
    late = coflows(shuffle__partitioner="scid", shuffle__sampling_rate=0.1, **costs)
    soon = coflows(shuffle__partitioner="scid", shuffle__sampling_rate=0.1)
    np.testing.assert_allclose(late.arrival_s - soon.arrival_s, 82.5, rtol=1e-9)
    assert [job.arrival_s for job in late.shuffle] == soon.arrival_s.tolist()
    np.testing.assert_array_equal(late.size_bytes, soon.size_bytes)


def test_more_tasks_than_hosts_share_hosts_evenly() -> None:
    trace = coflows(workload__maps=30, workload__reducers=25)
    assert trace.distinct_ports(trace.src).tolist() == [12] * 3
    assert trace.distinct_ports(trace.dst).max() == 12


def test_jobs_are_alike_but_for_what_their_class_says() -> None:
    text = "3:1000:2:3 1:5000:6:7:50:0"
    trace = coflows(workload__classes=text, workload__jobs=8)
    kinds = sorted((int(job.records.sum()), len(job.records)) for job in trace.shuffle)
    assert kinds == [(1000, 3)] * 6 + [(5000, 7)] * 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1:10:2", "share:records:maps:reducers"),
        ("1:10:2:3:4:5:6", "share:records:maps:reducers"),
        ("x:10:2:3", "'x' is no number"),
        ("0:10:2:3", "share must be > 0"),
        ("1:0:2:3", "workload.records=0"),
        ("1:10:2:3:0", "shuffle.keys=0"),
        ("1:10:2:3:5:-1", "shuffle.zipf=-1"),
        ("nan:10:2:3", "share must be > 0"),
        ("1e308:1:1:1 1e308:2:2:2", "share must be > 0 and ≤ 1e"),
        ("1:nan:2:3", "workload.records=nan"),
    ],
)
def test_classes_that_cannot_be(text: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        parse_classes(text)
    with pytest.raises(ParameterError, match=said):
        plan("workload=shuffle_jobs", "scheduler=fifo", f"workload.classes='{text}'")


@pytest.mark.parametrize("kind", ["sort", "text_search", "word_count"])
def test_kinds_of_jobs(kind: str) -> None:
    trace = coflows(shuffle__source=kind, workload__records=200_000)
    records = [int(job.records.sum()) for job in trace.shuffle]
    expected = {"sort": (200_000, 200_000), "text_search": (200, 200), "word_count": (400, 800)}
    low, high = expected[kind]
    assert all(low <= n <= high for n in records)


def test_buckets_split_off_go_round_the_reducers() -> None:
    """Reducers 7 and 3; the second bucket is split in three, of which two go elsewhere."""

    class Split:
        origin = np.array([0, 1, 1, 1])
        buckets = 4

    hosts = hosts_of(Split(), np.array([7, 3], np.int32))  # type: ignore[arg-type]
    assert hosts.tolist() == [7, 3, 7, 3]


# ---- a table of keys ----------------------------------------------------------------------------


def table_point(path: Path, *more: str) -> Trace:
    words = ("workload=shuffle_jobs", "scheduler=fifo", "shuffle.source=table", "workload.jobs=1")
    (point,) = plan(*words, f"workload.path={path}", *more).points.values()
    return build_trace(point)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_keys_and_counts_from_a_file(tmp_path: Path, suffix: str) -> None:
    """By Java's hash "a" goes to bucket 97 mod 4 = 1, "NA" to 2483 mod 4 = 3."""
    path = tmp_path / f"keys.{suffix}"
    frame = pd.DataFrame({"key": ["a", "NA"], "count": [30, 12], "note": ["", "x"]})
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    trace = table_point(path, "shuffle.hash=spark", "workload.reducers=4")
    assert trace.shuffle[0].records.tolist() == [0, 30, 0, 12]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("key,count\n", "no rows"),
        ("key,count\na,1\na,2\n", "row 2: key a again"),
        ("key,count\na,-1\n", "row 1: count -1"),
        ("key,count\na,1\nb,1.5\n", "row 2: count 1.5"),
        ("key,count\na,1\n,2\n", "row 2: key is null"),
        ("key,count\na,\n", "row 1: count is null"),
        ("key,count\nb,1\na,many\n", "row 2: count 'many'"),
        ("key,counts\na,1\n", "no column 'count'.*did you mean 'counts'"),
        ("key,count\na,1,5\nb,2,6\n", "neither CSV nor Parquet.*Length"),
        ("", "neither CSV nor Parquet"),
        ("PAR1 and nothing more", "neither CSV nor Parquet"),
    ],
)
def test_tables_that_cannot_be_shuffled(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "keys.csv"
    path.write_text(text)
    with pytest.raises(ShuffleError, match=said):
        table_point(path)


def test_keys_of_a_csv_file_are_texts(tmp_path: Path) -> None:
    """By Java's hash "1" goes to bucket 49 mod 4 = 1, "01" to 1537 mod 4 = 1, "2" to 50 mod 4."""
    path = tmp_path / "keys.csv"
    path.write_text("key,count\n01,5\n1,7\n2,9\n")
    trace = table_point(path, "shuffle.hash=spark", "workload.reducers=4")
    assert trace.shuffle[0].records.tolist() == [0, 12, 9, 0]


def test_a_table_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "keys.csv"
    ids = []
    for count in (1, 1, 2):
        path.write_text(f"key,count\na,{count}\n")
        words = ("workload=shuffle_jobs", "scheduler=fifo", "shuffle.source=table")
        ids += plan(*words, f"workload.path={path}").points
    assert ids[0] == ids[1] != ids[2]


# ---- traces redrawn -----------------------------------------------------------------------------

MESH = [(s, d, 1e8 * (1 + d)) for s in (0, 1, 2) for d in (1, 3, 4, 5)]
TRACE = from_flows("hand", 6, [(7, 0.0, MESH), (8, 1.0, [(0, 1, 0.0)]), (9, 2.0, [(2, 5, 5e7)])])


def redrawn(name: str, **values: Value) -> Trace:
    toy = workloads()["toy"]
    given = {"shuffle.partitioner": name} | by_key(**values)
    source = type(toy)(
        toy.name, toy.summary, toy.parameters, lambda values, rng: TRACE, toy.content
    )
    return source.trace(given, np.random.default_rng(0), np.random.SeedSequence(0))


@pytest.mark.parametrize("name", sorted(partitioners()))
def test_a_redrawn_coflow_keeps_its_bytes_and_its_hosts(name: str) -> None:
    trace = redrawn(name, shuffle__value_spread=0.3)
    np.testing.assert_allclose(trace.total_bytes(), TRACE.total_bytes(), rtol=ROUNDING)
    assert trace.coflow_id.tolist() == [7, 8, 9]
    for side in ("src", "dst"):
        there = getattr(trace, side)[trace.coflow_of_flow == 0]
        asked = getattr(TRACE, side)[TRACE.coflow_of_flow == 0]
        assert np.unique(there).tolist() == np.unique(asked).tolist()
    # As in the trace, a reducer's bytes come from all mappers in equal parts.
    first = trace.size_bytes[: trace.first_flow[1]].reshape(-1, 3)
    np.testing.assert_allclose(first, first[:, :1].repeat(3, axis=1), rtol=ROUNDING)


def test_traced_leaves_the_trace_alone() -> None:
    assert redrawn("traced") is TRACE


def test_reducers_of_a_redrawn_trace_are_drawn_again() -> None:
    """Loads of 3 : 9 … are gone; by hash they follow the keys, by lpt_split they are even."""
    by_hash = redrawn("hash", shuffle__zipf=1.2)
    even = redrawn("lpt_split", shuffle__zipf=1.2, shuffle__sampling_rate=0.2)
    assert by_hash.shuffle[0].measures["fos_bytes"] > 0.3
    assert even.shuffle[0].measures["fos_bytes"] < 0.02
    assert received(even, 0)[[1, 3, 4, 5]] == pytest.approx(received(TRACE, 0).sum() / 4, rel=0.05)


@pytest.mark.parametrize("engine", ["fluid", "coflowsim"])
def test_both_engines_run_a_redrawn_trace(engine: str) -> None:
    trace = redrawn("hash")
    outcome = registry.simulate(trace, engine, "varys", {})
    assert (outcome.cct_s[[0, 2]] > 0).all()


# ---- as points ----------------------------------------------------------------------------------


def test_rates_matter_only_to_partitioners_that_sample() -> None:
    """hash: 1 rate; scid and lpt: 2 each. Times 2 exponents, 2 schedulers, 3 replicates."""
    p = plan(
        *("workload=shuffle_jobs", "shuffle.partitioner=hash,scid,lpt", "scheduler=asebf,varys"),
        *("shuffle.sampling_rate=0.01,0.2", "shuffle.zipf=0.5,1", "replicates=3"),
    )
    assert (len(p.rows), len(p.points)) == (72, 60)
    assert len({q.trace_id for q in p.points.values()}) == 30
    (reason,) = [text for text in p.unread() if text.startswith("shuffle.sampling_rate")]
    assert "scid" in reason
    assert "hash" not in reason


def test_a_presets_defaults_are_its_own() -> None:
    p = plan("workload=shuffle_jobs", "scheduler=fifo", "shuffle.partitioner=scid,scid_robust")
    hits = [q.values["shuffle.min_hits"] for q in p.points.values()]
    assert hits == [0, 10]
    p = plan(
        *("workload=shuffle_jobs", "scheduler=fifo", "shuffle.min_hits=3"),
        "shuffle.partitioner=scid,scid_robust",
    )
    assert [q.values["shuffle.min_hits"] for q in p.points.values()] == [3, 3]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["shuffle.seed=-1"], r"shuffle\.seed=-1: allowed is a whole number ≥ 0"),
        (["shuffle.sampling_rate=0"], r"shuffle\.sampling_rate=0: allowed is"),
        (["shuffle.sampling_rate=1.01"], "≤ 1, or auto"),
        (["shuffle.sampling_rate=all"], "or auto"),
        (["shuffle.zipf=-0.1"], r"shuffle\.zipf"),
        (["shuffle.keys=0"], r"shuffle\.keys"),
        (["workload.reducers=0"], r"workload\.reducers"),
        (["shuffle.partitioner=scidd"], "did you mean 'scid"),
        (["shuffle.partitioner=traced"], "allowed is one of aqe_skew, hash"),
        (["shuffle.sampling_rate=0.1"], r"no point.*with shuffle\.partitioner=.*scid"),
        (["shuffle.zipf=1", "shuffle.source=sort"], r"no point.*shuffle\.source=zipf"),
        (["shuffle.source=table"], r"workload\.path is missing"),
    ],
)
def test_bad_input(words: list[str], said: str) -> None:
    default = ["workload=shuffle_jobs", "scheduler=fifo", "shuffle.partitioner=hash"]
    keys = {word.split("=")[0] for word in words}
    scid = ["shuffle.partitioner=scid"] if said.startswith(("shuffle", "≤", "or")) else []
    kept = [w for w in default if w.split("=")[0] not in keys]
    with pytest.raises(InputError, match=said):
        plan(*([w for w in kept if not scid or not w.startswith("shuffle")]), *scid, *words)


def test_on_a_trace_the_shuffle_is_seeded_and_traced_is_not(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("4 1\n1 0 2 0 1 2 2:10 3:10\n")
    words = ("workload=trace", f"workload.path={path}", "scheduler=fifo")
    with pytest.raises(GridError, match="replicates: no point"):
        plan(*words, "replicates=3")
    p = plan(*words, "shuffle.partitioner=traced,hash", "replicates=3")
    assert sorted(q.replicate or 0 for q in p.points.values()) == [0, 0, 1, 2]
    assert [q.seed for q in p.points.values() if q.replicate is None] == [None]
    sizes = [tuple(build_trace(q).size_bytes) for q in p.points.values()]
    assert len(set(sizes)) == 4


def test_a_late_sample_is_an_error_row_and_no_crash() -> None:
    with pytest.raises(TraceError, match="job 1 would start its shuffle"):
        coflows(shuffle__partitioner="scid", shuffle__scan_s_per_record=1e9, workload__jobs=1)


def test_rows_and_tables_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = [f"{key}={value}" for key, value in SMALL.items()]
    words += ["workload=shuffle_jobs", "scheduler=varys", "shuffle.partitioner=hash,scid"]
    words += ["shuffle.sampling_rate=auto", "shuffle.reduce_s_per_record=0.001"]
    assert main([*words, "output.dir=out", "output.reducers=true", "executor=local"]) == 0
    table = load("out").set_index("shuffle_partitioner")
    for metric in SHUFFLE_METRICS:
        known = metric.name not in ("predicted_fos", "planned_fos", "unseen", "sampled_share")
        assert table[metric.name].notna().tolist() == [known, True], metric.name
    assert table["shuffle_sampling_rate"].tolist() == [0, 0]  # auto is no number
    reducers = load("out", reducers=True)
    assert reducers.columns[-len(REDUCER_COLUMNS) :].tolist() == [c.name for c in REDUCER_COLUMNS]
    sums = reducers.groupby(["shuffle_partitioner", "job"])["records"].agg(["sum", "size"])
    assert sums.to_numpy().tolist() == [[3000, 5]] * 6
    rates = load("out", rates=True)
    assert rates.columns[-len(RATE_COLUMNS) :].tolist() == [c.name for c in RATE_COLUMNS]
    assert set(rates["shuffle_partitioner"]) == {"scid"}
    chosen = rates[rates["chosen"]]
    assert len(chosen) == 3
    assert chosen["rate"].mean() == pytest.approx(table.loc["scid", "sampled_share"], rel=0.01)
    assert (chosen["total_s"] == rates.groupby("job")["total_s"].min().to_numpy()).all()
    # Reducers work 0.001 s a record: the largest of 5 has at least 600.
    late = table["mean_job_s"] - table["mean_cct_s"] - table["sample_cost_s"]
    assert (late >= 0.6).all()
    assert late["hash"] == pytest.approx(
        0.001
        * reducers[reducers["shuffle_partitioner"] == "hash"].groupby("job")["records"].max().mean()
    )
    # The same again runs nothing, though traced points would have no reducers.
    assert main([*words, "output.dir=out", "output.reducers=true", "executor=local"]) == 0


def test_splitting_has_an_end() -> None:
    tiny = {"skew_threshold_mib": 0.0, "skew_factor": 0.0, "advisory_mib": 1e-6}
    values = {f"shuffle__{key}": value for key, value in tiny.items()}
    with pytest.raises(ShuffleError, match=r"shuffle\.advisory_mib=1e-06: .* more than"):
        coflows(
            shuffle__partitioner="aqe_skew",
            workload__records=10**7,
            workload__maps=1000,
            workload__reducers=200,
            workload__jobs=1,
            **values,
        )


@pytest.mark.parametrize("first", ["reducers", "coflows"])
def test_tables_that_are_asked_for_later_double_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["workload=toy", "scheduler=aalo,varys", "shuffle.partitioner=hash", "executor=local"]
    words += ["output.dir=out"]
    assert main([*words, f"output.{first}=true"]) == 0
    assert main([*words, "output.reducers=true", "output.coflows=true"]) == 0
    assert len(load("out", coflows=True)) == 2 * 3
    assert len(load("out", reducers=True)) == 2 * 4
    assert len(load("out")) == 2


def test_points_without_a_shuffle_are_finished_without_reducers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["workload=toy", "scheduler=varys", "shuffle.partitioner=traced,hash"]
    words += ["output.dir=out", "executor=local"]
    for reducers, said in (("false", ""), ("true", "1 to run"), ("true", "0 to run")):
        assert main([*words, f"output.reducers={reducers}"]) == 0
        assert said in capsys.readouterr().out
