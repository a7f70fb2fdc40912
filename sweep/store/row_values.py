"""Parameters and values of rows, as the command line has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from core import registry
from core.errors import InputError
from core.keys import REPEATS, key_of
from core.parameters import Parameter, column_of
from sweep.store.schema import IDENTITY, OUTCOME, Row

NULL = "null"
"""A value of a key that is read and has none, as the command line has it."""


def parameter_columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns of parameters, without those of `REPEATS`."""
    others = {column.name for column in IDENTITY} | {*OUTCOME, *REPEATS, "grid_row"}
    return [name for name in dict.fromkeys(n for row in rows for n in row) if name not in others]


def varying_columns(rows: Iterable[Row], names: Iterable[str]) -> list[str]:
    """Return the columns with two values or more; a missing value does not count."""
    distinct: dict[str, set[Any]] = {name: set() for name in names}
    for row in rows:
        for name, values in distinct.items():
            if len(values) < 2 and (value := value_of(row, name)) is not None:
                values.add(value)
    return [name for name, values in distinct.items() if len(values) > 1]


def assignments(row: Row, names: Iterable[str]) -> list[str]:
    """Return ``key=value`` for what a row has of some columns."""
    shown = {n: shown_value(v) for n in names if (v := value_of(row, n)) is not None}
    return [f"{key_of(n)}={repr(v) if ' ' in v else v}" for n, v in shown.items()]


def is_default(row: Row, column: str) -> bool:
    """Whether a parameter of a row is missing, or the default of its reader."""
    value = value_of(row, column)
    if value is None:
        return True
    return any(
        none_for_null(value) == parameter.default
        for parameter in _declared(row["scheduler"], row["engine"], row["workload"], column)
        if parameter.is_read(
            {k: none_for_null(value_of(row, column_of(k))) for k, _ in parameter.when}
        )
    )


def none_for_null(value: Any) -> Any:
    """Return None for the word ``null``, any other value as it is."""
    return None if isinstance(value, str) and value == NULL else value


@cache
def _declared(scheduler: str, engine: str, workload: str, column: str) -> tuple[Parameter, ...]:
    try:
        reads = registry.reads(scheduler, engine, workload)
    except (KeyError, InputError):  # of another version of this package
        return ()
    return tuple(parameter for parameter in reads if parameter.column == column)


def value_of(row: Row, name: str) -> Any:
    """Return the value of a column, None where it is missing."""
    value = row.get(name)
    return None if isinstance(value, float) and math.isnan(value) else value


def value_text(value: Any) -> str:
    """Return a value of a key as the command line has it, ``null`` included.

    >>> value_text(None), value_text(2.0), value_text(True)
    ('null', '2', 'true')
    """
    return NULL if value is None else shown_value(value)


def shown_value(value: Any) -> str:
    """Return a cell of a row as the tables have it: a dash where it is empty."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else str(value)
