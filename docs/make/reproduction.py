"""Write the tables and figures of docs/reproduction.md.

python -m sweep +experiment=asebf_headline output.coflows=true output.dir=outputs/headline
python -m sweep +experiment=asebf_sensitivity output.dir=outputs/sensitivity
python docs/make/reproduction.py outputs/headline outputs/sensitivity
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from sweep import load
from sweep.report import plot
from sweep.report.drawing.files import save

PAGES = Path(__file__).parents[1]
PUBLISHED = (
    ("aalo", None, 10, 46_098),
    ("varys", None, None, 28_528),
    ("asebf", "receiver", 10, 30_800),
    ("asebf", "receiver", 15, 30_800),
    ("asebf", "max", 10, 30_800),
    ("asebf", "max", 15, 30_800),
)
"""Scheduler, width, first threshold [MB] and the mean CCT that the papers give [ms]."""


def headline(table: pd.DataFrame) -> list[str]:
    """Return the table of published and measured means."""
    lines = [
        "| scheduler | width | first threshold | published | here | |",
        "|---|---|--:|--:|--:|---|",
    ]
    for scheduler, width, threshold, published in PUBLISHED:
        rows = table[table["scheduler"] == scheduler]
        rows = rows if width is None else rows[rows["width"] == width]
        rows = rows if threshold is None else rows[rows["queue_first_threshold_mb"] == threshold]
        (here,) = {1000 * value for value in rows["mean_cct_s"]}
        off = here / published - 1
        verdict = "reproduces" if abs(here - published) < 1 else f"{100 * off:+.1f} %"
        if scheduler == "asebf" and (width, threshold) == ("receiver", 10):
            verdict += ": the settings that the text gives"
        lines.append(
            f"| `{scheduler}` | {width or '–'} | {f'{threshold} MB' if threshold else '–'} "
            f"| {spaced(published)} | {spaced(here, 2)} | {verdict} |"
        )
    return lines


def sensitivity(table: pd.DataFrame) -> list[str]:
    """Return, engine by engine, the range of A-SEBF and Aalo over their settings, and Varys."""
    lines = [
        "| engine | scheduler | settings | best | median | worst | best at | better than Aalo |",
        "|---|---|--:|--:|--:|--:|---|--:|",
    ]
    keys = ["queue_first_threshold_mb", "queue_base"]
    for engine, rows in table.groupby("engine", sort=False):
        aalo = rows[rows["scheduler"] == "aalo"].drop_duplicates("point_id").set_index(keys)
        for scheduler, of_scheduler in rows.groupby("scheduler", sort=False):
            points = of_scheduler.drop_duplicates("point_id").sort_values("mean_cct_s")
            mean, first = 1000 * points["mean_cct_s"], points.iloc[0]
            at = f"{first['queue_first_threshold_mb']:g} MB, base {first['queue_base']:g}"
            at = f"{first['width']}, {at}" if scheduler == "asebf" else at
            better = "–"
            if scheduler == "asebf":
                same = points.join(aalo["mean_cct_s"].rename("aalo"), on=keys)
                better = f"{(same['mean_cct_s'] < same['aalo']).mean():.0%}"
            values = " | ".join(spaced(v) for v in (mean.min(), mean.median(), mean.max()))
            at = "–" if scheduler == "varys" else at
            lines.append(
                f"| {engine} | `{scheduler}` | {len(points)} | {values} | {at} | {better} |"
            )
    return lines


def spaced(value: float, decimals: int = 0) -> str:
    """Return a number with spaces between thousands."""
    return f"{value:,.{decimals}f}".replace(",", " ")


def filled(text: str, mark: str, lines: Sequence[str]) -> str:
    """Return the text with the lines between a mark and the next end."""
    block = "\n".join([f"<!-- {mark} -->", *lines, "<!-- end -->"])
    return re.sub(rf"<!-- {mark} -->.*?<!-- end -->", block, text, flags=re.DOTALL)


def finished(directory: str) -> pd.DataFrame:
    """Return a dataset all of whose points are there; half a grid gives wrong tables."""
    table = load(directory)
    missing = int((table["status"] != "ok").fillna(True).sum())
    if missing:
        raise SystemExit(
            f"{directory}: {missing} of {len(table)} rows have no result; run it again"
        )
    return table


def main(first: str, second: str) -> None:
    """Fill the page and draw the figures."""
    page = PAGES / "reproduction.md"
    text = filled(page.read_text(), "headline", headline(finished(first)))
    page.write_text(filled(text, "sensitivity", sensitivity(finished(second))))
    save(plot("average_cct", first), PAGES / "reproduction.svg")
    where = {"engine": "coflowsim"}
    save(plot("heat", second, where=where), PAGES / "sensitivity.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
