"""`ReportData`: one run or two side by side, as the figures see them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.errors import GridError, InputError, StoreError, nearest
from core.keys import KIND, REPEATS, is_context, key_of, parameters
from core.metrics import METRICS
from core.parameters import column_of
from core.registry import reads
from core.shuffle.parameters import AUTO, NumberOrAuto
from sweep.report.averages import plain, settings_table
from sweep.store import load, read_manifest
from sweep.store.files import DamagedError, Folder
from sweep.store.schema import DETAILS, IDENTITY, OUTCOME

RUN = "run"
_ATTEMPTS = 5
_NO_PARAMETERS = {c.name for c in IDENTITY} | {*OUTCOME, *REPEATS, "grid_row", RUN}


@dataclass(frozen=True, eq=False)
class Run:
    """A run: where it lies, and its manifest; both empty for a table in memory."""

    name: str
    path: str = ""
    manifest: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ReportData:
    """The rows of a grid, and what of them varies.

    Attributes
    ----------
    runs : tuple of Run
    grid : DataFrame
        A row per grid row, as `sweep.load` returns them; with two runs, a column ``run``.
    details : mapping of str to DataFrame
        Tables in memory that need not be read, by name (``coflows``, ``reducers``, ``rates``).
    """

    runs: tuple[Run, ...]
    grid: pd.DataFrame
    details: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    """What several figures need and is long in the making."""
    troubles: dict[str, str] = field(default_factory=dict, repr=False)
    """What is wrong with tables of details that were read, by file or table, to be said once."""

    @cached_property
    def ok(self) -> pd.DataFrame:
        """Grid rows whose point is finished, with parameters as asked for."""
        return self.grid[self.grid["status"].eq("ok").fillna(False)]

    @cached_property
    def points(self) -> pd.DataFrame:
        """One row per finished point and run; parameters that it has not read are missing."""
        keys = [n for n in (RUN, "point_id") if n in self.ok]
        return without_unread(self.ok.drop_duplicates(keys)).reset_index(drop=True)

    @cached_property
    def parameters(self) -> list[str]:
        """Columns of names and parameters, those of replicates left out."""
        rest = [n for n in self.grid.columns if n not in _NO_PARAMETERS]
        return [n for n in (RUN,) if n in self.grid] + [*KIND, *rest]

    @cached_property
    def axes(self) -> list[str]:
        """Columns of `parameters` with two values or more."""
        return [n for n in self.parameters if self.points[n].nunique(dropna=True) > 1]

    @cached_property
    def context(self) -> list[str]:
        """Axes under which schedulers are compared: run, engine, workload, fabric, shuffle."""
        return [n for n in self.axes if n == RUN or is_context(n)]

    @cached_property
    def knobs(self) -> list[str]:
        """Axes that make a setting: the scheduler and what schedulers read."""
        return ["scheduler", *(n for n in self.axes if n not in (*self.context, "scheduler"))]

    @cached_property
    def settings(self) -> pd.DataFrame:
        """One row per setting under each condition: means over replicates (`settings_table`)."""
        return settings_table(self.points, self.context, self.knobs)

    @cached_property
    def repeats(self) -> pd.Series:
        """Return the replicates and seeds in each row of `settings`: only equal ones compare."""
        points = self.points
        names = [n for n in REPEATS if n in points]
        rows = zip(*(points[n].map(plain) for n in names), strict=True)
        each = pd.Series(list(rows) if names else [()] * len(points), dtype=object)
        by = [*self.context, *self.knobs]
        return each.groupby(points.groupby(by, sort=False, dropna=False).ngroup()).agg(frozenset)

    def detail(self, name: str, columns: Sequence[str], points: Iterable[str]) -> pd.DataFrame:
        """Return columns of a table of details of some points, with ``point_id`` and ``run``.

        Raises
        ------
        StoreError
            The table is not there, or cannot be read.
        """
        wanted = pd.Index(list(points))
        if name in self.details:
            frame = self.details[name]
            return frame.loc[frame["point_id"].isin(wanted), ["point_id", *columns]]
        if not any(run.path for run in self.runs):
            raise StoreError(
                f"this table has no {name}: give load(…, {name}=True), or the directory"
            )
        found = []
        for run in self.runs:
            frame = self._read(run, name, columns, wanted)
            if RUN in self.grid:
                frame.insert(0, RUN, run.name)
            found.append(frame)
        return pd.concat(found, ignore_index=True)

    def _read(
        self, run: Run, name: str, columns: Sequence[str], wanted: pd.Index[str]
    ) -> pd.DataFrame:
        """Return columns of a table of details of a run; note what is damaged or missing."""
        place = f"{run.path.rstrip('/')}/{name}"
        try:
            frame = read_details(run.path, name, columns, wanted)
        except DamagedError as error:
            self.troubles[place] = f"figures of {name} are left out: {error}"
            raise StoreError(f"{name} cannot be read") from error
        except StoreError:
            if (run.manifest.get("settings") or {}).get(f"output.{name}") is True:
                self.troubles[place] = (
                    f"figures of {name} are left out: {place} is missing, though the sweep wrote it"
                )
                raise StoreError(f"{name} are missing") from None
            raise
        lacking = len(wanted.unique()) - int(wanted.unique().isin(frame["point_id"]).sum())
        if lacking and len(self.runs) == 1 and name != "rates":  # those are of auto only
            self.troubles[place] = (
                f"{place} lacks {lacking} of {len(wanted.unique())} points; figures of {name} "
                "are drawn without them"
            )
        return frame

    def where(self, context: Mapping[str, Any]) -> ReportData:
        """Return the rows with these values: as on the command line, or as they are.

        Raises
        ------
        InputError
            A key that the dataset does not have, or a value that no row has.
        """
        grid = self.grid
        names = [*self.parameters, *(n for n in (*REPEATS, "status") if n in grid)]
        chosen: dict[str, str] = {}
        for key, given in context.items():
            column = next((n for n in names if key in (n, key_of(n))), None)
            value = plain(given)
            if column is None:
                hint = nearest(str(key), map(key_of, names))
                raise InputError(f"{key}={value}: the dataset has no such key{hint}")
            if column in chosen:
                raise InputError(f"{key}={value}: given twice, as {chosen[column]} too")
            chosen[column] = str(key)
            shown = grid[column].map(plain)
            same = shown.map(_number_or_word) == _number_or_word(value)
            if not same.any():
                there = ", ".join(shown.unique()[:12])
                raise InputError(f"{key}={value}: no row has this value; there are {there}")
            grid = grid[same]
        return ReportData(self.runs, grid, self.details)


def _number_or_word(text: str) -> object:
    """Return what a value on the command line stands for: 2.0 is 2, and null a missing one."""
    try:
        return float(text)
    except ValueError:
        return {"True": "true", "False": "false", "null": plain(None)}.get(text, text)


def open_runs(paths: Sequence[str | os.PathLike[str]]) -> ReportData:
    """Return a dataset on a disk or elsewhere, or two as one.

    Raises
    ------
    StoreError
        Not a dataset, no results yet, another schema version, a damaged file.
    """
    names = _run_names([os.fspath(path) for path in paths])
    runs, grids = [], []
    for name, path in zip(names, paths, strict=True):
        if Path(path).is_file():
            raise StoreError(f"{path} is a file, not a directory: give output.dir of a sweep")
        grid = load(path)
        if len(paths) > 1:
            grid.insert(0, RUN, name)
        runs.append(Run(name, os.fspath(path), read_manifest(path)))
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
        return ReportData(
            (Run("table"),), with_words(table.assign(**dict.fromkeys(lacking, np.nan)))
        )
    own = {m.name for m in DETAILS[name]}
    grid = table[[n for n in table.columns if n not in own]].drop_duplicates("point_id")
    grid = grid.assign(status="ok").reset_index(drop=True)
    if name == "coflows":
        mean = table.groupby("point_id")["cct_s"].mean()
        grid["mean_cct_s"] = grid["point_id"].map(mean)
    return ReportData((Run("table"),), with_words(grid), {name: table})


def with_words(grid: pd.DataFrame) -> pd.DataFrame:
    """Return a grid with the word ``auto`` where a dataset has 0 for it."""
    for parameter in parameters().values():
        name = parameter.column
        if isinstance(parameter, NumberOrAuto) and name in grid and (grid[name] == 0).any():
            column = grid[name]
            grid = grid.assign(**{name: column.astype(object).mask(column == 0, AUTO)})
    return grid


def read_details(
    path: str, name: str, columns: Sequence[str], wanted: pd.Index[str]
) -> pd.DataFrame:
    """Return some columns of a table of details, part by part, so that little is held at a time.

    Raises
    ------
    StoreError
        The dataset has no such table, or a file cannot be read.
    """
    folder = Folder.at(path)
    for attempt in range(_ATTEMPTS):
        try:
            frames = list(_parts(folder, name, ["point_id", *columns], wanted))
        except FileNotFoundError as error:  # merged between listing and reading
            if attempt == _ATTEMPTS - 1:
                raise StoreError(f"{folder.shown}: files vanish while it is read") from error
        else:
            break
    if not frames:
        setting = "output.coflows" if name == "coflows" else "output.reducers"
        raise StoreError(f"{folder.shown} has no {name}: run it with {setting}=true")
    return pd.concat(frames, ignore_index=True)


def _parts(
    folder: Folder, name: str, columns: list[str], wanted: pd.Index[str]
) -> Iterator[pd.DataFrame]:
    for part in folder.settled_parts(name):
        ids = folder.read_table(part, ["point_id"]).to_pandas()["point_id"]
        codes, unique = pd.factorize(ids)
        kept = unique.isin(wanted)[codes]
        if kept.any():
            yield folder.read_table(part, columns).to_pandas()[kept]
        else:
            yield pd.DataFrame(columns=columns).astype({"point_id": str})


def without_unread(points: pd.DataFrame) -> pd.DataFrame:
    """Return points without the values of parameters that they do not read."""
    frame = points.copy()
    candidates = [n for n in frame.columns if n not in _NO_PARAMETERS and n not in KIND]
    varying = [n for n in candidates if frame[n].nunique(dropna=True) > 1]
    for names, group in frame.groupby(list(KIND), sort=False):
        try:
            declared = list(reads(*map(str, names)))
        except (KeyError, GridError):  # of another version of this package
            continue
        for column in varying:
            read = pd.Series(False, index=group.index)
            for parameter in (p for p in declared if p.column == column):  # one a partitioner
                mine = pd.Series(True, index=group.index)
                for key, allowed in parameter.when:
                    condition = group.get(column_of(key))
                    if condition is not None:
                        mine &= condition.isin(list(allowed))
                read |= mine
            frame.loc[group.index[~read], column] = None
    return frame


def _run_names(paths: Sequence[str]) -> list[str]:
    """Return short names: the last part of each path, or the paths where those are alike."""
    paths = [path.rstrip("/") for path in paths]
    short = [path.rsplit("/", 1)[-1] for path in paths]
    if len({*short}) == len(short):
        return short
    return paths if len({*paths}) == len(paths) else [f"{n} ({k + 1})" for k, n in enumerate(short)]
