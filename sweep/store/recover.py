"""What a dataset holds when a sweep opens it; repairs what a kill or a disk has broken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from sweep.store.files import RESULTS, DamagedError, Folder
from sweep.store.moves import writing
from sweep.store.schema import check_version
from sweep.store.tables import conform, without

SHUFFLED = "fos_records"
"""A column of results that only points with a shuffle have."""


@dataclass
class Contents:
    """What a dataset holds.

    Attributes
    ----------
    finished : set of str
        Points that need not run again.
    failed : set of str
        Points whose row is not ok.
    part_of : dict of str to int
        Part of the row of each point that is not finished.
    last : int
        Largest number of a part, 0 without any.
    set_aside : dict of str to str
        Damaged files, and where they are now.
    """

    finished: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    part_of: dict[str, int] = field(default_factory=dict)
    last: int = 0
    set_aside: dict[str, str] = field(default_factory=dict)


def recover(folder: Folder, schemas: Mapping[str, pa.Schema], requested: Iterable[str]) -> Contents:
    """Find out what is finished, and repair what is not whole.

    Parameters
    ----------
    folder : Folder
    schemas : mapping of str to pyarrow.Schema
        Of results and of the tables of details.
    requested : iterable of str
        Tables of details; a point that can have rows in them is finished only if it has.

    Raises
    ------
    StoreError
        A part of another schema version, or a file that cannot be reached.
    """
    contents = Contents()
    ok: dict[str, int] = {}
    shuffled: set[str] = set()
    for part, name in folder.parts(RESULTS).items():
        contents.last = max(contents.last, part)
        try:
            table = read_conforming(folder, name, schemas[RESULTS])
        except DamagedError:
            contents.set_aside[folder.show(name)] = folder.show(folder.set_aside(name))
            continue
        columns = [table[name].to_pylist() for name in ("point_id", "status", SHUFFLED)]
        for point_id, status, fos in zip(*columns, strict=True):
            if status == "ok":
                ok[point_id] = part
                if fos is not None:
                    shuffled.add(point_id)
            else:
                contents.failed.add(point_id)
                contents.part_of[point_id] = part
    ok_ids = pa.array(ok, pa.string())
    details = {
        table: _recover_details(folder, table, schema, ok_ids, contents)
        for table, schema in schemas.items()
        if table != RESULTS
    }
    for point_id, part in ok.items():
        able = {"coflows"} | ({"reducers"} if point_id in shuffled else set())
        if all(point_id in details[table] for table in able.intersection(requested)):
            contents.finished.add(point_id)
        else:
            contents.part_of[point_id] = part
    return contents


def _recover_details(
    folder: Folder, table_name: str, schema: pa.Schema, ok: pa.Array, contents: Contents
) -> set[str]:
    """Return the points that have rows in a table; remove those of points that are not ok."""
    seen: set[str] = set()
    for part, name in reversed(folder.parts(table_name).items()):
        contents.last = max(contents.last, part)
        try:
            ids = folder.read_table(name, ["point_id"])["point_id"].unique()
            kept = set(ids.filter(pc.is_in(ids, value_set=ok)).to_pylist()) - seen
            if len(kept) < len(ids):
                table = read_conforming(folder, name, schema)
                with writing(folder) as pending:
                    if kept:
                        gone = [i for i in ids.to_pylist() if i not in kept]
                        pending.table(name, without(table, gone))
                    else:
                        pending.removal(name)
        except DamagedError:
            contents.set_aside[folder.show(name)] = folder.show(folder.set_aside(name))
            continue
        seen |= kept
    return seen


def read_conforming(folder: Folder, name: str, schema: pa.Schema) -> pa.Table:
    """Read a whole file; if it has fewer columns than today's schema, rewrite it first."""
    table = folder.read_table(name)
    check_version(table.schema, folder.show(name))
    if table.schema.equals(schema):
        return table
    conforming = conform(table, schema, folder.show(name))
    if table.schema.names != schema.names:
        with writing(folder) as pending:
            pending.table(name, conforming)
    return conforming
