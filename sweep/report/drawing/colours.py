"""One colour per scheduler, and per partitioner, in all figures of a report."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from sweep.report.averages import plain
from sweep.report.data import ReportData
from sweep.report.drawing.chart import PALETTE, Chart

SCHEDULER, PARTITIONER = "scheduler", "shuffle_partitioner"
_BY_NAME = {
    **dict.fromkeys(("scheduler", "label", "curve"), SCHEDULER),
    **dict.fromkeys(("shuffle_partitioner", "partitioner", "line"), PARTITIONER),
}
"""What the first word of a value names, by the column that is coloured."""
_ROUNDS = 4
"""Dashes that tell settings of one colour apart."""
_NAMED = re.compile(r"shuffle\.partitioner=(\S+)")


def palette_index(data: ReportData, table: pd.DataFrame, chart: Chart) -> dict[str, int]:
    """Return the index in the palette of each coloured value; empty: in the order of the values.

    The n-th scheduler, or partitioner, of the grid has index n. Its settings share its colour and
    differ in dashes or markers; other values get colours that no name has.
    """
    if not chart.colour:
        return {}
    winner = chart.colour == "winner"
    kind = str(chart.colour_axis) if winner else _BY_NAME.get(chart.colour, "")
    names = _names(data, kind)
    indices = {name: k for k, name in enumerate(names)}
    by_partitioner = kind == SCHEDULER and len(names) < 2 and not winner
    if by_partitioner and chart.colour != SCHEDULER:
        names = _names(data, PARTITIONER)
        indices = {name: k for k, name in enumerate(names)}
    if not names or (len(names) < 2 and chart.colour in ("label", "curve")):
        return {}
    used: set[int] = set()
    later = []
    for value in dict.fromkeys(table[chart.colour].map(plain)):
        named = _NAMED.search(value) if by_partitioner else None
        name = named[1] if named else value if winner else value.split(" ", 1)[0]
        free = [k for k in _rounds(indices.get(name), len(names)) if k not in used]
        if name not in names or not free:
            later.append(value)
            continue
        indices[value] = free[0]
        used.add(free[0])
    spare = (k for k in range(len(PALETTE) * (len(table) + 2)) if _is_spare(k, len(names)))
    used |= {*indices.values()}
    for value in later:
        indices[value] = next(k for k in spare if k not in used)
    return indices


def _names(data: ReportData, kind: str) -> list[str]:
    """Return schedulers or partitioners in the order of the grid."""
    if kind not in (SCHEDULER, PARTITIONER) or kind not in data.points:
        return []
    return [plain(v) for v in data.points[kind].dropna().unique()]


def _rounds(index: int | None, names: int) -> Sequence[int]:
    """Return the indices for a name's settings: its colour, round after round of the palette."""
    if index is None or names > len(PALETTE):
        return [] if index is None else [index]
    return [index + k * len(PALETTE) for k in range(_ROUNDS)]


def _is_spare(index: int, names: int) -> bool:
    """Whether an index has a colour that no name has, or every colour has a name."""
    return index >= names and (index % len(PALETTE) >= names or names >= len(PALETTE))
