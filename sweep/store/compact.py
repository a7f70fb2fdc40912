"""Few large parts instead of many small ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from sweep.store.files import RESULTS, Folder, part_name
from sweep.store.moves import PendingFiles, writing
from sweep.store.recover import read_conforming


def compact(
    folder: Folder, schemas: Mapping[str, pa.Schema], rows: int, nbytes: int
) -> dict[int, int]:
    """Merge parts that are less than half full; return the new number of each merged part.

    Parameters
    ----------
    folder : Folder
    schemas : mapping of str to pyarrow.Schema
        Of the tables of details, and last of results.
    rows, nbytes : int
        Results, and bytes of details in memory, of a full part.
    """
    moved: dict[int, int] = {}
    for group in _groups(folder, schemas, rows, nbytes):
        first, *rest = group
        with writing(folder, wholly=True) as pending:
            for table, schema in schemas.items():
                _merge(folder, pending, table, schema, group)
        moved |= dict.fromkeys(rest, first)
    return moved


def _groups(
    folder: Folder, schemas: Mapping[str, pa.Schema], rows: int, nbytes: int
) -> Iterator[list[int]]:
    """Yield numbers of parts that make one part together."""
    details = [
        (folder.parts(table), 16 * len(schema))  # bytes of a row, about
        for table, schema in schemas.items()
        if table != RESULTS
    ]
    group: list[int] = []
    total_rows = total_bytes = 0
    for part, name in folder.parts(RESULTS).items():
        has = folder.row_count(name)
        size = sum(w * folder.row_count(parts[part]) for parts, w in details if part in parts)
        if has > rows // 2 or size > nbytes // 2:
            continue
        if group and (total_rows + has > rows or total_bytes + size > nbytes):
            if len(group) > 1:
                yield group
            group, total_rows, total_bytes = [], 0, 0
        group.append(part)
        total_rows, total_bytes = total_rows + has, total_bytes + size
    if len(group) > 1:
        yield group


def _merge(
    folder: Folder, pending: PendingFiles, table: str, schema: pa.Schema, group: list[int]
) -> None:
    names = folder.parts(table)
    parts = [part for part in group if part in names]
    if not parts:
        return
    tables = [read_conforming(folder, names[part], schema) for part in parts]
    first = part_name(table, group[0])
    # Once a reader sees the merged part it must not see the others.
    for part in parts:
        if names[part] != first:
            pending.removal(names[part])
    pending.table(first, pa.concat_tables(tables).combine_chunks())
