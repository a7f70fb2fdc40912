"""`DatasetWriter`: the writer of one output directory.

How nothing is doubled or lost, whenever the process is killed:

- Rows wait in a buffer and become durable together, as a part. While a part is small, the next
  rows join it: the larger part is written aside and renamed over the smaller one. So a slow sweep
  has few parts, and a row is durable a moment after it has come.
- The details of a part (coflows, reducers, rates) are renamed before its results, and a point
  counts by its results. Details that a kill leaves without results are found by their ids and
  removed at the next `open`.
- When a point runs again, the part without its old row is renamed just before the part with the
  new row; both are on disk by then. A kill in between leaves that point unfinished.
- Parts are merged under a journal: once the journal is on disk the merge is certain, and the next
  `open` finishes what a kill has interrupted. Old parts go before the merged one comes.
- A damaged part is set aside at `open`; its points are not finished then.
- A run never adds to a part of an earlier run, and only one process at a time writes.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs

from core.errors import StoreError
from sweep.store.compact import compact
from sweep.store.files import (
    ASIDE,
    MANIFEST,
    RESULTS,
    Folder,
    part_name,
)
from sweep.store.moves import PendingFiles, finish, writing
from sweep.store.plan_files import PlanFiles
from sweep.store.reader import parse_manifest
from sweep.store.recover import Contents, read_conforming, recover
from sweep.store.schema import (
    Parameters,
    Row,
    detail_schemas,
    points_schema,
    results_schema,
)
from sweep.store.tables import detail_rows, joined, table_of, without

Columns = Mapping[str, Any]
"""Arrays of shape (n,) by name."""


@dataclass(frozen=True)
class Limits:
    """When the buffer is written: by rows, by bytes of details, or by age of its oldest row [s].

    A part with `rows` rows or `nbytes` bytes is full; the buffer has `buffer` rows at most.
    """

    rows: int = 5000
    buffer: int = 1000
    nbytes: int = 32 * 2**20
    seconds: float = 2.0


class DatasetWriter:
    """Writer of a dataset; use `open`, and close it, or use it in a ``with`` statement.

    Leaving the block writes what is buffered, after an exception as well.
    """

    def __init__(
        self,
        folder: Folder,
        parameters: Parameters | None,
        details: Iterable[str],
        limits: Limits,
    ) -> None:
        self._folder = folder
        self._schema = results_schema(parameters)
        self._names = frozenset(self._schema.names)
        self._plan = PlanFiles(folder, points_schema(parameters))
        self._schemas = {**detail_schemas(), RESULTS: self._schema}
        self._limits = limits
        self._finished: set[str] = set()
        self._failed: set[str] = set()
        self._part_of: dict[str, int] = {}  # points whose row a new row will replace
        self._lacking: Set[str] = set()  # those that are ok, but lack rows of a table
        self._rows: dict[str, Row] = {}
        self._details: defaultdict[str, dict[str, Columns]] = defaultdict(dict)
        self._nbytes = 0
        self._since = 0.0
        self._part = 0
        self.set_aside: dict[str, str] = {}
        """Damaged files, and where they are now."""
        _holds_dataset(folder)
        folder.make()
        self._unlock = folder.lock()
        try:
            self._prepare()
            self._begin_with(recover(folder, self._schemas, details))
        except BaseException:
            self._unlock()
            raise
        self._next_part()

    @classmethod
    def open(
        cls,
        directory: str | os.PathLike[str],
        *,
        parameters: Parameters | None = None,
        details: Iterable[str] = (),
        limits: Limits | None = None,
    ) -> DatasetWriter:
        """Create a dataset, or continue with an existing one.

        Parameters
        ----------
        directory : str or path-like
            A local path, or a URI of a filesystem that pyarrow knows (``s3://…``).
        parameters : mapping of str to Parameter, optional
            By key; everything that `core.keys.parameters` has if none are passed.
        details : iterable of {"coflows", "reducers", "rates"}
            A point without rows in these tables, where it can have any, is not finished.
        limits : Limits, optional

        Raises
        ------
        StoreError
            The directory holds something else, another schema version or a damaged part, is in
            use, or cannot be written.
        """
        return cls(Folder.at(directory), parameters, details, limits or Limits())

    @staticmethod
    def exists(directory: str | os.PathLike[str]) -> bool:
        """Whether a directory holds a dataset; writes nothing.

        Raises
        ------
        StoreError
            It holds something else, or a dataset of another schema version.
        """
        return _holds_dataset(Folder.at(directory))

    def __enter__(self) -> DatasetWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(flush=kind is None or not issubclass(kind, StoreError))

    @property
    def shown(self) -> str:
        """The directory as the user wrote it."""
        return self._folder.shown

    def finished(self) -> Set[str]:
        """Ids of the points that need not run again; grows with `add`."""
        return self._finished

    def failed(self) -> Set[str]:
        """Ids of the points whose newest row is not ok."""
        return self._failed

    def add(self, row: Row, details: Mapping[str, Columns] | None = None) -> None:
        """Buffer the result of a point, and write the buffer if it is time.

        A row for a point that failed before replaces the old one; a row for a point
        that is finished is ignored.

        Parameters
        ----------
        row : mapping of str to value
            By column; missing columns are null.
        details : mapping of str to columns, optional
            By table in `DETAILS`; columns are arrays by name, each of shape (n,).

        Raises
        ------
        StoreError
            The buffer could not be written; it is kept.
        """
        point_id = row["point_id"]
        if point_id in self._finished:
            return
        if unknown := row.keys() - self._names:
            raise KeyError(f"point {point_id}: no such columns: {', '.join(sorted(unknown))}")
        if not self._rows:
            self._since = time.monotonic()
        self._rows[point_id] = row
        if row["status"] == "ok":
            self._finished.add(point_id)
            self._failed.discard(point_id)
            for table, columns in (details or {}).items():
                self._details[table][point_id] = columns
                self._nbytes += sum(np.asarray(values).nbytes for values in columns.values())
        else:
            self._failed.add(point_id)
        self.poll()

    def poll(self) -> None:
        """Write the buffer if it is time; call it while no rows come."""
        limits = self._limits
        if self._rows and (
            len(self._rows) >= min(limits.rows, limits.buffer)
            or self._nbytes >= limits.nbytes
            or time.monotonic() - self._since >= limits.seconds
        ):
            self.flush()

    def flush(self) -> None:
        """Write the buffer.

        Raises
        ------
        StoreError
            It could not be written; it is kept, and the files are unchanged.
        """
        if not self._rows:
            return
        replaced: defaultdict[int, list[str]] = defaultdict(list)
        for point_id in self._part_of.keys() & self._rows.keys():
            replaced[self._part_of[point_id]].append(point_id)
        rows = table_of(list(self._rows.values()), self._schema)
        results = joined(without(self._results_part, replaced.pop(self._part, [])), rows)
        details = dict(self._details_part)
        for table, points in self._details.items():
            self._folder.make(table)
            schema = self._schemas[table]
            details[table] = joined(details[table], detail_rows(points, schema))
        with writing(self._folder) as pending:
            for part, ids in replaced.items():
                self._take_out(RESULTS, part, ids, pending)
                # A point that ran without one table had rows in the others: they come again.
                if again := [name for name in ids if name in self._lacking]:
                    for table in self._details_part:
                        self._take_out(table, part, again, pending)
            for table in self._details:
                pending.table(part_name(table, self._part), details[table])
            pending.table(part_name(RESULTS, self._part), results)
        self._written(results, details)

    def without_result(self) -> Set[str]:
        """Return the ids of the points of ``points.parquet`` that have no row of results."""
        return self._plan.point_ids() - {*self._with_row()}

    def write_points(self, rows: Iterable[Row], digest: str = "") -> None:
        """Replace ``points.parquet`` by the rows of the grid.

        Rows of an earlier grid follow, numbered on, if this grid does not have the same row and
        their point has a result, or had one in a damaged part: joins keep working for everything
        in the dataset.

        Parameters
        ----------
        rows : iterable of mapping of str to value
            By column, `grid_row` counting from 0.
        digest : str
            Tells this grid from any other: a file that was written for it is kept.
        """
        # With a damaged part, the rows of earlier grids are what is left of the lost results.
        kept = None if self.set_aside else list(self._with_row())
        self.set_aside |= self._plan.write_points(rows, digest, kept)

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace ``manifest.json``; the schema version is added."""
        self._plan.write_manifest(manifest)

    def read_manifest(self) -> dict[str, Any]:
        """Return ``manifest.json``."""
        return parse_manifest(self._folder)

    def close(self, *, flush: bool = True) -> None:
        """Write the buffer and let go of the directory."""
        try:
            if flush:
                self.flush()
        finally:
            self._unlock()
            self._unlock = _nothing

    def _prepare(self) -> None:
        """Create the folders, and remove what was being written when a run was killed."""
        folder = self._folder
        folder.make(ASIDE)
        finish(folder)
        for name in folder.names(ASIDE):
            folder.delete(f"{ASIDE}/{name}")
        if folder.kind(MANIFEST) == pafs.FileType.NotFound:
            self._plan.write_manifest({})  # from here on it is a dataset
        folder.make(RESULTS)

    def _begin_with(self, contents: Contents) -> None:
        self._finished, self._failed = contents.finished, contents.failed
        self._part_of, self._part = contents.part_of, contents.last
        self._lacking = contents.part_of.keys() - contents.failed
        self.set_aside |= contents.set_aside

    def compact(self) -> None:
        """Merge small parts, as many runs leave them, into larger ones.

        A reader sees every point at most once meanwhile; a kill loses none.
        """
        self.flush()
        moved = compact(self._folder, self._schemas, self._limits.rows, self._limits.nbytes)
        self._part_of = {name: moved.get(part, part) for name, part in self._part_of.items()}
        if moved:
            self._next_part()

    def _take_out(self, table: str, part: int, ids: list[str], pending: PendingFiles) -> None:
        name = part_name(table, part)
        if self._folder.kind(name) == pafs.FileType.NotFound:
            return  # by a flush that was interrupted after this
        left = without(read_conforming(self._folder, name, self._schemas[table]), ids)
        if len(left):
            pending.table(name, left)
        else:
            pending.removal(name)

    def _with_row(self) -> Iterator[str]:
        """Yield the ids of the points that have a row of results."""
        yield from self._finished
        yield from self._part_of

    def _next_part(self) -> None:
        self._part += 1
        self._results_part = self._schema.empty_table()
        self._details_part = {
            table: schema.empty_table()
            for table, schema in self._schemas.items()
            if table != RESULTS
        }

    def _written(self, results: pa.Table, details: dict[str, pa.Table]) -> None:
        for point_id, row in self._rows.items():
            self._part_of.pop(point_id, None)
            if row["status"] != "ok":
                self._part_of[point_id] = self._part
        self._rows, self._nbytes = {}, 0
        self._details.clear()
        self._results_part, self._details_part = results, details
        nbytes = sum(table.nbytes for table in details.values())
        if len(results) >= self._limits.rows or nbytes >= self._limits.nbytes:
            self._next_part()


def _holds_dataset(folder: Folder) -> bool:
    """Whether a folder holds a dataset; refuse what is neither empty nor a dataset."""
    if folder.kind() == pafs.FileType.File:
        raise StoreError(f"{folder.shown} is a file; set output.dir to a directory")
    names = [name for name in folder.names() if name != ASIDE]
    if MANIFEST in names:
        parse_manifest(folder)
        return True
    if names:
        raise StoreError(
            f"{folder.shown} is not a dataset: it holds {', '.join(names[:3])} "
            f"and no {MANIFEST}; set another output.dir"
        )
    return False


def _nothing() -> None:
    """Unlock what is not locked."""
