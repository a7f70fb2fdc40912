"""`PlanTable`: some bytes for each grid row; rows and points are made from it when read.

A combination is resolved up to three times: to plan it, to write its rows to ``points.parquet``,
and when its point runs. Keeping millions of resolved rows would take gigabytes; resolving one
again takes microseconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sweep.grid.combinations import Combinations
from sweep.grid.lazy import Lazy
from sweep.grid.point import Kind, Point, by_column
from sweep.grid.resolve import Resolver

Index = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint64]
Row = dict[str, Any]
"""A grid row by column of the dataset."""


@dataclass(frozen=True)
class PlanTable:
    """Which point each grid row is.

    Attributes
    ----------
    combinations : Combinations
        Each is several grid rows where it has replicates.
    resolver : Resolver
    combination : ndarray, shape (rows,)
        Index in `combinations`, ascending.
    point_id, trace_id : ndarray, shape (rows,)
    kind : ndarray, shape (rows,)
        Index in `kinds`.
    kinds : list of Kind
    """

    combinations: Combinations
    resolver: Resolver
    combination: Index
    point_id: Ids
    trace_id: Ids
    kind: npt.NDArray[np.uint16]
    kinds: list[Kind]

    def point(self, row: int) -> Point:
        """Return the point of a grid row."""
        k = self.combination[row]
        first = int(np.searchsorted(self.combination, k))
        return self.resolver.resolve(self.combinations[int(k)]).point(row - first)


class GridRows(Lazy[Row]):
    """Grid rows as columns of the dataset, made when read."""

    def __init__(self, table: PlanTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table.combination)

    def __iter__(self) -> Iterator[Row]:
        number = 0
        for combination in self._table.combinations:
            columns = by_column(combination)
            for point in self._table.resolver.resolve(combination):
                yield self._row(number, point, columns)
                number += 1

    def make(self, k: int) -> Row:
        """Return a row."""
        combination = self._table.combinations[int(self._table.combination[k])]
        return self._row(k, self._table.point(k), by_column(combination))

    @staticmethod
    def _row(number: int, point: Point, columns: Mapping[str, Any]) -> Row:
        return {
            "grid_row": number,
            **point.columns(),
            **columns,
            "replicate": point.replicate,
        }


class Points(Mapping[str, Point]):
    """The unique points by id, in the order of the grid, made when read."""

    def __init__(self, table: PlanTable) -> None:
        self._table = table
        self._sorted, first = np.unique(table.point_id, return_index=True)
        self.rows: Index = np.sort(first)
        """First grid row of each point."""
        self._index = np.argsort(np.argsort(first))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[str]:
        return (f"{name:016x}" for name in self._table.point_id[self.rows].tolist())

    def __contains__(self, name: object) -> bool:
        return self.index_of(str(name)) is not None

    def __getitem__(self, name: str) -> Point:
        index = self.index_of(name)
        if index is None:
            raise KeyError(name)
        return self._table.point(int(self.rows[index]))

    def name(self, index: int) -> str:
        """Return the id of a point by its index in the order of the grid."""
        return f"{self._table.point_id[self.rows[index]]:016x}"

    def index_of(self, name: str) -> int | None:
        """Return the index of an id in the order of the grid, None where it is missing."""
        try:
            number = np.uint64(int(name, 16))
        except (ValueError, OverflowError):
            return None
        k = int(np.searchsorted(self._sorted, number))
        present = k < len(self._sorted) and self._sorted[k] == number
        return int(self._index[k]) if present else None

    def without(self, names: Collection[str]) -> PointList:
        """Return the points but some, those of one workload one after the other."""
        kept = np.ones(len(self), np.bool_)
        kept[[k for name in names if (k := self.index_of(name)) is not None]] = False
        rows = self.rows[kept]
        _, first, trace = np.unique(
            self._table.trace_id[rows], return_index=True, return_inverse=True
        )
        return PointList(self._table, rows[np.argsort(first[trace], kind="stable")])


class PointList(Lazy[Point]):
    """Some points of a plan in the order in which they run, made when read."""

    def __init__(self, table: PlanTable, rows: Index) -> None:
        self._table, self._rows = table, rows

    def __len__(self) -> int:
        return len(self._rows)

    def make(self, k: int) -> Point:
        """Return a point."""
        return self._table.point(int(self._rows[k]))

    def kinds(self) -> Counter[Kind]:
        """Return how many points there are of each kind."""
        kinds = self._table.kinds
        numbers = np.bincount(self._table.kind[self._rows], minlength=len(kinds)).tolist()
        return Counter({kind: n for kind, n in zip(kinds, numbers, strict=True) if n})
