"""Datasets as the figures see them: one run, two as one, or a table in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from core.errors import InputError, StoreError
from core.keys import KIND
from core.metrics import METRICS
from sweep.report.data import RUN, ReportData, Run
from sweep.report.directory import is_uri
from sweep.report.read_values import with_words
from sweep.store import load, read_manifest
from sweep.store.schema import DETAILS


def open_runs(paths: Sequence[str | os.PathLike[str]]) -> ReportData:
    """Return a dataset on a disk or elsewhere, or two as one.

    Raises
    ------
    StoreError
        Not a dataset, no results yet, another schema version, a damaged file.
    """
    texts = [os.fspath(path) for path in paths]
    runs, grids = [], []
    for name, text in zip(_run_names(texts), texts, strict=True):
        path = text if is_uri(text) else str(Path(text).expanduser())
        if Path(path).is_file():
            raise StoreError(f"{path} is a file, not a directory: give output.dir of a sweep")
        grid = load(path)
        if len(paths) > 1:
            grid.insert(0, RUN, name)
        runs.append(Run(name, path, read_manifest(path)))
        grids.append(grid)
    return ReportData(tuple(runs), with_words(pd.concat(grids, ignore_index=True)))


def in_memory(table: pd.DataFrame) -> ReportData:
    """Return a table that `sweep.load` has returned as a dataset.

    Raises
    ------
    InputError
        Another table.
    """
    name = next((n for n, c in DETAILS.items() if {m.name for m in c} <= {*table.columns}), None)
    needed = ("point_id", *KIND, *(() if name else ("status",)))
    if lacking := [n for n in needed if n not in table]:
        raise InputError(f"not a table of sweep.load(): it has no column {', '.join(lacking)}")
    for column in (m.name for m in METRICS if m.name in table):
        if not pd.api.types.is_numeric_dtype(table[column]) and table[column].notna().any():
            raise InputError(f"not a table of sweep.load(): {column} is not a column of numbers")
    if name is None:
        lacking = [n for n in ("mean_cct_s", "bound_s") if n not in table]
        table = table.assign(**dict.fromkeys(lacking, np.nan))
        return ReportData((Run("table"),), with_words(table))
    of_details = {m.name for m in DETAILS[name]}
    grid = table[[n for n in table.columns if n not in of_details]].drop_duplicates("point_id")
    grid = grid.assign(status="ok").reset_index(drop=True)
    if name == "coflows":
        mean = table.groupby("point_id")["cct_s"].mean()
        grid["mean_cct_s"] = grid["point_id"].map(mean)
    return ReportData((Run("table"),), with_words(grid), {name: table})


def _run_names(paths: Sequence[str]) -> list[str]:
    """Return short names: the last part of each path, or the paths where those are equal."""
    paths = [path.rstrip("/") for path in paths]
    short = [path.rsplit("/", 1)[-1] for path in paths]
    if len({*short}) == len(short):
        return short
    return paths if len({*paths}) == len(paths) else [f"{n} ({k + 1})" for k, n in enumerate(short)]
