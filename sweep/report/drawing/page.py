"""The page: one file with everything in it, which opens without a network."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any

import numpy as np
import pandas as pd
from plotly.offline import get_plotlyjs

from core.keys import key_of
from sweep.report.averages import (
    LARGER_IS_BETTER,
    MEASURES,
    key_axis,
    measure_axis,
    measures_in,
    metric_title,
)
from sweep.report.data import ReportData
from sweep.report.directory import fingerprint
from sweep.report.drawing.chart import PALETTE, Drawn
from sweep.report.effects import cube_of
from sweep.report.run_facts import facts, failures, notices

_SCRIPTS = ("charts.js", "tables.js", "explore.js", "start.js")
_TABLES = ("compare", "tornado", "interactions")
"""Figures whose table is on the page, beside their picture."""
MOST_NUMBERS = 250_000
"""Numbers of settings that the page may hold; with more settings it has fewer metrics."""
MOST_ROWS = 20_000
"""Rows of a figure's table on the page; the CSV has all."""


def page(
    data: ReportData,
    drawn: Sequence[Drawn],
    missing: Mapping[str, str],
    files: Sequence[str] = (),
) -> str:
    """Return the page's HTML.

    Parameters
    ----------
    data : ReportData
    drawn : sequence of Drawn
    missing : mapping of str to str
        What other figures lack, by their title.
    files : sequence of str
        Files of the report beside the page.
    """
    names = " and ".join(run.name for run in data.runs)
    content = {
        "palette": PALETTE,
        "titles": {name: key_of(name) for name in data.parameters},
        "metrics": {m.name: metric_title(m.name) for m in MEASURES},
        "runs": [{"name": run.name, "facts": facts(run, data)} for run in data.runs],
        "notices": notices(data),
        "figures": [_figure(d) for d in drawn],
        "missing": [*missing.items()],
        **_settings(data, drawn),
    }
    return Template(_asset("page.html")).substitute(
        title=html.escape(f"Sweep report: {names}"),
        files=html.escape(" ".join(files)),
        datasets=fingerprint(run.path for run in data.runs),
        style=_asset("page.css"),
        data=embedded(content),
        library=get_plotlyjs().replace("</script", "<\\/script"),
        script="\n".join(_asset(name) for name in _SCRIPTS).replace("</script", "<\\/script"),
    )


def embedded(content: Any) -> str:
    """Return JSON that cannot end the script element around it."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _figure(drawn: Drawn) -> dict[str, Any]:
    chart = drawn.chart.content()
    table = drawn.table
    if len(table) > MOST_ROWS:
        chart["note"] += (
            f" The page has the first {MOST_ROWS} of {len(table)} rows; the CSV has all."
        )
        table = table.head(MOST_ROWS)
    return {
        "name": drawn.name,
        "title": drawn.title,
        "chart": chart,
        "table": columns_of(table),
    }


def _settings(data: ReportData, drawn: Sequence[Drawn]) -> dict[str, Any]:
    """Return the tables, and the grid for the heat maps: its axes by codes."""
    settings = data.settings if len(data.points) else pd.DataFrame()
    tables: list[dict[str, Any]] = []
    cube: dict[str, Any] | None = None
    if len(settings):
        metrics = measures_in(settings)
        metrics = metrics[: max(2, MOST_NUMBERS // len(settings))]
        axes = [*data.context, *data.knobs]
        digits = 6 if len(settings) > 2000 else 9
        halves = [h] if (h := "mean_cct_s_half") in settings else []
        shown = settings[[*axes, "n", *metrics[:1], *halves, *metrics[1:]]]
        tables.append(
            {
                "name": "settings",
                "title": "All settings",
                "note": "Means over replicates; n: points in a mean. "
                + _left_out(settings, metrics),
                "columns": [_column(shown, name) for name in map(str, shown)],
                "table": columns_of(shown, digits),
            }
        )
        if any(d.chart.explore for d in drawn):
            cube = _cube(data, metrics, digits)
    tables += [_as_table(d) for d in drawn if d.name in _TABLES]
    failed = failures(data)
    if len(failed):
        columns = [
            _column(failed, name) | {"long": name in ("error", "point")}
            for name in map(str, failed)
        ]
        tables.insert(
            0,
            {
                "name": "failures",
                "title": f"Failures ({len(failed)})",
                "columns": columns,
                "table": columns_of(failed.head(2000)),
            },
        )
    return {"tables": tables, "cube": cube}


def _as_table(drawn: Drawn) -> dict[str, Any]:
    table = drawn.table.drop(columns=["text"], errors="ignore")
    return {
        "name": drawn.name,
        "title": f"{drawn.title}: table",
        "columns": [_column(table, name) for name in map(str, table)],
        "table": columns_of(table.head(MOST_ROWS)),
    }


def _left_out(settings: pd.DataFrame, metrics: Sequence[str]) -> str:
    rest = [n for n in measures_in(settings) if n not in metrics]
    return f"Left out on this page, see settings.csv: {', '.join(rest)}." if rest else ""


def _cube(data: ReportData, metrics: Sequence[str], digits: int) -> dict[str, Any] | None:
    cube = cube_of(data)
    if len(cube.axes) < 2:
        return None
    axes = []
    for name in cube.axes:
        values = cube.values(name)
        code = {value: k for k, value in enumerate(values)}
        codes = [code[v] for v in cube.shown(name)]
        titles = {"title": key_of(name), "with_unit": key_axis(name).title}
        axes.append({"column": name, **titles, "values": values, "codes": codes})
    described = [measure_axis(name) for name in metrics]
    return {
        "axes": axes,
        "rows": len(cube.frame),
        "setting": cube.frame["setting"].tolist(),
        "weights": cube.frame["weight"].tolist(),
        "metrics": [
            vars(a) | {"title": a.title, "larger": a.column in LARGER_IS_BETTER} for a in described
        ],
        "values": columns_of(data.comparable[[*metrics]], digits)["data"],
    }


def _column(frame: pd.DataFrame, name: str) -> dict[str, Any]:
    number = bool(pd.api.types.is_numeric_dtype(frame[name]))
    titles = {n: measure_axis(n).title for n in measures_in(frame)}
    title = "± (95 %) [s]" if name == "mean_cct_s_half" else titles.get(name, key_of(name))
    return {"name": name, "title": title.replace("[%]", "").strip(), "number": number}


def columns_of(table: pd.DataFrame, digits: int = 9) -> dict[str, Any]:
    """Return a table for JSON, by column; missing values and infinite ones are null."""
    data = {}
    for name in table.columns:
        column = table[name]
        if column.dtype == np.float64:
            values = [None if not math.isfinite(v) else float(f"{v:.{digits}g}") for v in column]
            data[name] = [int(v) if v is not None and v.is_integer() else v for v in values]
        else:
            data[name] = [
                None if pd.isna(v) else getattr(v, "item", lambda v=v: v)() for v in column
            ]
    return {"rows": len(table), "data": data}


def _asset(name: str) -> str:
    return (
        resources.files("sweep.report.drawing").joinpath("assets", name).read_text(encoding="utf-8")
    )
