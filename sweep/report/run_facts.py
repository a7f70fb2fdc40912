"""The facts of a run, notices that a reader needs first, and the failures."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.keys import key_of
from sweep.report.averages import drawable_gap, plain
from sweep.report.data import RUN, ReportData, Run


def facts(run: Run, data: ReportData) -> list[tuple[str, str]]:
    """Return the facts of a run, name and text, in the order of the page."""
    manifest = run.manifest
    rows = data.grid[data.grid[RUN] == run.name] if RUN in data.grid else data.grid
    done = rows["status"].notna()
    ok = rows["status"].eq("ok").fillna(False)
    points = rows.loc[done, "point_id"].nunique()
    failed = rows.loc[done & ~ok, "point_id"].nunique()
    machine = manifest.get("machine") or {}
    versions = manifest.get("versions") or {}
    axes = manifest.get("axes") or {}
    lines = [
        ("dataset", run.path),
        ("command", str(manifest.get("command", ""))),
        ("grid", "; ".join(f"{k}: {_listed(v)}" for k, v in axes.items())),
        ("grid rows", str(len(rows))),
        ("unique points", f"{rows['point_id'].nunique()}: {points - failed} ok, {failed} failed, "
         f"{rows.loc[~done, 'point_id'].nunique()} not finished"),
        ("state", str(manifest.get("state", ""))),
        ("started", str(manifest.get("started", ""))),
        ("ended", str(manifest.get("ended", ""))),
        ("time", f"{manifest['wall_s']} s" if manifest.get("wall_s") is not None else ""),
        ("machine", " ".join(str(v) for v in machine.values() if v) + " CPUs" * bool(machine)),
        ("versions", ", ".join(f"{k} {v}" for k, v in versions.items() if v)),
        ("commit", str(manifest.get("git_commit") or "")),
    ]  # fmt: skip
    return [(key, value) for key, value in lines if value]


def notices(data: ReportData) -> list[str]:
    """Return the notices above the page: an unfinished run, failures, damaged tables."""
    texts = []
    for run in data.runs:
        rows = data.grid[data.grid[RUN] == run.name] if RUN in data.grid else data.grid
        name = f"{run.name}: " if len(data.runs) > 1 else ""
        open_ = rows.loc[rows["status"].isna(), "point_id"].nunique()
        total = rows["point_id"].nunique()
        ok = rows["status"].eq("ok").fillna(False)
        failed = rows.loc[rows["status"].notna() & ~ok, "point_id"].nunique()
        if open_:
            texts.append(
                f"{name}this run is not finished ({run.manifest.get('state', 'unknown')}): "
                f"{total - open_} of {total} points have a result, and only those are shown."
            )
        if failed and not ok.any():
            texts.append(
                f"{name}every point that ran has failed, so there is nothing to draw: see "
                "Failures on the page."
            )
        elif failed:
            texts.append(f"{name}{failed} of {total} points failed; they are not in the figures.")
    if below := _below_bound(data):
        texts.append(
            f"{below} points have a mean CCT below a bound that no scheduler can beat: their times "
            "exceed the resolution of the engine, and their gap is not drawn."
        )
    return [*texts, *data.troubles.values()]


def _below_bound(data: ReportData) -> int:
    """Return how many points lie below their bound."""
    if not {"mean_cct_s", "bound_s"} <= {*data.points}:
        return 0
    cct, bound = (
        data.points[n].to_numpy(float, na_value=np.nan) for n in ("mean_cct_s", "bound_s")
    )
    gap = np.divide(cct, bound, out=np.full(len(cct), np.nan), where=bound > 0) - 1
    return int((np.isnan(drawable_gap(gap)) & ~np.isnan(gap)).sum())


def failures(data: ReportData) -> pd.DataFrame:
    """Return the points that failed: point, status and message."""
    grid = data.grid
    ok = grid["status"].eq("ok").fillna(False)
    keys = [n for n in (RUN, "point_id") if n in grid]
    failed = grid[grid["status"].notna() & ~ok].drop_duplicates(keys)
    varying = [n for n in data.parameters if n != RUN and grid[n].nunique(dropna=True) > 1]
    names = list(dict.fromkeys(["scheduler", *varying]))
    words = [
        " ".join(
            f"{key_of(n)}={plain(v)}" for n, v in zip(names, row, strict=True) if not pd.isna(v)
        )
        for row in failed[names].itertuples(index=False)
    ]
    return failed[keys].assign(point=words, status=failed["status"], error=failed["error"])


def _listed(values: object) -> str:
    if not isinstance(values, list):
        return str(values)
    shown = [plain(v) for v in values]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:11], f"… ({len(shown)})"])
