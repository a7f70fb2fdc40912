"""Colours that mean the same in all figures of a report: of schedulers, and of partitioners."""

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
"""What the first word is in a column of colours."""
_ROUNDS = 4
"""Dashes that tell settings of one colour apart."""
_NAMED = re.compile(r"shuffle\.partitioner=(\S+)")


def places_of(data: ReportData, table: pd.DataFrame, chart: Chart) -> dict[str, int]:
    """Return the places in the palette of what a chart colours; empty: as they come.

    A scheduler, or a partitioner, has the place at which it comes in the grid. Its settings share
    its colour, and differ in dashes or markers; what is left gets colours that no name has.
    """
    if not chart.colour:
        return {}
    winner = chart.colour == "winner"
    kind = str(chart.colour_axis) if winner else _BY_NAME.get(chart.colour, "")
    names = _names(data, kind)
    found = {name: k for k, name in enumerate(names)}
    by_partitioner = kind == SCHEDULER and len(names) < 2 and not winner
    if by_partitioner and chart.colour != SCHEDULER:
        names = _names(data, PARTITIONER)
        found = {name: k for k, name in enumerate(names)}
    if not names or (len(names) < 2 and chart.colour in ("label", "curve")):
        return {}
    used: set[int] = set()
    later = []
    for value in dict.fromkeys(table[chart.colour].map(plain)):
        named = _NAMED.search(value) if by_partitioner else None
        name = named[1] if named else value if winner else value.split(" ", 1)[0]
        free = [k for k in _rounds(found.get(name), len(names)) if k not in used]
        if name not in names or not free:
            later.append(value)
            continue
        found[value] = free[0]
        used.add(free[0])
    spare = (k for k in range(len(PALETTE) * (len(table) + 2)) if _is_spare(k, len(names)))
    used |= {*found.values()}
    for value in later:
        found[value] = next(k for k in spare if k not in used)
    return found


def _names(data: ReportData, kind: str) -> list[str]:
    """Return schedulers or partitioners in the order of the grid."""
    if kind not in (SCHEDULER, PARTITIONER) or kind not in data.points:
        return []
    return [plain(v) for v in data.points[kind].dropna().unique()]


def _rounds(place: int | None, names: int) -> Sequence[int]:
    """Return the places of a name's settings: its colour, again and again."""
    if place is None or names > len(PALETTE):
        return [] if place is None else [place]
    return [place + k * len(PALETTE) for k in range(_ROUNDS)]


def _is_spare(place: int, names: int) -> bool:
    """Whether a place has a colour that is no name's, or none is left."""
    return place >= names and (place % len(PALETTE) >= names or names >= len(PALETTE))
