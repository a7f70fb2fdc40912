"""Columns of the table of results: parameters, and metrics with their units."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.keys import key_of
from core.statistics import percent
from core.trace import BINS
from sweep.console.fitted_table import Column
from sweep.console.result_lines import Line
from sweep.store.row_values import shown_value

_BINS = tuple(f"{b.lower()}_mean_cct_s" for b in BINS)
_SHUFFLE = {
    "FoS records": "fos_records",
    "FoS bytes": "fos_bytes",
    "max/mean": "max_over_mean",
    "fragments/key": "fragments_per_key",
    "predicted FoS": "predicted_fos",
    "sampled": "sampled_share",
}
DROPPED_FIRST = (
    *(BINS, ("< 10^6 ms",), ("p50",), ("max",), ("p95",), ("coflows",)),
    *(("FoS bytes",), ("predicted FoS",), ("max/mean",), ("fragments/key",), ("gap",)),
)
"""Columns that a narrow terminal does without, in this order."""


def parameter_column(name: str, lines: Sequence[Line]) -> Column:
    """Return the column of a parameter."""
    values = [line.values[name] for line in lines]
    is_number = all(v is None or isinstance(v, int | float) for v in values)
    return Column(key_of(name), [shown_value(v) for v in values], number=is_number)


def metric_columns(lines: Sequence[Line]) -> list[Column]:
    """Return the columns of what the lines have of the metrics; times in ms."""

    def times(header: str, name: str, decimals: int | None = None) -> Column:
        return Column(header, _milliseconds([line.metrics[name] for line in lines], decimals))

    spread = []
    if any(line.n > 1 for line in lines):
        spread = [
            Column("±", _milliseconds([line.half_width for line in lines], 2)),
            Column("n", [str(line.n) for line in lines]),
        ]
    coflows = [line.metrics["coflows"] for line in lines]
    gaps = [line.metrics["gap"] for line in lines]
    if any(line.metrics["fos_records"] is not None for line in lines):
        details = _shuffle_columns(lines, times)
    else:
        shares = [line.metrics["share_below_1000s"] for line in lines]
        details = [
            *(times(header, f"{header}_cct_s") for header in ("p50", "p95", "max")),
            *(times(header, name) for header, name in zip(BINS, _BINS, strict=True)),
            _percent_column("< 10^6 ms", shares, 2),
        ]
    return [
        Column("coflows", ["–" if c is None else _spaced(c, 0) for c in coflows]),
        times("mean", "mean_cct_s", 2),
        *spread,
        *details,
        *([_percent_column("gap", gaps, 0)] if any(gap is not None for gap in gaps) else []),
    ]


def _shuffle_columns(lines: Sequence[Line], times: Callable[..., Column]) -> list[Column]:
    """Return how even the reducers are and what that took, in place of the spread of CCTs."""
    columns = [times("p95", "p95_cct_s"), times("job", "mean_job_s", 2)]
    if any(line.metrics["sample_cost_s"] for line in lines):
        columns.append(times("sampling", "sample_cost_s", 2))
    for header, name in _SHUFFLE.items():
        values = [line.metrics[name] for line in lines]
        if name != "sampled_share":
            columns.append(Column(header, ["–" if v is None else f"{v:.4f}" for v in values]))
        elif any(isinstance(x.values.get("shuffle_sampling_rate"), str) for x in lines):  # auto
            columns.append(_percent_column(header, values, 2))
    return columns


def _percent_column(header: str, shares: Sequence[float | None], decimals: int) -> Column:
    return Column(header, ["–" if s is None else percent(s, decimals) for s in shares])


def _milliseconds(seconds: Sequence[float | None], decimals: int | None = None) -> list[str]:
    """Return times in ms; with 2 decimals, or none where the column has large ones."""
    if decimals is None:
        decimals = 0 if any(s is not None and s >= 10 for s in seconds) else 2
    return ["–" if s is None else _spaced(1000 * s, decimals) for s in seconds]


def _spaced(number: float, decimals: int) -> str:
    return f"{number:,.{decimals}f}".replace(",", " ")
