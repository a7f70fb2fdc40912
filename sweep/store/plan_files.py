"""``points.parquet`` and ``manifest.json``: what was requested."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs

from sweep.store.files import MANIFEST, POINTS, DamagedError, Folder
from sweep.store.moves import writing
from sweep.store.recover import read_conforming
from sweep.store.schema import SCHEMA_VERSION, Row
from sweep.store.tables import table_of, united

BATCH = 1000
"""Rows of a grid that are in memory at a time."""


@dataclass(frozen=True)
class PlanFiles:
    """The two files of a dataset that hold no results."""

    folder: Folder
    schema: pa.Schema

    def point_ids(self) -> Set[str]:
        """Return the ids in ``points.parquet``; none if it is missing or damaged."""
        if self.folder.kind(POINTS) == pafs.FileType.NotFound:
            return set()
        try:
            ids = self.folder.read_table(POINTS, ["point_id"])["point_id"].unique()
        except DamagedError:  # `write_points` sets it aside
            return set()
        return {*ids.to_pylist()}

    def write_points(
        self, rows: Iterable[Row], digest: str, kept: Sequence[str] | None
    ) -> dict[str, str]:
        """Replace ``points.parquet``; return a damaged file and where it is now.

        Parameters
        ----------
        rows : iterable of mapping of str to value
        digest : str
            Tells this grid from any other.
        kept : sequence of str, optional
            Points whose rows of earlier grids are kept; by default all.
        """
        schema = self.schema.with_metadata({**self.schema.metadata, b"grid": digest.encode()})
        iterator = iter(rows)
        batches = iter(lambda: [*islice(iterator, BATCH)], [])
        tables: Iterable[pa.Table] = (table_of(batch, schema) for batch in batches)
        set_aside = {}
        if self.folder.kind(POINTS) != pafs.FileType.NotFound:
            try:
                if digest and self.folder.checked_metadata(POINTS).get(b"grid") == digest.encode():
                    return {}
                earlier = read_conforming(self.folder, POINTS, self.schema)
                earlier = earlier.replace_schema_metadata(schema.metadata)
                if kept is not None:
                    ids = pa.array(kept, pa.string())
                    earlier = earlier.filter(pc.is_in(earlier["point_id"], value_set=ids))
                if len(earlier):
                    new = pa.concat_tables([schema.empty_table(), *tables])
                    tables = [united(new, earlier)]
            except DamagedError:  # an earlier grid is lost with it, but no result
                set_aside[POINTS] = self.folder.set_aside(POINTS)
        with writing(self.folder) as pending:
            pending.tables(POINTS, tables, schema)
        return set_aside

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace ``manifest.json``; the schema version is added."""
        content = json.dumps({**manifest, "schema_version": SCHEMA_VERSION}, indent=2)
        with writing(self.folder) as pending:
            pending.content(MANIFEST, f"{content}\n".encode())
