"""From a grid to unique points: checks, what is read, stable ids.

Every value is checked against the declaration of each point that reads it before anything runs.
Unused parameters are ignored: grid rows that differ only in them share one point.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.errors import GridError
from core.keys import KIND, SEED_KEYS
from core.parameters import column_of, when_read
from core.shuffle.axes import PARTITIONER
from sweep.grid.axes import Interval, Shape, several
from sweep.grid.combinations import MOST_ROWS, Combinations
from sweep.grid.grid import Grid, checked_axes, declarations
from sweep.grid.options import SEED
from sweep.grid.point import Kind
from sweep.grid.resolve import Resolver
from sweep.grid.table import GridRows, Index, PlanTable, Points
from sweep.grid.unread import check_all_read


@dataclass
class Plan:
    """Grid rows and the unique points that they lead to."""

    axes: dict[str, list[Any] | Interval]
    shape: Shape
    table: PlanTable = field(repr=False)
    repeated: dict[str, int]
    rows: GridRows = field(init=False, repr=False)
    points: Points = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.rows, self.points = GridRows(self.table), Points(self.table)

    @property
    def combinations(self) -> int:
        """Number of combinations; each may be several grid rows, one a replicate."""
        return len(self.table.combinations)

    def lines(self, is_context: Callable[[str], bool]) -> tuple[Index, Index]:
        """Return two numbers for each unique point.

        Parameters
        ----------
        is_context : callable (column) → bool
            Whether an axis belongs to the context, within which points can be compared.

        Returns
        -------
        line : ndarray, shape (points,)
            The same for replicates and other seeds of a point.
        context : ndarray, shape (points,)
            The same for points that can be compared.
        """
        combination = self.table.combination[self.points.rows]
        keys = [key for key, values in self.axes.items() if several(values)]
        of_line = [k for k in keys if k not in SEED_KEYS]
        of_context = [k for k in of_line if is_context(column_of(k))]
        return self._numbered(of_line)[combination], self._numbered(of_context)[combination]

    def _numbered(self, keys: Sequence[str]) -> Index:
        """Return for each combination a number, the same where these keys have the same values."""
        combinations = self.table.combinations
        if len(keys) == sum(several(values) for values in self.axes.values()):
            return np.arange(len(combinations))
        if not keys:
            return np.zeros(len(combinations), np.int64)
        hashes = (
            hashlib.blake2b(repr([values[k] for k in keys]).encode(), digest_size=7).digest()
            for values in combinations
        )
        return np.fromiter((int.from_bytes(h, "big") for h in hashes), np.int64, len(combinations))

    def digest(self) -> str:
        """Return a text that tells the plan's grid from any other: it changes with every row."""
        grid = self.table.resolver.grid
        bases = sorted(grid.bases.items())
        content = repr((self.axes, self.shape, bases, grid.seed, grid.replicates))
        return hashlib.sha256(content.encode() + self.table.point_id.tobytes()).hexdigest()

    def unread(self) -> list[str]:
        """Say for each axis that some points do not read which ones, or when it is read."""
        reasons: list[str] = []
        for key in self.axes:
            if key in KIND:
                continue
            pairs = {
                (scheduler, key in keys or (key == "seed" and seed))
                for scheduler, keys, seed in self.table.resolver.reads
            }
            readers = {scheduler for scheduler, is_read in pairs if is_read}
            others = {scheduler for scheduler, is_read in pairs if not is_read}
            if blind := sorted(others - readers):
                reasons.append(f"{key} is not read by {', '.join(blind)}")
            if (others & readers) and (when := when_read(declarations()[key])):
                reasons.append(f"{key} is read only with {when}")
        return reasons


def make_plan(grid: Grid) -> Plan:
    """Check a grid and expand it.

    Raises
    ------
    GridError, ParameterError, TraceError
        An unknown name, a value that is not allowed, a key that no point reads, a trace file
        that cannot be used.
    """
    axes, repeated = checked_axes(grid)
    combinations = Combinations(axes, grid.shape, int(SEED.check(grid.seed) or 0))
    if not len(combinations):
        raise GridError(
            f"sweep.filter={grid.shape.filter!r}: no grid row is left; widen the condition "
            "or the axes"
        )
    # The number of replicates depends on these two alone.
    same_number = not any(several(axes[k]) for k in ("workload", PARTITIONER) if k in axes)
    table = _table(combinations, Resolver(grid), same_number)
    check_all_read(grid, axes, table.kinds, table.resolver.keys_read())
    return Plan(axes, grid.shape, table, repeated)


def _table(combinations: Combinations, resolver: Resolver, same_number: bool) -> PlanTable:
    """Expand a grid.

    Where all combinations have the `same_number` of replicates, the first one tells the total.
    """
    combination, point_id, trace_id, kind = array("q"), array("Q"), array("Q"), array("H")
    kinds: dict[Kind, int] = {}
    for k, values in enumerate(combinations):
        resolved = resolver.resolve(values)
        kind_index = kinds.setdefault(resolved.kind, len(kinds))
        for point in resolved:
            combination.append(k)
            point_id.append(int(point.point_id, 16))
            trace_id.append(int(point.trace_id, 16))
            kind.append(kind_index)
        total = len(resolved) * len(combinations) if same_number else 0
        if max(len(combination), total) > MOST_ROWS:
            raise GridError(
                f"{len(combinations)} rows with replicates: more than {MOST_ROWS} in all; leave "
                "out values or replicates, or draw combinations with sweep.sample=N"
            )
    return PlanTable(
        combinations,
        resolver,
        np.frombuffer(combination, np.int64),
        np.frombuffer(point_id, np.uint64),
        np.frombuffer(trace_id, np.uint64),
        np.frombuffer(kind, np.uint16),
        list(kinds),
    )
