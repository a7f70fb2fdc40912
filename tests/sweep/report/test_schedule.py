"""Schedules that the report works out again: any small workload, the times of the run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sweep import load
from sweep.report.build import table_of
from sweep.report.figures import NothingToDrawError
from sweep.report.sources import in_memory, open_runs
from tests.report_data import sweep

TRACE = """4 3
7 0 2 0 1 2 2:10 3:5
8 100 1 2 1 0:20
9 100 1 0 2 1:4 2:6
"""
JOBS = (
    *("workload=shuffle_jobs", "workload.records=2000", "workload.jobs=3", "shuffle.keys=200"),
    *("workload.maps=3", "workload.reducers=3"),
)
CLASSES = ("workload.classes='1-3:1-10'", "workload.fractions='1'")
WORKLOADS = {
    "custom": ("workload=custom", "workload.coflows=6", "workload.ports=6", *CLASSES),
    "fb_like": ("workload.coflows=8", "workload.ports=6", "replicates=2"),
    "seeds": ("workload.coflows=5", "workload.ports=5", "seed=3,4"),
    "own_seed": ("workload.coflows=5", "workload.ports=5", "workload.seed=7,null"),
    "trace": ("workload=trace", "workload.path=trace.txt", "fabric.gbps=0.5,2"),
    "redrawn": ("workload=trace", "workload.path=trace.txt", "shuffle.partitioner=hash,scid"),
    "partitioners": (*JOBS, "shuffle.partitioner=hash,scid,lpt_split,krhp,salt,aqe_skew"),
    "rates": (*JOBS, "shuffle.partitioner=hash,scid", "shuffle.sampling_rate=0.05,0.2"),
    "auto": (
        *(*JOBS, "shuffle.partitioner=hash,scid", "shuffle.sampling_rate=auto"),
        *("shuffle.map_s_per_record=0.001", "shuffle.reduce_s_per_record=0.001"),
    ),
    "slots": (*JOBS, "shuffle.partitioner=scid", "shuffle.slots=null,2", "workload.ports=9"),
    "queues": ("workload=toy", "queue.between=strict,wfq", "queue.base=2,4"),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_any_small_workload_has_its_schedule(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each coflow's last stretch ends when the run has it end, and it moves what it has to."""
    trace = tmp_path / "trace.txt"
    trace.write_text(TRACE)
    monkeypatch.chdir(tmp_path)
    words = [w.replace("trace.txt", str(trace)) for w in WORKLOADS[name]]
    several = "asebf,varys" if name == "partitioners" else "asebf,varys,fair,srpt"
    run = sweep(tmp_path / "run", *words, f"scheduler={several}", "output.coflows=true")
    data = open_runs([run])
    found = table_of("gantt", data).table
    coflows = load(run, coflows=True)
    first = data.points.drop_duplicates([*data.context, *data.knobs])
    assert found["setting"].nunique() == len(first)
    for (_, spans), point in zip(
        found.groupby("setting", sort=False), first["point_id"], strict=True
    ):
        own = coflows[coflows["point_id"] == point].set_index("coflow_id")
        own = own[own["size_bytes"] > 0].sort_index()
        ends = spans.assign(coflow=spans["coflow"].astype(int)).groupby("coflow")["end_s"].max()
        pd.testing.assert_series_equal(
            ends.sort_index(), own["finish_s"], check_names=False, check_index_type=False, rtol=1e-6
        )
        gbps = own["fabric_gbps"].iloc[0] * 125e6
        moved = (spans["end_s"] - spans["start_s"]) * spans["rate"] * gbps
        sent = moved[spans["port"].str.contains("sends")].sum()
        assert sent == pytest.approx(own["size_bytes"].sum(), rel=1e-5)
        assert np.all(spans["rate"] <= 1 + 1e-9)


def test_why_there_is_no_schedule_is_said_in_one_line(tmp_path: Path) -> None:
    trace = tmp_path / "trace.txt"
    trace.write_text(TRACE)
    own = (
        "workload=trace",
        f"workload.path={trace}",
        "scheduler=asebf",
        "engine=fluid,coflowsim",
        "output.coflows=true",
    )
    run = sweep(tmp_path / "run", *own)
    drawn = table_of("gantt", open_runs([run]))
    assert drawn.table["setting"].unique().tolist() == ["asebf engine=fluid"]
    reason = "asebf engine=coflowsim (only engine=fluid has exact schedules)"
    assert f"Settings not shown: {reason}." in drawn.chart.note
    # A dataset of coflows in memory does as well.
    in_notebook = in_memory(load(run, coflows=True))
    assert table_of("gantt", in_notebook).table["setting"].unique().tolist() == [
        "asebf engine=fluid"
    ]
    trace.write_text(TRACE.replace("2:10", "2:11"))
    assert "has changed since the sweep" in why(run)
    trace.unlink()
    assert str(trace) in why(run)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("workload=toy", "engine=coflowsim"), "only engine=fluid"),
        (("workload=toy", "engine.trigger=coflow"), "engine.trigger=flow"),
        (("workload.coflows=13", "workload.ports=5"), "more than 12 coflows"),
        (("workload.coflows=12", "workload.ports=60"), "more than 24 ports in use"),
    ],
)
def test_points_without_a_schedule_are_left_out_with_a_reason(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    assert said in why(sweep(tmp_path / "run", *words, "scheduler=asebf"))


def why(run: Path) -> str:
    with pytest.raises(NothingToDrawError) as caught:
        table_of("gantt", open_runs([run]))
    assert "\n" not in str(caught.value)
    return str(caught.value)
