"""Reports: files, their numbers, what is said about bad input."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from sweep import load
from sweep.report import plot
from sweep.report.__main__ import main
from sweep.report.build import draw_all, rounded, table_of
from sweep.report.drawing.page import embedded
from sweep.report.figures import figures
from sweep.report.sources import open_runs
from sweep.store.files import Folder
from tests.report_data import AUTO, GRID, sweep

HOSTILE = "</script><img src=x onerror=alert(1)>&\u2028"


def content(report: Path) -> dict[str, Any]:
    text = (report / "index.html").read_text()
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return dict(json.loads(data))


def test_every_figure_is_drawn_from_one_of_the_runs(reports: dict[str, Path]) -> None:
    drawn = {path.stem for report in reports.values() for path in report.glob("*.svg")}
    assert drawn == {*figures()} - {"compare"}
    for report in reports.values():
        for svg in report.glob("*.svg"):
            assert svg.with_suffix(".png").stat().st_size > 1000
            assert svg.with_suffix(".csv").stat().st_size > 10


def test_the_page_has_the_numbers_of_the_csv(reports: dict[str, Path]) -> None:
    for report in reports.values():
        for figure in content(report)["figures"]:
            csv = pd.read_csv(report / f"{figure['name']}.csv")
            assert len(csv) == figure["table"]["rows"]
            for name, column in figure["table"]["data"].items():
                if pd.api.types.is_numeric_dtype(csv[name]) and csv[name].notna().any():
                    np.testing.assert_array_equal(
                        pd.to_numeric(pd.Series(column, dtype=object)).to_numpy(float),
                        csv[name].to_numpy(float),
                    )


def test_the_average_and_the_improvement_are_those_of_the_dataset(runs: dict[str, Path]) -> None:
    table = load(runs["grid"])
    found = table_of("average_cct", open_runs([runs["grid"]])).table
    for row in found.to_dict("records"):
        same = table[(table["scheduler"] == row["scheduler"]) & (table["engine"] == row["engine"])]
        for name in ("width", "queue_first_threshold_mb"):
            if not pd.isna(row[name]):
                same = same[same[name] == row[name]]
        values = same.drop_duplicates("point_id")["mean_cct_s"]
        assert len(values) == row["n"] == 3
        assert row["mean_cct_s"] == pytest.approx(values.mean(), rel=1e-8)
        half = 4.302653 * values.std(ddof=1) / np.sqrt(3)  # Student's t at 97.5 %, 2 degrees
        assert row["mean_cct_s_half"] == pytest.approx(half, rel=1e-6)
    fluid = found[found["engine"] == "fluid"]
    first, last = fluid["mean_cct_s"].iloc[0], fluid["mean_cct_s"].iloc[-1]
    gain = (max(first, last) - min(first, last)) / max(first, last)
    assert abs(fluid["improvement"].iloc[-1]) == pytest.approx(gain, rel=1e-6)
    assert (fluid["improvement"].iloc[-1] > 0) == (last < first)


def test_the_cdf_says_what_share_of_coflows_is_done(runs: dict[str, Path]) -> None:
    coflows = load(runs["toy"], coflows=True)
    found = table_of("cdf", open_runs([runs["toy"]])).table
    varys = found[found["label"] == "varys"]
    assert varys["cct_s"].tolist() == [2.0, 5.0, 6.0]
    assert varys["share"].round(6).tolist() == [0.333333, 0.666667, 1.0]
    assert set(found["cct_s"]) == set(coflows["cct_s"])


def test_the_schedule_of_the_worked_example(runs: dict[str, Path]) -> None:
    """Varys: coflow 1 has its ports until 2, coflow 3 then until 5 and coflow 2 until 6."""
    found = table_of("gantt", open_runs([runs["toy"]])).table
    varys = found[found["setting"] == "varys"].drop(columns=["setting", "mean_cct_s", "rate"])
    assert {tuple(row) for row in varys.itertuples(index=False)} == {
        ("host 0 sends", "1", 0.0, 2.0),
        ("host 0 sends", "2", 2.0, 6.0),
        ("host 1 sends", "1", 0.0, 2.0),
        ("host 1 sends", "3", 2.0, 5.0),
        ("host 1 receives", "1", 0.0, 2.0),
        ("host 1 receives", "2", 2.0, 6.0),
        ("host 2 receives", "1", 0.0, 2.0),
        ("host 2 receives", "3", 2.0, 5.0),
    }
    ends = found.groupby(["setting", "coflow"])["end_s"].max()
    sizes = found.assign(s=(found["end_s"] - found["start_s"]) * found["rate"])
    moved = sizes.groupby(["setting", "port", "coflow"])["s"].sum().round(9)
    assert set(moved) == {2.0, 3.0, 4.0}
    aalo = "aalo queue.threshold_mode=per_queue"
    assert [ends[aalo, k] for k in "123"] == [5.0, 6.0, 4.5]


@pytest.mark.usefixtures("few_figures")
def test_two_runs_side_by_side(runs: dict[str, Path], tmp_path: Path) -> None:
    other = sweep(tmp_path / "other", *GRID, "fabric.gbps=2")
    assert main([str(runs["grid"]), str(other), "--out", str(tmp_path / "r")]) == 0
    # coflowsim does not read the capacity: those points are the same; the others share nothing.
    compared = pd.read_csv(tmp_path / "r" / "compare.csv")
    assert set(compared["engine"]) == {"coflowsim"}
    assert compared["same_point"].all()
    assert (compared["a"] == compared["b"]).all()
    average = pd.read_csv(tmp_path / "r" / "average_cct.csv")
    assert set(average["run"]) == {"grid", "other"}


def test_a_notebook_draws_in_one_line(runs: dict[str, Path]) -> None:
    for name, table in (
        ("average_cct", load(runs["grid"])),
        ("cdf", load(runs["grid"], coflows=True)),
        ("reducer_loads", load(runs["shuffle"], reducers=True).assign(fos_records=1.0)),
    ):
        assert plot(name, table).axes
    figure = plot("average_cct", runs["grid"], where={"engine": "fluid"})
    assert len(figure.axes) == 1
    with pytest.raises(InputError, match=r"no figure 'cfd'.*did you mean 'cdf'"):
        plot("cfd", runs["grid"])
    with pytest.raises(InputError, match=r"give load\(…, coflows=True\)"):
        plot("cdf", load(runs["grid"]))
    with pytest.raises(InputError, match="no row has this value; its values are"):
        plot("average_cct", runs["grid"], where={"engine": "fliud"})


@pytest.mark.usefixtures("few_figures")
def test_a_run_that_is_not_finished_says_so(
    runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "open"
    shutil.copytree(runs["toy"], place)
    manifest = json.loads((place / "manifest.json").read_text())
    (place / "manifest.json").write_text(json.dumps(manifest | {"state": "running"}))
    (part,) = sorted((place / "results").glob("*.parquet"))
    frame = load(runs["toy"])
    import pyarrow.parquet as pq

    pq.write_table(pq.read_table(part).slice(0, 2), part)
    assert main([str(place), "--out", str(tmp_path / "r")]) == 0
    left = frame["point_id"].nunique()
    assert f"not finished (running): 2 of {left} points have a result" in capsys.readouterr().err
    assert any("not finished" in text for text in content(tmp_path / "r")["notices"])


def test_a_run_with_only_failures(
    tmp_path: Path, runs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = tmp_path / "bad"
    shutil.copytree(runs["toy"], place)
    (part,) = sorted((place / "results").glob("*.parquet"))
    table = pq.read_table(part)
    for name, value in (("status", "error"), ("error", f"Boom: {HOSTILE}")):
        at = table.schema.get_field_index(name)
        column = pa.array([value] * len(table), pa.string())
        table = table.set_column(at, table.schema.field(at), column)
    pq.write_table(table, part)
    assert main([str(place), "--out", str(tmp_path / "r")]) == 1
    said = capsys.readouterr()
    assert said.err.splitlines() == [
        "every point that ran has failed, so there is nothing to draw: see Failures on the page."
    ]
    assert said.out.splitlines()[0] == "no figure: nothing to draw"
    page = content(tmp_path / "r")
    assert page["figures"] == []
    assert "nothing to draw" in page["notices"][0]
    assert sorted(p.name for p in (tmp_path / "r").iterdir()) == ["index.html"]
    (failures,) = page["tables"]
    assert set(failures["table"]["data"]["error"]) == {f"Boom: {HOSTILE}"}
    assert "<img" not in (tmp_path / "r" / "index.html").read_text().split("<script>")[0]


def test_one_point(tmp_path: Path) -> None:
    one = sweep(tmp_path / "one", "workload=toy", "scheduler=varys")
    found, missing = draw_all(open_runs([one]))
    assert {d.name for d in found} == {"average_cct", "gap", "gantt"}
    assert missing["heat"] == "fewer than two axes have several values"


def test_bad_input_is_named(
    tmp_path: Path, runs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "old"
    shutil.copytree(runs["toy"], place)
    manifest = json.loads((place / "manifest.json").read_text())
    (place / "manifest.json").write_text(json.dumps(manifest | {"schema_version": 99}))
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    begun, damaged = tmp_path / "begun", tmp_path / "damaged"
    begun.mkdir()
    shutil.copy(runs["toy"] / "manifest.json", begun)
    shutil.copytree(runs["toy"], damaged)
    for part in (damaged / "results").glob("*.parquet"):
        part.write_bytes(part.read_bytes()[:100])
    toy = str(runs["toy"])
    for words, message in (
        ([str(tmp_path)], "is not a dataset"),
        ([str(tmp_path / "nowhere")], "does not exist"),
        ([str(tmp_path / "empty")], "does not exist or is empty"),
        ([str(tmp_path / "file")], "give output.dir of a sweep"),
        ([str(begun)], "the sweep has only begun"),
        ([str(damaged)], "is damaged"),
        ([toy, "--where", "engine=coflowsim"], "no row has this value; its values are fluid"),
        ([str(place)], "schema version 99"),
        ([toy, toy, toy], "3 datasets"),
        ([toy, "--where", "sheduler=varys"], "did you mean 'scheduler'"),
        ([toy, "--where", "scheduler"], "key=value"),
        ([toy, "--out", str(tmp_path / "file")], "is a file: name a directory"),
        ([toy, "--out", ""], "--out is empty"),
        ([toy, "--out", "s3://bucket/report"], "into a local directory"),
        ([toy, "--out", str(tmp_path / "file" / "r")], "cannot write"),
    ):
        assert main(words) == 2, words
        said = capsys.readouterr().err
        assert message in said
        assert said.startswith("error: ")
        assert said.count("\n") == 1


def test_a_directory_that_is_being_written_to(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts that are merged between listing and reading are read again, as they are then."""
    place = tmp_path / "open"
    shutil.copytree(runs["toy"], place)
    (part,) = sorted((place / "coflows").glob("*.parquet"))
    read, gone = Folder.read_table, [part.name]

    def merged(self: Folder, name: str, *more: Any) -> Any:
        if gone and name.endswith(gone[0]):
            gone.pop()
            part.rename(part.with_name("part-000077.parquet"))
        return read(self, name, *more)

    monkeypatch.setattr(Folder, "read_table", merged)
    found = table_of("cdf", open_runs([place])).table
    assert not gone
    monkeypatch.undo()
    assert found.equals(table_of("cdf", open_runs([runs["toy"]])).table)


def test_auto_is_called_auto(tmp_path: Path, draw_only: Callable[..., None]) -> None:
    draw_only("average_cct", "heat", "fos_rate", "fos_zipf", "sampling_gain", "reducer_loads")
    words = [w for w in AUTO if "sampling_rate" not in w and "partitioner" not in w]
    more = ("shuffle.partitioner=hash,scid", "shuffle.sampling_rate=0.05,auto,0.2")
    run = sweep(tmp_path / "auto", *words, *more, "shuffle.zipf=0.5,1", "output.coflows=true")
    assert main([str(run), "--out", str(tmp_path / "r")]) == 0
    names = {"settings", "fos_rate", "fos_zipf", "sampling_gain"}
    for name in names:
        csv = pd.read_csv(tmp_path / "r" / f"{name}.csv", dtype=str)
        assert set(csv["shuffle_sampling_rate"].dropna()) == {"0.05", "auto", "0.2"}, name
    loads = pd.read_csv(tmp_path / "r" / "reducer_loads.csv")
    assert list(dict.fromkeys(loads["partitioner"])) == [
        *("hash", "scid s=0.05", "scid s=auto", "scid s=0.2")
    ]
    page = content(tmp_path / "r")
    axes = {axis["title"]: axis["values"] for axis in page["cube"]["axes"]}
    assert axes["shuffle.sampling_rate"] == ["0.05", "0.2", "auto"]
    labels = next(f for f in page["figures"] if f["name"] == "average_cct")["table"]["data"]
    assert "asebf shuffle.partitioner=scid shuffle.sampling_rate=auto" in labels["label"]
    # In the figure over the rate it stands at the rate that it chose.
    table = load(run).query("shuffle_partitioner == 'scid' and shuffle_sampling_rate == 0")
    chosen = pd.read_csv(tmp_path / "r" / "fos_rate.csv").query("line == 'scid at auto'")
    assert chosen["rate"].tolist() == pytest.approx(table["sampled_share"].tolist())
    only = open_runs([run]).where({"shuffle.sampling_rate": "auto"})
    assert set(only.grid["shuffle_sampling_rate"]) == {"auto"}


def test_embedded_data_cannot_end_its_script() -> None:
    text = embedded({"a": HOSTILE})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": HOSTILE}


def test_numbers_are_rounded_once() -> None:
    table = pd.DataFrame({"a": [46.0977034220532, np.nan, 0.0, -1e-9 / 3], "b": [1, 2, 3, 4]})
    found = rounded(table)
    assert found["a"].tolist()[0] == 46.0977034
    assert found["a"].tolist()[3] == -3.33333333e-10
    assert found["b"].equals(table["b"])
