"""`Dataset`: the writer of one output directory.

How nothing is doubled or lost, whenever the process is killed:

- Rows wait in a buffer and become durable together, as a part. While a part is small the next
  rows join it: it is written anew, aside, and renamed over itself. So a slow sweep has few parts,
  and a row is durable a moment after it came.
- The coflows of a part are renamed into place before its results, and a point counts by its
  results. What a kill leaves between the two is found by its ids and removed at the next `open`.
- A point that is run again has its old row taken out just before the part with the new row takes
  its place, both being on disk by then. A kill in between leaves that point unfinished.
- A run never adds to a part of an earlier run, and only one process at a time writes.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs

from core.errors import StoreError
from sweep.store.files import ASIDE, COFLOWS, MANIFEST, POINTS, RESULTS, Aside, Folder
from sweep.store.reader import parse_manifest
from sweep.store.schema import (
    SCHEMA_VERSION,
    Parameters,
    Row,
    check_version,
    coflows_schema,
    points_schema,
    results_schema,
)
from sweep.store.tables import coflow_rows, conform, joined, table_of, united, without


@dataclass(frozen=True)
class Limits:
    """When the buffer is written: by rows, by bytes of coflows, or by age of its oldest row [s].

    A part that has so many rows or bytes is full.
    """

    rows: int = 5000
    nbytes: int = 32 * 2**20
    seconds: float = 2.0


class Dataset:
    """Writer of a dataset; use `open`, and close it, or use it in a ``with`` statement.

    Leaving the block writes what is buffered, after an exception as well.
    """

    def __init__(
        self, folder: Folder, parameters: Parameters | None, coflows: bool, limits: Limits
    ) -> None:
        self._folder = folder
        self._schema = results_schema(parameters)
        self._names = frozenset(self._schema.names)
        self._points_schema = points_schema(parameters)
        self._coflows_schema = coflows_schema()
        self._limits = limits
        self._finished: set[str] = set()
        self._failed: set[str] = set()
        self._part_of: dict[str, int] = {}  # points with a row that a new row replaces
        self._rows: dict[str, Row] = {}
        self._coflows: dict[str, Mapping[str, Any]] = {}
        self._nbytes = 0
        self._since = 0.0
        self._part = 0
        self._check()
        folder.make()
        self._unlock = folder.lock()
        try:
            self._prepare()
            self._recover(coflows)
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
        coflows: bool = False,
        limits: Limits | None = None,
    ) -> Dataset:
        """Create a dataset, or go on with the one that is there.

        Parameters
        ----------
        directory : str or path-like
            A local path, or a URI of a filesystem that pyarrow knows (``s3://…``).
        parameters : mapping of str to Parameter, optional
            By key; everything that `core.registry.parameters` knows if not given.
        coflows : bool
            A point without coflows does not count as finished.
        limits : Limits, optional

        Raises
        ------
        StoreError
            The directory holds something else, another schema version or a damaged part, is in
            use, or cannot be written.
        """
        return cls(Folder.at(directory), parameters, coflows, limits or Limits())

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(flush=kind is None or not issubclass(kind, StoreError))

    def finished(self) -> Set[str]:
        """Ids of the points that need not run again; grows with `add`."""
        return self._finished

    def failed(self) -> Set[str]:
        """Ids of the points whose newest row is not ok."""
        return self._failed

    def add(self, row: Row, coflows: Mapping[str, Any] | None = None) -> None:
        """Buffer the result of a point, and write the buffer if it is time.

        A row for a point that failed before takes the place of the old one; a row for a point
        that is finished is ignored.

        Parameters
        ----------
        row : mapping of str to value
            By column; columns that are not given are null.
        coflows : mapping of str to array, optional
            By name in `core.metrics.COFLOW_COLUMNS`, each of shape (n,).

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
            if coflows is not None:
                self._coflows[point_id] = coflows
                self._nbytes += sum(np.asarray(values).nbytes for values in coflows.values())
        else:
            self._failed.add(point_id)
        self.poll()

    def poll(self) -> None:
        """Write the buffer if it is time; call it where no rows come for a while."""
        limits = self._limits
        if self._rows and (
            len(self._rows) >= limits.rows
            or self._nbytes >= limits.nbytes
            or time.monotonic() - self._since >= limits.seconds
        ):
            self.flush()

    def flush(self) -> None:
        """Write the buffer.

        Raises
        ------
        StoreError
            It could not be written; it is kept, and the files are as they were.
        """
        if not self._rows:
            return
        replaced: defaultdict[int, list[str]] = defaultdict(list)
        for point_id in self._part_of.keys() & self._rows.keys():
            replaced[self._part_of[point_id]].append(point_id)
        rows = table_of(list(self._rows.values()), self._schema)
        results = joined(without(self._results_part, replaced.pop(self._part, [])), rows)
        coflows = self._coflows_part
        if self._coflows:
            self._folder.make(COFLOWS)
            coflows = joined(coflows, coflow_rows(self._coflows, self._coflows_schema))
        with self._folder.writing() as aside:
            for part, ids in replaced.items():
                self._take_out(_part(RESULTS, part), ids, aside)
            if self._coflows:
                aside.table(_part(COFLOWS, self._part), coflows)
            aside.table(_part(RESULTS, self._part), results)
        self._written(results, coflows)

    def write_points(self, rows: Iterable[Row]) -> None:
        """Replace ``points.parquet`` by the rows of the grid.

        Rows of an earlier grid follow, numbered on, where their point has a result and this grid
        does not have the same row: joins keep working for everything in the dataset.

        Parameters
        ----------
        rows : iterable of mapping of str to value
            By column, `grid_row` counting from 0.
        """
        schema = self._points_schema
        iterator = iter(rows)
        batches = [table_of(batch, schema) for batch in iter(lambda: [*islice(iterator, 5000)], [])]
        points = pa.concat_tables(batches) if batches else schema.empty_table()
        if self._folder.kind(POINTS) != pafs.FileType.NotFound:
            points = united(points, self._with_results(self._read(POINTS, schema)))
        with self._folder.writing() as aside:
            aside.table(POINTS, points)

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace ``manifest.json``; the schema version is added."""
        content = json.dumps({**manifest, "schema_version": SCHEMA_VERSION}, indent=2)
        with self._folder.writing() as aside:
            aside.content(MANIFEST, f"{content}\n".encode())

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

    def _check(self) -> None:
        """Refuse what is neither empty nor a dataset."""
        folder = self._folder
        if folder.kind() == pafs.FileType.File:
            raise StoreError(f"{folder.shown} is a file, and output.dir is a directory")
        there = [name for name in folder.names() if name != ASIDE]
        if MANIFEST in there:
            parse_manifest(folder)
        elif there:
            raise StoreError(
                f"{folder.shown} is not a dataset: it holds {', '.join(there[:3])} "
                f"and no {MANIFEST}; use another output.dir"
            )

    def _prepare(self) -> None:
        """Create the folders, and remove what was being written when a run was killed."""
        folder = self._folder
        folder.make(ASIDE)
        for name in folder.names(ASIDE):
            folder.delete(f"{ASIDE}/{name}")
        if folder.kind(MANIFEST) == pafs.FileType.NotFound:
            self.write_manifest({})  # from here on it is a dataset
        folder.make(RESULTS)

    def _recover(self, need_coflows: bool) -> None:
        """Learn what is finished, and repair what a kill left."""
        results, coflows = self._folder.parts(RESULTS), self._folder.parts(COFLOWS)
        for part in coflows.keys() - results.keys():
            self._folder.delete(coflows[part])
        for part, name in results.items():
            table = self._read(name, self._schema)
            with_coflows = self._recover_coflows(part, table) if part in coflows else set()
            for point_id, status in zip(
                table["point_id"].to_pylist(), table["status"].to_pylist(), strict=True
            ):
                if status == "ok" and (point_id in with_coflows or not need_coflows):
                    self._finished.add(point_id)
                    continue
                self._part_of[point_id] = part
                if status != "ok":
                    self._failed.add(point_id)
        self._part = max(results, default=0)

    def _recover_coflows(self, part: int, results: pa.Table) -> set[str]:
        """Return the points with coflows in a part; remove those that are not ok in its results."""
        name = _part(COFLOWS, part)
        ids = self._folder.read_table(name, ["point_id"])["point_id"].unique()
        known = pc.is_in(ids, value_set=results.filter(pc.field("status") == "ok")["point_id"])
        if not pc.all(known).as_py():
            table = self._read(name, self._coflows_schema)
            with self._folder.writing() as aside:
                aside.table(name, without(table, ids.filter(pc.invert(known))))
        return set(ids.to_pylist())

    def _take_out(self, name: str, ids: list[str], aside: Aside) -> None:
        if self._folder.kind(name) == pafs.FileType.NotFound:
            return  # by a flush that was interrupted after this
        left = without(self._read(name, self._schema), ids)
        if len(left):
            aside.table(name, left)
        else:
            aside.removal(name)

    def _read(self, name: str, schema: pa.Schema) -> pa.Table:
        """Read a file whole, and write it anew first if it has fewer columns than today's."""
        table = self._folder.read_table(name)
        check_version(table.schema, self._folder.show(name))
        if table.schema.equals(schema):
            return table
        conforming = conform(table, schema, self._folder.show(name))
        if table.schema.names != schema.names:
            with self._folder.writing() as aside:
                aside.table(name, conforming)
        return conforming

    def _with_results(self, points: pa.Table) -> pa.Table:
        return points.filter(
            pc.is_in(points["point_id"], value_set=pa.array(self._known(), pa.string()))
        )

    def _known(self) -> Iterator[str]:
        yield from self._finished
        yield from self._part_of

    def _next_part(self) -> None:
        self._part += 1
        self._results_part = self._schema.empty_table()
        self._coflows_part = self._coflows_schema.empty_table()

    def _written(self, results: pa.Table, coflows: pa.Table) -> None:
        for point_id, row in self._rows.items():
            self._part_of.pop(point_id, None)
            if row["status"] != "ok":
                self._part_of[point_id] = self._part
        self._rows, self._coflows, self._nbytes = {}, {}, 0
        self._results_part, self._coflows_part = results, coflows
        if len(results) >= self._limits.rows or coflows.nbytes >= self._limits.nbytes:
            self._next_part()


def _part(folder: str, number: int) -> str:
    return f"{folder}/part-{number:06d}.parquet"


def _nothing() -> None:
    """Unlock what is not locked."""
