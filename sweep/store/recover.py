"""What an output directory holds when a run opens it, repaired where a kill or a disk broke it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from sweep.store.files import RESULTS, DamagedError, Folder
from sweep.store.schema import check_version
from sweep.store.tables import conform, without

SHUFFLED = "fos_records"
"""A column of results that only points with a shuffle have."""


@dataclass
class Found:
    """What is there.

    Attributes
    ----------
    finished : set of str
        Points that need not run again.
    failed : set of str
        Points whose row is not ok.
    part_of : dict of str to int
        Part of the row of each point that is not finished.
    last : int
        Largest number of a part, 0 where there is none.
    set_aside : dict of str to str
        Damaged files, and where they lie now.
    """

    finished: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    part_of: dict[str, int] = field(default_factory=dict)
    last: int = 0
    set_aside: dict[str, str] = field(default_factory=dict)


def recover(folder: Folder, schemas: Mapping[str, pa.Schema], wanted: Iterable[str]) -> Found:
    """Learn what is finished, and repair what is not whole.

    Parameters
    ----------
    folder : Folder
    schemas : mapping of str to pyarrow.Schema
        Of results and of the tables with details.
    wanted : iterable of str
        Tables with details without whose rows a point is not finished, where it can have any.

    Raises
    ------
    StoreError
        A part of another schema version, or a file that cannot be reached.
    """
    found = Found()
    ok: dict[str, int] = {}
    shuffled: set[str] = set()
    for part, name in folder.parts(RESULTS).items():
        found.last = max(found.last, part)
        try:
            table = read_conforming(folder, name, schemas[RESULTS])
        except DamagedError:
            found.set_aside[folder.show(name)] = folder.show(folder.set_aside(name))
            continue
        columns = [table[name].to_pylist() for name in ("point_id", "status", SHUFFLED)]
        for point_id, status, fos in zip(*columns, strict=True):
            if status == "ok":
                ok[point_id] = part
                if fos is not None:
                    shuffled.add(point_id)
            else:
                found.failed.add(point_id)
                found.part_of[point_id] = part
    known = pa.array(ok, pa.string())
    details = [table for table in schemas if table != RESULTS]
    there = {
        table: _recover_details(folder, table, schemas[table], known, found) for table in details
    }
    for point_id, part in ok.items():
        able = {"coflows"} | ({"reducers"} if point_id in shuffled else set())
        if all(point_id in there[table] for table in able.intersection(wanted)):
            found.finished.add(point_id)
        else:
            found.part_of[point_id] = part
    return found


def _recover_details(
    folder: Folder, table_name: str, schema: pa.Schema, ok: pa.Array, found: Found
) -> set[str]:
    """Return the points that have rows in a table; remove those of points that are not ok."""
    seen: set[str] = set()
    for part, name in reversed(folder.parts(table_name).items()):
        found.last = max(found.last, part)
        try:
            ids = folder.read_table(name, ["point_id"])["point_id"].unique()
            known = set(ids.filter(pc.is_in(ids, value_set=ok)).to_pylist()) - seen
            if len(known) < len(ids):
                table = read_conforming(folder, name, schema)
                with folder.writing() as aside:
                    if known:
                        gone = [i for i in ids.to_pylist() if i not in known]
                        aside.table(name, without(table, gone))
                    else:
                        aside.removal(name)
        except DamagedError:
            found.set_aside[folder.show(name)] = folder.show(folder.set_aside(name))
            continue
        seen |= known
    return seen


def read_conforming(folder: Folder, name: str, schema: pa.Schema) -> pa.Table:
    """Read a file whole, and write it anew first if it has fewer columns than today's."""
    table = folder.read_table(name)
    check_version(table.schema, folder.show(name))
    if table.schema.equals(schema):
        return table
    conforming = conform(table, schema, folder.show(name))
    if table.schema.names != schema.names:
        with folder.writing() as aside:
            aside.table(name, conforming)
    return conforming
