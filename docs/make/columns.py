"""Write docs/columns.md, the reference of a dataset's columns, from their declarations.

python docs/make/columns.py
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from core.keys import parameters
from core.metrics import METRICS, SHUFFLE_METRICS, Metric
from sweep.store.schema import DETAILS, GRID_ROW, IDENTITY, RUN, STATUS

PATH = Path(__file__).parents[1] / "columns.md"


_DETAILS = {
    "coflows": " and coflow (`output.coflows=true`)",
    "reducers": ", job and bucket (`output.reducers=true`)",
    "rates": ", job and sampling rate that `auto` weighed (`output.reducers=true`)",
}


def rows(columns: Iterable[Metric]) -> str:
    """Return Markdown table rows for columns."""
    names = {int: "integer", float: "float", str: "text", bool: "boolean"}
    return "".join(
        f"| `{c.name}` | {names[c.kind]} | {c.unit or '–'} | {c.help} |\n" for c in columns
    )


def text() -> str:
    """Return the whole page."""
    head = "| column | type | unit | meaning |\n|---|---|---|---|\n"
    declared = [Metric(p.column, p.unit, p.help, p.kind) for p in parameters().values()]
    return (
        "# Columns of a dataset\n\n"
        "`python docs/make/columns.py` writes this page. Every dataset has the same columns;\n"
        "a value that a point does not read is missing. CCT is finish minus start. In the\n"
        "`coflowsim` engine a time is CoflowSim's milliseconds / 1000 and a MB is 2^20 B.\n\n"
        "## points.parquet: one row per grid row\n\n"
        f"{head}{rows((GRID_ROW, *IDENTITY, *declared))}\n"
        "## results/part-*.parquet: one row per unique point\n\n"
        "The columns above but for `grid_row`, and:\n\n"
        f"{head}{rows((*STATUS, *METRICS, *RUN))}\n"
        "and where a partitioner made the coflows (means over jobs):\n\n"
        f"{head}{rows(SHUFFLE_METRICS)}"
        + "".join(
            f"\n## {table}/part-*.parquet: one row per point{what}\n\n"
            f"{head}{rows((IDENTITY[0], *DETAILS[table]))}"
            for table, what in _DETAILS.items()
        )
    )


if __name__ == "__main__":
    PATH.write_text(text())
