"""Values that points have read, told apart from those that they have not.

A dataset has an empty cell for three things: a value that is *null* (``shuffle.slots=null``: the
key is read, and has no value), a key that the point does not read, and a key that the grid does
not have there. Here the first is the word ``null``, as on the command line; the others are empty.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from core.errors import InputError
from core.keys import KIND, REPEATS, parameters
from core.parameters import Parameter, column_of
from core.registry import reads
from sweep.store.row_values import NULL
from sweep.store.schema import IDENTITY, OUTCOME

NOT_PARAMETERS = frozenset({*(c.name for c in IDENTITY), *OUTCOME, *REPEATS, "grid_row", "run"})


def with_words(grid: pd.DataFrame) -> pd.DataFrame:
    """Return a grid with words like ``auto`` and ``null`` where a dataset has none of them."""
    for parameter in parameters().values():
        name = parameter.column
        if parameter.words and name in grid:
            words = grid[name].astype(object).map(parameter.loaded, na_action="ignore")
            if any(isinstance(value, str) for value in words):
                grid = grid.assign(**{name: words})
    return with_nulls(grid)


def with_nulls(grid: pd.DataFrame) -> pd.DataFrame:
    """Return a grid with the word ``null`` where it asks for no value.

    These are the empty cells of rows that read the key, and those of rows that do not, where the
    same point has a row with a value: there the key is an axis, which has all its values in turn.
    """
    nullable = [
        p.column
        for p in parameters().values()
        if p.default is None and not p.required and p.column not in NOT_PARAMETERS
    ]
    empty = {n: grid[n].isna() for n in nullable if n in grid}
    empty = {name: cells for name, cells in empty.items() if cells.any()}
    if not empty:
        return grid
    null = {name: pd.Series(False, index=grid.index) for name in empty}
    for group, declared in _by_kind(grid):
        for name in empty:
            null[name].loc[group.index] = _is_read(group, declared, name)
    points = [grid[n] for n in ("run", "point_id") if n in grid]
    for name, cells in empty.items():
        is_axis = (~cells).groupby(points, sort=False).transform("any") if points else False
        word = cells & (null[name] | is_axis)
        if word.any():
            grid = grid.assign(**{name: grid[name].astype(object).mask(word, NULL)})
    return grid


def without_unread(points: pd.DataFrame) -> pd.DataFrame:
    """Return points without the values of parameters that they do not read."""
    frame = points.copy()
    columns = [n for n in frame.columns if n not in NOT_PARAMETERS and n not in KIND]
    varying = [n for n in columns if frame[n].nunique(dropna=True) > 1]
    for group, declared in _by_kind(points):
        for name in varying:
            unread = ~_is_read(group, declared, name)
            frame.loc[group.index[unread], name] = None
    return frame


def _by_kind(frame: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, tuple[Parameter, ...]]]:
    """Yield the rows of each scheduler, engine and workload, with the parameters declared there."""
    for names, group in frame.groupby(list(KIND), sort=False):
        try:
            yield group, reads(*map(str, names))
        except (KeyError, InputError):  # a plug-in, or a kind of another version of this package
            continue


def _is_read(group: pd.DataFrame, declared: tuple[Parameter, ...], column: str) -> pd.Series:
    """Return which rows of a kind read the parameter of a column."""
    read = pd.Series(False, index=group.index)
    for parameter in (p for p in declared if p.column == column):  # one declaration a partitioner
        holds = pd.Series(True, index=group.index)
        for key, allowed in parameter.when:
            values = group.get(column_of(key))
            if values is None:
                continue
            among = values.isin([v for v in allowed if v is not None])
            holds &= among | (values.isna() | values.eq(NULL)) if None in allowed else among
        read |= holds
    return read.astype(bool)
