"""What an output directory holds when a run opens it, repaired where a kill or a disk broke it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from sweep.store.files import COFLOWS, RESULTS, DamagedError, Folder
from sweep.store.schema import check_version
from sweep.store.tables import conform, without


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


def recover(
    folder: Folder, results_schema: pa.Schema, coflows_schema: pa.Schema, need_coflows: bool
) -> Found:
    """Learn what is finished, and repair what is not whole.

    Parameters
    ----------
    folder : Folder
    results_schema, coflows_schema : pyarrow.Schema
    need_coflows : bool
        A point without coflows is not finished.

    Raises
    ------
    StoreError
        A part of another schema version, or a file that cannot be reached.
    """
    found = Found()
    ok: dict[str, int] = {}
    for part, name in folder.parts(RESULTS).items():
        found.last = max(found.last, part)
        try:
            table = read_conforming(folder, name, results_schema)
        except DamagedError:
            found.set_aside[folder.show(name)] = folder.show(folder.set_aside(name))
            continue
        ids, statuses = table["point_id"].to_pylist(), table["status"].to_pylist()
        for point_id, status in zip(ids, statuses, strict=True):
            if status == "ok":
                ok[point_id] = part
            else:
                found.failed.add(point_id)
                found.part_of[point_id] = part
    with_coflows = _recover_coflows(folder, coflows_schema, pa.array(ok, pa.string()), found)
    for point_id, part in ok.items():
        if need_coflows and point_id not in with_coflows:
            found.part_of[point_id] = part
        else:
            found.finished.add(point_id)
    return found


def _recover_coflows(folder: Folder, schema: pa.Schema, ok: pa.Array, found: Found) -> set[str]:
    """Return the points that have coflows; remove those of points that are not ok."""
    seen: set[str] = set()
    for part, name in reversed(folder.parts(COFLOWS).items()):
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
