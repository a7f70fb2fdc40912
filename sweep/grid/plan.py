"""From a grid to unique points: checks, relevance, stable ids.

Every value is checked against the declaration of whoever reads it before anything runs. What a
point does not read is not part of it, so grid rows that differ only there are one point.

A plan holds numbers only, some bytes a row; rows and points are made when somebody asks.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import GridError
from core.keys import KIND, SEED_KEYS
from core.parameters import column_of, condition
from core.shuffle.axes import PARTITIONER
from sweep.grid.grid import Grid, check_all_read, checked_axes, declarations
from sweep.grid.options import SEED
from sweep.grid.point import Point, stored
from sweep.grid.resolve import Names, Resolver
from sweep.grid.rows import MOST_ROWS, GridRows, Interval, Lazy, Shape, several

Row = dict[str, Any]
Index = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Table:
    """Which points the rows of a plan are.

    Attributes
    ----------
    rows : GridRows
        Combinations that were asked for; each is several rows of the plan where it has
        replicates.
    expansion : Resolver
    combination : ndarray, shape (rows,)
        Ascending.
    point_id, trace_id : ndarray, shape (rows,)
    kind : ndarray, shape (rows,)
        Place in `kinds`.
    kinds : list of (scheduler, engine, workload)
    """

    rows: GridRows
    expansion: Resolver
    combination: Index
    point_id: Ids
    trace_id: Ids
    kind: npt.NDArray[np.uint16]
    kinds: list[Names]

    def point(self, row: int) -> Point:
        """Return the point of a row of the plan."""
        combination = self.combination[row]
        first = int(np.searchsorted(self.combination, combination))
        return self.expansion.reading(self.rows[int(combination)]).point(row - first)


class Rows(Lazy[Row]):
    """Grid rows as columns of the dataset, made when asked for."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table.combination)

    def __iter__(self) -> Iterator[Row]:
        number = 0
        for asked in self._table.rows:
            given = stored(asked)
            for point in self._table.expansion.reading(asked):
                yield self._row(number, point, given)
                number += 1

    def make(self, k: int) -> Row:
        """Return a row."""
        asked = self._table.rows[int(self._table.combination[k])]
        return self._row(k, self._table.point(k), stored(asked))

    @staticmethod
    def _row(number: int, point: Point, given: Mapping[str, Any]) -> Row:
        return {
            "grid_row": number,
            **point.columns(),
            **given,
            "replicate": point.replicate,
        }


class Points(Mapping[str, Point]):
    """The unique points by id, in the order of the grid, made when asked for."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._sorted, first = np.unique(table.point_id, return_index=True)
        self.rows: Index = np.sort(first)
        """Row of the grid in which each point stands first."""
        self._place = np.argsort(np.argsort(first))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[str]:
        return (f"{name:016x}" for name in self._table.point_id[self.rows].tolist())

    def __contains__(self, name: object) -> bool:
        return self.place(str(name)) is not None

    def __getitem__(self, name: str) -> Point:
        place = self.place(name)
        if place is None:
            raise KeyError(name)
        return self._table.point(int(self.rows[place]))

    def name(self, place: int) -> str:
        """Return the id of a point by its place in the order of the grid."""
        return f"{self._table.point_id[self.rows[place]]:016x}"

    def place(self, name: str) -> int | None:
        """Return the place of an id in the order of the grid, None where it is not there."""
        try:
            wanted = np.uint64(int(name, 16))
        except (ValueError, OverflowError):
            return None
        k = int(np.searchsorted(self._sorted, wanted))
        found = k < len(self._sorted) and self._sorted[k] == wanted
        return int(self._place[k]) if found else None

    def without(self, names: Collection[str]) -> PointList:
        """Return the points but some, those of one workload one after the other."""
        kept = np.ones(len(self), np.bool_)
        kept[[k for name in names if (k := self.place(name)) is not None]] = False
        rows = self.rows[kept]
        _, first, trace = np.unique(
            self._table.trace_id[rows], return_index=True, return_inverse=True
        )
        return PointList(self._table, rows[np.argsort(first[trace], kind="stable")])


class PointList(Lazy[Point]):
    """Some points of a plan in the order in which they run, made when asked for."""

    def __init__(self, table: Table, rows: Index) -> None:
        self._table, self._rows = table, rows

    def __len__(self) -> int:
        return len(self._rows)

    def make(self, k: int) -> Point:
        """Return a point."""
        return self._table.point(int(self._rows[k]))

    def kinds(self) -> Counter[Names]:
        """Return how many points there are of each scheduler, engine and workload."""
        kinds = self._table.kinds
        numbers = np.bincount(self._table.kind[self._rows], minlength=len(kinds)).tolist()
        return Counter({kind: n for kind, n in zip(kinds, numbers, strict=True) if n})


@dataclass
class Plan:
    """Grid rows and the unique points that they lead to."""

    axes: dict[str, list[Any] | Interval]
    shape: Shape
    table: Table = field(repr=False)
    repeated: dict[str, int]
    rows: Rows = field(init=False, repr=False)
    points: Points = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.rows, self.points = Rows(self.table), Points(self.table)

    @property
    def asked(self) -> int:
        """Combinations that were asked for; each may be several rows, one a replicate."""
        return len(self.table.rows)

    def lines(self, is_context: Callable[[str], bool]) -> tuple[Index, Index]:
        """Return two numbers for each unique point.

        Parameters
        ----------
        is_context : callable (column) → bool
            Whether an axis belongs to the circumstances, under which points can be compared.

        Returns
        -------
        line : ndarray, shape (points,)
            The same for replicates and other seeds of a point.
        circumstances : ndarray, shape (points,)
            The same for points that can be compared.
        """
        combination = self.table.combination[self.points.rows]
        keys = [key for key, values in self.axes.items() if several(values)]
        about = [k for k in keys if k not in SEED_KEYS and is_context(column_of(k))]
        numbers = np.arange(len(self.table.rows))
        line = self._numbered([k for k in keys if k not in SEED_KEYS], numbers)
        return line[combination], self._numbered(about, numbers)[combination]

    def _numbered(self, keys: Sequence[str], numbers: Index) -> Index:
        """Return for each combination a number, the same where these keys have the same values."""
        if len(keys) == sum(several(values) for values in self.axes.values()):
            return numbers
        if not keys:
            return np.zeros_like(numbers)
        hashes = (
            hashlib.blake2b(repr([asked[k] for k in keys]).encode(), digest_size=7).digest()
            for asked in self.table.rows
        )
        return np.fromiter((int.from_bytes(h, "big") for h in hashes), np.int64, len(numbers))

    def digest(self) -> str:
        """Return what tells the plan's grid from any other: it changes with every row."""
        grid = self.table.expansion.grid
        bases = sorted(grid.bases.items())
        asked = repr((self.axes, self.shape, bases, grid.seed, grid.replicates))
        return hashlib.sha256(asked.encode() + self.table.point_id.tobytes()).hexdigest()

    def unread(self) -> list[str]:
        """Say for each axis that some points do not read which ones, or when it is read."""
        found: list[str] = []
        for key in self.axes:
            if key in KIND:
                continue
            pairs = {
                (scheduler, key in keys or (key == "seed" and seed))
                for scheduler, keys, seed in self.table.expansion.readings
            }
            readers = {name for name, reads in pairs if reads}
            others = {name for name, reads in pairs if not reads}
            if blind := sorted(others - readers):
                found.append(f"{key} is not read by {', '.join(blind)}")
            if (others & readers) and (when := condition(declarations()[key])):
                found.append(f"{key} is read only with {when}")
        return found


def make_plan(grid: Grid) -> Plan:
    """Check a grid and expand it.

    Raises
    ------
    GridError, ParameterError, TraceError
        An unknown name, a value that is not allowed, a key that no point reads, a trace file
        that cannot be used.
    """
    axes, repeated = checked_axes(grid)
    rows = GridRows(axes, grid.shape, int(SEED.check(grid.seed) or 0))
    if not len(rows):
        raise GridError(f"sweep.filter={grid.shape.condition!r}: no grid row is left")
    # Replicates depend on these two alone.
    alike = not any(several(axes[k]) for k in ("workload", PARTITIONER) if k in axes)
    table = _table(rows, Resolver(grid), alike)
    check_all_read(grid, table.expansion.read())
    return Plan(axes, grid.shape, table, repeated)


def _table(rows: GridRows, expansion: Resolver, alike: bool) -> Table:
    """Expand a grid; where all rows have `alike` many replicates the first tells how many."""
    combination, point_id, trace_id, kind = array("q"), array("Q"), array("Q"), array("H")
    kinds: dict[Names, int] = {}
    for number, asked in enumerate(rows):
        reading = expansion.reading(asked)
        of_kind = kinds.setdefault(reading.names, len(kinds))
        for point in reading:
            combination.append(number)
            point_id.append(int(point.point_id, 16))
            trace_id.append(int(point.trace_id, 16))
            kind.append(of_kind)
        if max(len(combination), len(reading) * len(rows) if alike else 0) > MOST_ROWS:
            raise GridError(f"{len(rows)} rows with replicates: more than {MOST_ROWS} in all")
    return Table(
        rows,
        expansion,
        np.frombuffer(combination, np.int64),
        np.frombuffer(point_id, np.uint64),
        np.frombuffer(trace_id, np.uint64),
        np.frombuffer(kind, np.uint16),
        list(kinds),
    )
