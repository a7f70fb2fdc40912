"""What ``plot`` says about tables that it cannot draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from sweep import load
from sweep.report import plot
from sweep.report.figures import figures
from tests.report_data import AUTO, sweep


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    words = ("shuffle.zipf=0.5,1", "queue.base=2,4", "shuffle.partitioner=hash,scid")
    rest = [w for w in AUTO if "partitioner" not in w and "scheduler" not in w]
    place = tmp_path_factory.mktemp("notebook") / "run"
    return load(sweep(place, *rest, *words, "scheduler=aalo,varys"))


@pytest.mark.parametrize("column", ["point_id", "status", "engine", "scheduler", "workload"])
def test_a_table_of_something_else(column: str, table: pd.DataFrame) -> None:
    with pytest.raises(InputError, match=f"it has no column {column}"):
        plot("average_cct", table.drop(columns=column))


@pytest.mark.parametrize(
    ("data", "said"), [(None, "NoneType"), (["outputs/latest"], "list"), (3, "int")]
)
def test_no_table_at_all(data: Any, said: str) -> None:
    with pytest.raises(InputError, match=rf"data is a {said}: give a table of load\(\)"):
        plot("average_cct", data)


@pytest.mark.parametrize("name", [None, 3, ["cdf"]])
def test_no_name_at_all(name: Any, table: pd.DataFrame) -> None:
    with pytest.raises(InputError, match=r"no figure .*the figures are"):
        plot(name, table)


def test_conditions_are_a_mapping(table: pd.DataFrame) -> None:
    where: Any = ["scheduler=varys"]
    with pytest.raises(InputError, match="where is a list"):
        plot("average_cct", table, where)


@pytest.mark.parametrize(
    ("name", "which"),
    [
        ("cdf", "coflows"),
        ("width_size", "coflows"),
        ("reducer_loads", "reducers"),
        ("rate_curve", "rates"),
    ],
)
def test_which_table_has_to_be_loaded(name: str, which: str, table: pd.DataFrame) -> None:
    said = rf"{name}: this table has no {which}: give load\(…, {which}=True\)"
    with pytest.raises(InputError, match=said):
        plot(name, table)


def said_of(name: str, table: pd.DataFrame) -> str:
    """Return what an `InputError` says, nothing where the figure is drawn."""
    try:
        plot(name, table)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", figures())
def test_missing_numbers_are_said(name: str, table: pd.DataFrame) -> None:
    """A figure is drawn from what is left, or says in its own name what it lacks."""
    columns = ("mean_cct_s", "bound_s", "trace_id", "shuffle_zipf", "shuffle_partitioner")
    empty = table.assign(mean_cct_s=np.nan)
    for frame in (empty, table[:0], *(table.drop(columns=n) for n in columns)):
        said = said_of(name, frame)
        assert not said or said.startswith(f"{name}: ")
    if name in ("average_cct", "heat", "wins", "gantt"):
        assert said_of(name, empty) == f"{name}: no point has a value of mean_cct_s"


def test_words_are_no_numbers(table: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="mean_cct_s is not a column of numbers"):
        plot("average_cct", table.assign(mean_cct_s="fast"))
