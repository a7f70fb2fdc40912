"""The index of keys: column of a key, key of a column, and what belongs to the context."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import ParameterError
from core.keys import (
    REPEATS,
    SEED_KEYS,
    column_of,
    declarations,
    is_context,
    key_of,
    parameters,
)
from tests.dropped_in import DEADLINE, command, drop


def test_every_key_is_the_key_of_its_column() -> None:
    assert [key_of(column_of(key)) for key in parameters()] == [*parameters()]


@pytest.mark.parametrize(
    ("column", "key"),
    [
        ("queue_first_threshold_mb", "queue.first_threshold_mb"),
        ("width", "width"),
        ("shuffle_top_keys", "shuffle.top_keys"),
        # of a dataset that another version has written
        ("queue_of_old", "queue.of_old"),
        ("workload_old_key", "workload.old_key"),
        ("ports_exponent", "ports_exponent"),
        ("run", "run"),
    ],
)
def test_a_column_has_a_key_even_where_nothing_declares_it(column: str, key: str) -> None:
    assert key_of(column) == key


@pytest.mark.parametrize(
    ("column", "belongs"),
    [
        *[("engine", True), ("workload", True), ("fabric_gbps", True), ("workload_coflows", True)],
        *[("shuffle_zipf", True), ("shuffle_reduce_s_per_record", True), ("engine_old", True)],
        *[("scheduler", False), ("queue_base", False), ("width", False), ("queue_of_old", False)],
        *[("shuffle_partitioner", False), ("shuffle_sampling_rate", False), ("run", False)],
        *[("shuffle_old", True), ("ports_exponent", False)],
    ],
)
def test_schedulers_and_partitioners_are_compared_within_the_rest(column, belongs) -> None:
    assert is_context(column) is belongs


def test_seeds_are_declared_by_all_that_draw() -> None:
    assert SEED_KEYS - {"seed"} <= set(declarations())
    assert REPEATS == ("replicate", "seed", "workload_seed", "shuffle_seed")


def test_a_key_of_a_new_group_keeps_its_dot_in_tables_filters_and_reports(tmp_path: Path) -> None:
    """Nothing but the declaration tells where the dot of ``deadline.slack`` is."""
    drop(tmp_path / "files", core__schedulers__deadline=DEADLINE)
    words = ("scheduler=deadline", "workload=toy", "deadline.slack=1,2,3", "executor=local")
    chosen = ("sweep.filter=deadline.slack < 3", f"output.dir={tmp_path / 'run'}")
    done = command(tmp_path / "files", "sweep", *words, *chosen)
    assert done.returncode == 0, done.stderr
    assert "deadline.slack" in done.stdout
    assert "deadline_slack" not in done.stdout
    page = (str(tmp_path / "run"), "--out", str(tmp_path / "page"))
    report = command(tmp_path / "files", "sweep.report", *page, "--where", "deadline.slack=2")
    assert report.returncode == 0, report.stdout + report.stderr
    text = (tmp_path / "page" / "index.html").read_text()
    assert "deadline.slack" in text
    nothing = command(tmp_path / "files", "sweep.report", *page, "--where", "deadline.slack=3")
    assert nothing.returncode == 2
    assert "deadline.slack=3: no row has this value" in nothing.stderr


def test_a_word_in_place_of_a_number_has_a_number_in_the_dataset() -> None:
    rate = parameters()["shuffle.sampling_rate"]
    assert rate.check("auto") == "auto"
    assert [rate.stored(v) for v in ("auto", 0.25, None)] == [0.0, 0.25, None]
    assert [rate.loaded(v) for v in (0.0, 0.25, None)] == ["auto", 0.25, None]
    for parameter in parameters().values():
        assert all(parameter.loaded(parameter.stored(word)) == word for word, _ in parameter.words)
        assert parameter.kind in (int, float) or not parameter.words
        for _, number in parameter.words:  # else a number would be taken for the word
            with pytest.raises(ParameterError):
                parameter.check(number)
