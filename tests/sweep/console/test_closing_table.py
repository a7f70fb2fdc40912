"""The closing table: which lines, which columns, what is compared, and that it stays legible."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from core.metrics import METRICS
from core.trace import BINS
from sweep.console.closing_table import closing_table, print_table
from sweep.console.failures_table import failures_table, print_failures


def row(scheduler: str, mean: float, **values: Any) -> dict[str, Any]:
    metrics: dict[str, Any] = {m.name: m.kind(mean) for m in METRICS}
    return {
        "point_id": f"{scheduler}-{mean}",
        "scheduler": scheduler,
        "engine": "coflowsim",
        "workload": "trace",
        "replicate": None,
        "seed": None,
        "width": None,
        "queue_base": None,
        "queue_count": None,
        "workload_path": "fb.txt",
        "status": "ok",
        "error": None,
        "traceback": None,
        **metrics,
        "coflows": 526,
        "share_below_1000s": 0.9696,
        "sn_mean_cct_s": None,
        "bound_s": None,
        "gap": None,
        "wall_s": 0.1,
        "host": "here",
        **values,
    }


def failed(message: str | None, k: int = 0) -> dict[str, Any]:
    broken = row("asebf", 1.0, status="error", error=message, queue_base=2.0 + k)
    return broken | {"point_id": f"id{k}", "mean_cct_s": None}


def columns(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {column.header: list(column.cells) for column in closing_table(rows).columns}


def printed(rows: list[dict[str, Any]], width: int | None = None, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding)
    options: dict[str, Any] = {"width": width} if width else {}
    console = Console(file=file, force_terminal=width is not None, color_system=None, **options)
    is_failure = any(r["status"] != "ok" for r in rows)
    (print_failures if is_failure else print_table)(rows, console)
    file.flush()
    return raw.getvalue().decode(encoding)


TWO = [row("aalo", 46.0977), row("varys", 40.7461)]


def test_numbers_are_milliseconds_with_spaces():
    table = columns(TWO)
    assert table["mean"] == ["46 097.70", "40 746.10"]
    assert table["p50"] == ["46 098", "40 746"]
    assert table["coflows"] == ["526", "526"]
    assert table["< 10^6 ms"] == ["96.96 %", "96.96 %"]
    assert table["SN"] == ["–", "–"]
    assert list(table) == [
        *("scheduler", "coflows", "mean", "p50", "p95", "max"),
        *("SN", "LN", "SW", "LW", "< 10^6 ms", "improvement"),
    ]


def test_small_times_keep_two_decimals():
    assert columns([row("aalo", 0.00325)])["p50"] == ["3.25"]


def test_the_gap_is_shown_where_there_is_a_bound():
    rows = [row("aalo", 3.0, bound_s=1.25, gap=1.4), row("varys", 2.0)]
    assert columns(rows)["gap"] == ["140 %", "–"]
    assert closing_table(rows).below == [
        "gap: mean / (a lower bound that no scheduler can beat) − 1"
    ]
    assert "gap" not in columns(TWO)


def test_of_two_the_faster_shows_its_improvement():
    # (46.0977 − 40.7461) / 46.0977 = 0.11609
    assert columns(TWO)["improvement"] == ["–", "11.6 % over aalo"]


def test_of_more_each_is_compared_with_the_first_of_the_grid():
    # (46.0977 − 45) / 46.0977 = 0.0238; slower by (69.21 − 46.0977) / 69.21 = 0.3339
    rows = [*TWO, row("asebf", 45.0), row("fair", 69.21)]
    assert columns(rows)["improvement"] == ["–", "11.6 %", "2.4 %", "−33.4 %"]
    assert closing_table(rows).above[1].endswith("over aalo")


def test_the_first_is_named_with_what_tells_it_from_its_namesakes():
    rows = [
        row("aalo", 40.0, queue_base=10.0, queue_count=10),
        row("aalo", 80.0, queue_base=2.0, queue_count=10),
        row("asebf", 60.0, queue_base=2.0, queue_count=5),
    ]
    assert columns(rows)["improvement"] == ["–", "−50.0 %", "−33.3 %"]
    assert closing_table(rows).above[1].endswith("over aalo queue.base=10")


@pytest.mark.parametrize(
    "other", [{"engine": "fluid"}, {"workload_path": "b.txt"}, {"fabric_gbps": 10.0}, {"seed": 1}]
)
def test_only_equal_conditions_are_compared(other):
    rows = [row("aalo", 50.0), row("varys", 40.0, **other)]
    assert columns(rows)["improvement"] == ["–", "–"]


def test_engine_values_that_a_scheduler_reads_are_not_conditions():
    """Rates inside a coflow are aalo's own choice: varys has none."""
    rows = [row("aalo", 50.0, engine_within="max_min"), row("varys", 40.0)]
    assert columns(rows)["improvement"] == ["–", "20.0 % over aalo"]


def test_equal_means_and_a_mean_of_zero():
    assert columns([row("a", 5.0), row("b", 5.0)])["improvement"] == ["–", "0.0 % over a"]
    assert columns([row("a", 0.0), row("b", 0.0)])["improvement"] == ["–", "–"]


def test_only_what_differs_is_a_column_and_defaults_are_not_said():
    rows = [
        row("varys", 1.0),
        row("aalo", 2.0, queue_base=2.0, queue_count=8, queue_first_threshold_mb=10.0),
        row("aalo", 3.0, queue_base=10.0, queue_count=8, queue_first_threshold_mb=10.0),
    ]
    table = closing_table(rows)
    assert table.above == [
        "CCT in ms: workload=trace engine=coflowsim queue.count=8 workload.path=fb.txt; "
        "other keys: defaults",
        "improvement: (slow − fast) / slow of the mean, over varys",
    ]
    assert columns(rows)["queue.base"] == ["–", "2", "10"]
    assert "queue.count" not in columns(rows)


def test_values_read_as_on_the_command_line():
    rows = [
        row("a", 1.0, engine_backfill=True, queue_first_threshold_mb=0.1, workload_path="a b.txt"),
        row("a", 2.0, engine_backfill=False, queue_first_threshold_mb=1e6, workload_path="a b.txt"),
    ]
    table = columns(rows)
    assert table["engine.backfill"] == ["true", "false"]
    assert table["queue.first_threshold_mb"] == ["0.1", "1000000"]
    assert closing_table(rows).above[0].endswith("workload.path='a b.txt'; other keys: defaults")


def test_replicates_are_averaged_with_a_t_interval():
    # mean of 40, 42, 44 is 42, s = 2; half-width t(2) s / √3 = 4.302653 × 2 / √3 = 4.968276
    rows = [row("varys", 40.0 + 2 * k, replicate=k, seed=7 + k) for k in range(3)]
    rows += [row("aalo", 50.0, replicate=k, seed=7 + k) for k in range(3)]
    table = columns(rows)
    assert table["scheduler"] == ["varys", "aalo"]
    assert table["mean"] == ["42 000.00", "50 000.00"]
    assert table["±"] == ["4 968.28", "0.00"]
    assert table["n"] == ["3", "3"]
    assert table["improvement"] == ["16.0 % over aalo", "–"]


def test_unequal_sets_of_replicates_are_not_compared():
    """And the table says why: one of aalo's points may have failed."""
    rows = [row("varys", 40.0, replicate=k) for k in range(3)]
    rows += [row("aalo", 50.0, replicate=k) for k in range(2)]
    assert columns(rows)["improvement"] == ["–", "–"]
    assert "some means are over other replicates" in printed(rows)
    assert "other replicates" not in printed([*rows, row("aalo", 50.0, replicate=2)])
    apart = [*rows[:3], row("aalo", 50.0, replicate=0, workload="other")]
    assert "other replicates" not in printed(apart)


def test_a_schedule_that_meets_the_bound_has_no_gap():
    """98 ms summed up in floating point is 97.99999999999999 ms; no table says -0 %."""
    rows = [row("fair", 0.09799999999999999, bound_s=0.098, gap=0.0)]
    assert columns(rows)["gap"] == ["0 %"]


def test_points_that_failed_are_not_in_the_table():
    assert columns([*TWO, failed("no")])["scheduler"] == ["aalo", "varys"]
    assert closing_table([failed("no")]).above == ["no point is finished"]
    assert printed([]) == "no point is finished\n"


def test_more_than_forty_lines_show_the_best_and_the_worst():
    rows = [row("asebf", 100.0 - k, queue_base=2.0 + k) for k in range(41)]
    table = columns(rows)
    assert len(table["mean"]) == 25
    assert table["mean"][:2] == ["100 000.00", "60 000.00"]
    assert table["mean"][20:22] == ["79 000.00", "96 000.00"]
    assert "lines left out: these are the first, the 20 best and the 5 worst" in printed(rows)
    assert len(columns(rows[:40])["mean"]) == 40


def test_without_a_terminal_nothing_folds_and_nothing_is_left_out():
    rows = [row("aalo", 46.0977, workload_path="x" * 300), row("varys", 40.7, workload_path="y")]
    lines = printed(rows).splitlines()
    assert len(lines) == 5
    assert "x" * 300 in lines[3]
    assert "46 097.70" in lines[3]
    assert "improvement" in lines[1]


@pytest.mark.parametrize("width", range(48, 170, 3))
def test_on_a_narrow_terminal_columns_go_and_numbers_stay_whole(width):
    rows = [
        row("aalo", 46.0977, queue_base=10.0),
        row("asebf", 42.0, queue_base=2.0, width="receiver"),
    ]
    text = printed(rows, width)
    assert max(map(len, text.splitlines())) <= width
    for number in ("46 097.70", "42 000.00"):
        assert number in text
    heads = text.splitlines()[1:4]
    assert any("scheduler" in line for line in heads)
    gone = text.partition("left out on this narrow terminal:")[2].split()
    order = [*BINS, "<", "10^6", "ms", "p50", "max", "p95", "coflows"]
    assert gone == order[: len(gone)]


def test_bins_go_first():
    text = printed(TWO, 100)
    assert "left out on this narrow terminal: SN LN SW LW\n" in text
    assert "p50" in text


@pytest.mark.parametrize("width", [None, 200])
def test_text_that_looks_like_markup_is_printed_as_it_is(width):
    rows = [
        row("aalo", 2.0, workload_path="[red]a[/red].txt"),
        row("aalo", 1.0, workload_path="[/]b:smile:.txt"),
    ]
    text = printed(rows, width)
    assert "[red]a[/red].txt" in text
    assert "[/]b:smile:.txt" in text
    assert "[bold]x[/bold] \\x1b[31m" in printed([failed("E: [bold]x[/bold] \x1b[31m")], width)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_other_encodings_than_utf_8(encoding):
    rows = [row("aalo", 46.0977 + k, replicate=k, workload_path="Γ.txt") for k in range(2)]
    text = printed([*rows, row("varys", 1.0, width="max")], encoding=encoding)
    assert "46 597.70" in text
    assert "Gamma.txt" in text
    assert ("+- is half" if encoding == "ascii" else "± is half") in text
    assert set("–─│") & set(text) == set()


def test_failures_are_listed_with_what_tells_them_apart():
    rows = [row("varys", 1.0), failed("ValueError: no\nmore", 1), failed(None, 2)]
    rows[2]["status"] = "timeout"
    lines = [line.rstrip() for line in printed(rows).splitlines()]
    assert lines[0] == "2 of 3 points failed"
    assert lines[3].split() == ["id1", "asebf", "queue.base=3", "error", "ValueError:", "no"]
    assert lines[4].split() == ["id2", "asebf", "queue.base=4", "timeout", "(no", "message)"]
    assert failures_table(TWO).above == ["no point failed"]


def test_many_failures_are_counted_by_message():
    rows = [failed(f"E{k % 2 if k < 30 else k}", k) for k in range(60)]
    table = {c.header: list(c.cells) for c in failures_table(rows).columns}
    assert table["points"] == ["15", "15", *["1"] * 18]
    assert table["message"][:3] == ["E0", "E1", "E30"]
    assert table["point_id"][:3] == ["id0", "id1", "id30"]
    text = printed(rows)
    assert "60 of 60 points failed; by message, with the first point of each" in text
    assert "12 more messages; the dataset has all" in text


def test_rows_of_pandas_have_nan_for_missing():
    rows = [row("varys", 1.0, queue_base=float("nan")), row("aalo", 2.0, queue_base=2.0)]
    assert "queue.base=2" in closing_table(rows).above[0]


def test_the_gap_of_replicates_is_that_of_their_means() -> None:
    """(10 + 30) / (4 + 20) − 1 = 67 %, and not the mean of 150 % and 50 %."""
    one = {**row("aalo", 10.0), "replicate": 0, "bound_s": 4.0, "gap": 1.5}
    other = {**row("aalo", 30.0), "replicate": 1, "bound_s": 20.0, "gap": 0.5}
    assert columns([one, other])["gap"] == ["67 %"]
