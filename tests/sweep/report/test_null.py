"""An axis over ``null``: a key that is read and has no value is not a key that is not read."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from core.errors import InputError
from sweep.report.build import table_of
from sweep.report.data import ReportData
from sweep.report.effects import cube_of
from sweep.report.sources import in_memory, open_runs
from tests.report_data import sweep

RATES = {0.05: 0.0, 0.2: 4.0}


def points() -> pd.DataFrame:
    """Return the rows of partitioner × slots × rate, as `sweep.load` has them.

    scid reads both keys: its mean CCT is 10 with all map tasks at a time (null) and 16 with two,
    and 4 more at rate 0.2. hash reads neither: one point of 30 in all four rows.
    """
    rows = []
    for name, slots, rate in product(["hash", "scid"], [None, 2], RATES):
        cct = 30.0 if name == "hash" else (10.0 if slots is None else 16.0) + RATES[rate]
        point = "hash" if name == "hash" else f"{slots} {rate}"
        rows.append((point, name, slots, rate, cct))
    columns = ["point_id", "shuffle_partitioner", "shuffle_slots", "shuffle_sampling_rate"]
    frame = pd.DataFrame(rows, columns=[*columns, "mean_cct_s"])
    return frame.astype({"shuffle_slots": "Int64"}).assign(
        **{"scheduler": "asebf", "engine": "fluid", "workload": "shuffle_jobs", "status": "ok"},
        **{"shuffle_map_s_per_record": 1.0, "replicate": 0, "seed": 0, "fos_records": 1.0},
    )


@pytest.fixture(scope="module")
def data() -> ReportData:
    return in_memory(points())


def test_null_is_a_value_of_the_axis(data: ReportData) -> None:
    assert data.axes == ["shuffle_partitioner", "shuffle_slots", "shuffle_sampling_rate"]
    assert cube_of(data).values("shuffle_slots") == ["2", "null"]


def test_settings_with_null_are_not_replicates_of_others(data: ReportData) -> None:
    found = data.settings.set_index("label")["mean_cct_s"]
    assert set(data.settings["n"]) == {1}
    name = "asebf shuffle.partitioner=scid shuffle.sampling_rate={} shuffle.slots={}"
    labels = {
        tuple(sorted(label.split()[1:])): value for label, value in found.items() if " " in label
    }
    for slots, rate in product(["null", "2"], RATES):
        words = tuple(sorted(name.format(rate, slots).split()[1:]))
        assert labels[words] == (10 if slots == "null" else 16) + RATES[rate]
    assert labels[("shuffle.partitioner=hash",)] == 30


def test_effects_are_those_of_the_points_that_read_the_key(data: ReportData) -> None:
    """scid alone: (10 + 14) / 2 = 12 with null, (16 + 20) / 2 = 18 with 2."""
    found = table_of("tornado", data).table.query("metric == 'mean_cct_s'").set_index("key")
    slots = found.loc["shuffle.slots"]
    assert (slots["low_at"], slots["high_at"]) == ("null", "2")
    assert (slots["low"], slots["high"], slots["mean"]) == (12, 18, 15)
    assert slots["variance_share"] == pytest.approx(9 / 13)  # 3² of 3² + 2²
    pairs = table_of("interactions", data).table.set_index("pair")
    assert pairs.loc["shuffle.slots × shuffle.sampling_rate", "interaction_share"] == pytest.approx(
        0.0, abs=1e-12
    )


def test_maps_have_a_cell_for_null(data: ReportData) -> None:
    only = data.where({"shuffle.partitioner": "scid"})
    heat = table_of("heat", only).table
    cells = {
        (str(r["shuffle_slots"]), r["shuffle_sampling_rate"]): r["mean_cct_s"]
        for r in heat.to_dict("records")
    }
    assert cells == {("null", 0.05): 10, ("null", 0.2): 14, ("2", 0.05): 16, ("2", 0.2): 20}
    wins = table_of("wins", only).table
    assert set(wins["winner"]) == {"null"}
    assert wins["mean_cct_s"].tolist() == [10, 14]


def test_a_filter_tells_null_from_not_read(data: ReportData) -> None:
    null = data.where({"shuffle.slots": "null"})
    assert null.grid.equals(data.where({"shuffle.slots": None}).grid)
    assert sorted(null.points["mean_cct_s"]) == [10, 14, 30]  # hash: as the grid asks
    assert sorted(null.settings["mean_cct_s"]) == [10, 14, 30]
    toy = (
        points()
        .iloc[:1]
        .assign(
            **{
                "workload": "toy",
                "point_id": "toy",
                "mean_cct_s": 5.0,
                "shuffle_partitioner": None,
            },
            **{"shuffle_slots": pd.NA, "shuffle_sampling_rate": None},
        )
    )
    both = in_memory(pd.concat([points(), toy], ignore_index=True))
    assert "toy" not in set(both.where({"shuffle.slots": "null"}).grid["workload"])
    unread = both.where({"shuffle.slots": "–"}).grid
    assert set(unread["workload"]) == {"toy", "shuffle_jobs"}
    assert set(unread["shuffle_partitioner"].dropna()) == {"hash"}
    with pytest.raises(InputError, match=r"shuffle\.slots=3: no row has this value"):
        both.where({"shuffle.slots": 3})


def test_a_sweep_over_null(tmp_path: Path) -> None:
    """The same from a dataset, where an Int64 column has the nulls."""
    words = ("workload=shuffle_jobs", "workload.records=1000", "workload.jobs=2")
    more = ("shuffle.keys=50", "shuffle.partitioner=hash,scid", "shuffle.map_s_per_record=0.01")
    run = sweep(tmp_path / "run", *words, *more, "shuffle.slots=null,2", "scheduler=asebf")
    data = open_runs([run])
    assert data.axes == ["shuffle_partitioner", "shuffle_slots"]
    assert data.settings["label"].tolist() == [
        "asebf shuffle.partitioner=hash",
        "asebf shuffle.partitioner=scid shuffle.slots=null",
        "asebf shuffle.partitioner=scid shuffle.slots=2",
    ]
    assert set(data.settings["n"]) == {1}
    assert len(data.where({"shuffle.slots": "null"}).points) == 2
