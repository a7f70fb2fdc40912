"""`ReportData`: one run or two side by side, as the figures see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from core.errors import InputError, StoreError, nearest
from core.keys import KIND, REPEATS, is_context, key_of
from sweep.report.averages import drawable_gap, plain, settings_table
from sweep.report.details import read_details
from sweep.report.read_values import NOT_PARAMETERS, without_unread
from sweep.report.replicates import common_points, repeats_of, setting_numbers
from sweep.store.files import DamagedError
from sweep.store.row_values import NULL

RUN = "run"


@dataclass(frozen=True, eq=False)
class Run:
    """A run: its directory or URI, and its manifest; both empty for a table in memory."""

    name: str
    path: str = ""
    manifest: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ReportData:
    """The rows of a grid, and which of their parameters vary.

    Attributes
    ----------
    runs : tuple of Run
    grid : DataFrame
        A row per grid row, as `sweep.load` returns them, with the words ``auto`` and ``null``; with
        two runs, a column ``run``.
    details : mapping of str to DataFrame
        Tables in memory, by name (``coflows``, ``reducers``, ``rates``); others are read.
    """

    runs: tuple[Run, ...]
    grid: pd.DataFrame
    details: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    """Tables that several figures need and that take long to make."""
    troubles: dict[str, str] = field(default_factory=dict, repr=False)
    """Damaged or missing tables of details, by file or table; each is reported once."""

    @cached_property
    def ok(self) -> pd.DataFrame:
        """Grid rows whose point is finished, with the values of the grid."""
        return self.grid[self.grid["status"].eq("ok").fillna(False)]

    @cached_property
    def points(self) -> pd.DataFrame:
        """One row per finished point and run; parameters that it has not read are missing."""
        keys = [n for n in (RUN, "point_id") if n in self.ok]
        points = without_unread(self.ok.drop_duplicates(keys)).reset_index(drop=True)
        if "gap" in points:
            gap = points["gap"].to_numpy(np.float64, na_value=np.nan)
            points = points.assign(gap=drawable_gap(gap))
        return points

    @cached_property
    def parameters(self) -> list[str]:
        """Columns of names and parameters, those of replicates left out."""
        rest = [n for n in self.grid.columns if n not in NOT_PARAMETERS]
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
        """One row per setting and context: means over its replicates (`settings_table`)."""
        return settings_table(self.points, self.context, self.knobs)

    @cached_property
    def repeats(self) -> pd.Series:
        """The replicates and seeds of each row of `settings`; equal ones are compared."""
        return self._repeats(self.points)

    @cached_property
    def comparable(self) -> pd.DataFrame:
        """`settings`, row by row, with means over the replicates that all of them have.

        A column ``repeats`` has those. ``attrs["note"]`` is a sentence for readers about points
        that are left out, if any.
        """
        points, note = common_points(self.points, self.context, self.knobs)
        settings = self.settings
        if len(points) < len(self.points):
            settings = settings_table(points, self.context, self.knobs)
            number = setting_numbers(self.points, [*self.context, *self.knobs])
            settings.index = number[points.index].drop_duplicates().to_numpy()
        settings = settings.sort_index().assign(repeats=self._repeats(points))
        settings.attrs["note"] = note
        return settings

    def _repeats(self, points: pd.DataFrame) -> pd.Series:
        """Return the replicates and seeds that points have, by the row of their setting."""
        number = setting_numbers(self.points, [*self.context, *self.knobs])
        return repeats_of(points).groupby(number[points.index]).agg(frozenset)

    def detail(self, name: str, columns: Sequence[str], points: Iterable[str]) -> pd.DataFrame:
        """Return columns of a table of details of some points, with ``point_id`` and ``run``.

        Raises
        ------
        StoreError
            The table is missing, or cannot be read.
        """
        wanted = pd.Index(list(points))
        if name in self.details:
            frame = self.details[name]
            return frame.loc[frame["point_id"].isin(wanted), ["point_id", *columns]]
        if not any(run.path for run in self.runs):
            raise StoreError(
                f"this table has no {name}: give load(…, {name}=True), or the directory"
            )
        frames = []
        for run in self.runs:
            frame = self._read(run, name, columns, wanted)
            if RUN in self.grid:
                frame.insert(0, RUN, run.name)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def _read(
        self, run: Run, name: str, columns: Sequence[str], wanted: pd.Index[str]
    ) -> pd.DataFrame:
        """Return columns of a table of details of a run; note damaged files and missing points."""
        path = f"{run.path.rstrip('/')}/{name}"
        try:
            frame = read_details(run.path, name, columns, wanted)
        except DamagedError as error:
            self.troubles[path] = f"figures of {name} are left out: {error}"
            raise StoreError(f"{name} cannot be read") from error
        except StoreError:
            if (run.manifest.get("settings") or {}).get(f"output.{name}") is True:
                self.troubles[path] = (
                    f"figures of {name} are left out: {path} is missing, though the sweep wrote it"
                )
                raise StoreError(f"{name} are missing") from None
            raise
        lacking = len(wanted.unique()) - int(wanted.unique().isin(frame["point_id"]).sum())
        if lacking and len(self.runs) == 1 and name != "rates":  # only auto has those
            self.troubles[path] = (
                f"{path} lacks {lacking} of {len(wanted.unique())} points; figures of {name} "
                "are drawn without them"
            )
        return frame

    def where(self, values: Mapping[str, Any]) -> ReportData:
        """Return the rows with these values, given as on the command line or as Python's.

        The value ``null`` (in Python: None) selects rows that ask for no value, and ``–`` those
        whose point does not read the key.

        Raises
        ------
        InputError
            A key that the dataset does not have, or a value that no row has.
        """
        grid = self.grid
        names = [*self.parameters, *(n for n in (*REPEATS, "status") if n in grid)]
        chosen: dict[str, str] = {}
        for key, requested in values.items():
            column = next((n for n in names if key in (n, key_of(n))), None)
            value = NULL if requested is None else plain(requested)
            if column is None:
                hint = nearest(str(key), map(key_of, names))
                raise InputError(f"{key}={value}: the dataset has no such key{hint}")
            if column in chosen:
                raise InputError(f"{key}={value}: given twice, as {chosen[column]} too")
            chosen[column] = str(key)
            shown = grid[column].map(plain)
            if value == plain(None) and column in self.parameters:
                shown = without_unread(self.grid).loc[grid.index, column].map(plain)
            same = shown.map(_number_or_word) == _number_or_word(value)
            if not same.any():
                present = ", ".join(shown.unique()[:12])
                raise InputError(f"{key}={value}: no row has this value; its values are {present}")
            grid = grid[same]
        return ReportData(self.runs, grid, self.details)


def _number_or_word(text: str) -> object:
    """Return the value of a word on the command line: 2.0 is 2."""
    try:
        return float(text)
    except ValueError:
        return {"True": "true", "False": "false"}.get(text, text)
