"""Tables in memory: rows to Arrow, and the few operations on tables that the writer needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.errors import StoreError
from sweep.store.schema import Row, check_version


def table_of(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    """Return rows as a table; None, NaN and missing values are null.

    Raises
    ------
    TypeError
        A value that is not of its column's type.
    """
    rows = stored_rows(rows)
    try:
        table = pa.Table.from_pylist(rows, schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # name the column: this takes three times as long
        columns = [_array([row.get(field.name) for row in rows], field) for field in schema]
        return pa.Table.from_arrays(columns, schema=schema)
    for index, field in enumerate(schema):
        if pa.types.is_floating(field.type) and pc.any(nan := pc.is_nan(table[index])).as_py():
            numbers = pc.if_else(nan, pa.scalar(None, field.type), table[index])
            table = table.set_column(index, field, numbers)
    return table


def stored_rows(rows: Sequence[Row]) -> list[Row]:
    """Return rows as columns hold them: with the numbers that stand for words like ``auto``."""
    from core.keys import parameters  # a reader does without the kernels

    with_words = [parameter for parameter in parameters().values() if parameter.words]
    changed = list(rows)
    for parameter in with_words:
        for k, row in enumerate(changed):
            if isinstance(value := row.get(parameter.column), str):
                changed[k] = {**row, parameter.column: parameter.stored(value)}
    return changed


def detail_rows(details: Mapping[str, Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return the columns of several points, by point_id, as one table."""
    lengths = [len(columns[schema.names[1]]) for columns in details.values()]
    which = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    ids = pa.DictionaryArray.from_arrays(which, pa.array(details, pa.string())).cast(pa.string())
    columns = [
        _array(np.concatenate([c[field.name] for c in details.values()]), field)
        for field in list(schema)[1:]
    ]
    return pa.Table.from_arrays([ids, *columns], schema=schema)


def conform(table: pa.Table, schema: pa.Schema, shown: str) -> pa.Table:
    """Return a table of an earlier run in today's schema; columns that are new are null.

    Raises
    ------
    StoreError
        Another schema version, or columns that today's schema does not have.
    """
    check_version(table.schema, shown)
    gone = [f.name for f in table.schema if f.name not in schema.names]
    gone += [
        f.name
        for f in table.schema
        if f.name in schema.names and f.type != schema.field(f.name).type
    ]
    if gone:
        raise StoreError(
            f"{shown} has columns that this installation does not write: {', '.join(gone)}; "
            "set another output.dir"
        )
    columns = [
        table[f.name] if f.name in table.schema.names else pa.nulls(len(table), f.type)
        for f in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def joined(first: pa.Table, second: pa.Table) -> pa.Table:
    """Return the rows of two tables, in one chunk."""
    return pa.concat_tables([first, second]).combine_chunks()


def without(table: pa.Table, ids: Any) -> pa.Table:
    """Return the rows without those of some points."""
    if not len(ids):
        return table
    gone = pc.is_in(table["point_id"], value_set=pa.array(ids, pa.string()))
    return table.filter(pc.invert(gone))


def united(new: pa.Table, old: pa.Table) -> pa.Table:
    """Return the rows of both grids without repetitions, the new ones first, numbered from 0.

    A new row replaces an old one that asks for the same, also where it leads to another point:
    the old point ran with a trace file or with code that has changed since.
    """
    index = new.schema.get_field_index("grid_row")
    rows = pa.concat_tables([new, old])
    rows = rows.set_column(index, new.schema.field(index), pa.array(np.arange(len(rows))))
    content = [n for n in new.schema.names if n not in ("grid_row", "point_id", "trace_id")]
    first = rows.group_by(content, use_threads=False).aggregate([("grid_row", "min")])
    kept = rows.take(first["grid_row_min"].sort())
    return kept.set_column(index, new.schema.field(index), pa.array(np.arange(len(kept))))


def _array(values: Any, field: pa.Field) -> pa.Array:
    try:
        return pa.array(values, field.type, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise TypeError(f"column {field.name} ({field.type}): {error}") from error
