"""Figures of shuffles: an interval is over replicates, everything else has its own line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sweep import load
from sweep.report.build import table_of
from sweep.report.sources import in_memory, open_runs
from tests.report_data import sweep

SMALL = (
    *("workload=shuffle_jobs", "workload.records=1000", "workload.jobs=2", "shuffle.keys=50"),
    *("workload.maps=3", "workload.reducers=3", "output.reducers=true"),
    *("shuffle.partitioner=hash,scid", "shuffle.zipf=0.5,1", "shuffle.sampling_rate=0.05,0.2"),
)


@pytest.fixture(scope="module")
def knobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("knobs") / "run"
    return sweep(place, *SMALL, "scheduler=asebf", "shuffle.min_hits=0,5", "replicates=2")


@pytest.mark.parametrize("name", ["fos_rate", "fos_zipf", "sampling_gain"])
def test_each_value_that_a_partitioner_reads_has_a_line(name: str, knobs: Path) -> None:
    table = table_of(name, open_runs([knobs])).table
    lines = ["scid shuffle.min_hits=0", "scid shuffle.min_hits=5"]
    assert [n for n in dict.fromkeys(table["line"]) if n != "hash"] == lines
    if "n" in table:
        assert set(table["n"]) == {2}
        assert "hash" in set(table["line"])


def test_without_replicates_there_is_no_interval(knobs: Path) -> None:
    rows = load(knobs)
    alone = in_memory(rows[rows["replicate"] == 0])
    for name in ("fos_rate", "fos_zipf"):
        drawn = table_of(name, alone)
        assert set(drawn.table["n"]) == {1}
        assert not [n for n in drawn.table if str(n).endswith("_half")]
        assert not any(axis.error for axis in drawn.chart.y)
    row = rows.query("shuffle_partitioner == 'scid' and shuffle_min_hits == 5 and replicate == 0")
    found = table_of("fos_rate", alone).table.query("line == 'scid shuffle.min_hits=5'")
    assert sorted(found["fos_records"]) == pytest.approx(
        sorted(row.drop_duplicates("point_id")["fos_records"])
    )


def test_engines_and_parameters_of_schedulers_are_chosen(tmp_path: Path) -> None:
    words = ("scheduler=aalo,asebf", "queue.base=2,4", "engine=fluid,coflowsim")
    run = sweep(tmp_path / "run", *SMALL, *words)
    for name in ("fos_rate", "fos_zipf"):
        drawn = table_of(name, open_runs([run]))
        assert set(drawn.table["n"]) == {1}
        assert {"setting", "engine"} <= {*drawn.chart.select}
        assert {"aalo queue.base=2", "aalo queue.base=4"} <= {*drawn.table["setting"]}
        where = [*drawn.chart.select, "line", drawn.chart.x[0].column]
        assert not drawn.table.duplicated([*dict.fromkeys(where)]).any()


def test_loads_of_reducers_have_a_line_for_each_parameter_of_a_partitioner(knobs: Path) -> None:
    """The fullest bucket over the mean of its job, by hand from the dataset."""
    table = table_of("reducer_loads", open_runs([knobs])).table
    names = [f"scid s={s} shuffle.min_hits={h}" for h in (0, 5) for s in ("0.05", "0.2")]
    assert {*table["partitioner"]} == {"hash", *names}
    rows = load(knobs, reducers=True)
    for hits, rate, zipf in ((0, 0.05, 0.5), (5, 0.05, 0.5), (5, 0.2, 1.0)):
        mine = rows[
            (rows["shuffle_partitioner"] == "scid")
            & (rows["shuffle_min_hits"] == hits)
            & (rows["shuffle_sampling_rate"] == rate)
            & (rows["shuffle_zipf"] == zipf)
        ]
        assert mine["point_id"].nunique() == 2  # replicates
        jobs = mine.groupby(["point_id", "job"])["records"]
        line = table[table["partitioner"] == f"scid s={rate} shuffle.min_hits={hits}"]
        first = line[(line["shuffle_zipf"] == zipf) & (line["rank"] == 1)]["records_load"]
        assert first.tolist() == pytest.approx([(jobs.max() / jobs.mean()).mean()])


def test_rates_that_auto_weighs_have_a_line_for_each_parameter(tmp_path: Path) -> None:
    words = [w for w in SMALL if "sampling_rate" not in w and "partitioner" not in w]
    costs = ("shuffle.map_s_per_record=0.001", "shuffle.reduce_s_per_record=0.001")
    auto = ("shuffle.partitioner=scid", "shuffle.sampling_rate=auto", "shuffle.min_hits=0,5")
    run = sweep(tmp_path / "run", *words, *costs, *auto, "scheduler=asebf")
    table = table_of("rate_curve", open_runs([run])).table
    assert {*table["line"]} == {"scid shuffle.min_hits=0", "scid shuffle.min_hits=5"}
    rows = load(run, rates=True)
    for hits in (0, 5):
        mine = rows[(rows["shuffle_min_hits"] == hits) & (rows["shuffle_zipf"] == 0.5)]
        rate = mine["rate"].min()
        line = table[table["line"] == f"scid shuffle.min_hits={hits}"]
        line = line[(line["shuffle_zipf"] == 0.5) & (line["rate"] == rate)]
        wanted = mine[mine["rate"] == rate]["actual_fos"].mean()
        assert line["actual_fos"].tolist() == pytest.approx([wanted])


def test_shuffles_are_averaged_over_common_replicates(knobs: Path) -> None:
    """Without replicate 1 of one setting, all lines are those of replicate 0."""
    rows = load(knobs)
    lost = (rows["replicate"] == 1) & (rows["shuffle_partitioner"] == "hash")
    lost &= rows["shuffle_zipf"] == 0.5
    part = table_of("fos_rate", in_memory(rows[~lost]))
    alone = table_of("fos_rate", in_memory(rows[rows["replicate"] == 0])).table
    assert set(part.table["n"]) == {1}
    assert part.table["fos_records"].tolist() == alone["fos_records"].tolist()
    assert "Only replicates that all settings have are averaged" in part.chart.note
