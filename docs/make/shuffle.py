"""Write the tables of docs/shuffle.md from a dataset.

python -m sweep +experiment=scid_rates output.dir=outputs/rates
python docs/make/shuffle.py outputs/rates
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from sweep import load

PATH = Path(__file__).parents[1] / "shuffle.md"
KEYS = ["shuffle_partitioner", "shuffle_sampling_rate"]


def tables(directory: str) -> dict[str, str]:
    """Return the text of each table by name."""
    rows = load(directory)
    rows.loc[rows["predicted_fos"].isna() | (rows["shuffle_partitioner"] == "range"), KEYS[1]] = -1
    rows = rows.drop_duplicates("point_id")  # a rate that is not read makes no difference
    pivots = {"fos": _pivot(rows[rows["scheduler"] == rows["scheduler"].iloc[0]], "fos_records", 3)}
    for scheduler, some in rows.groupby("scheduler"):
        pivots[str(scheduler)] = _pivot(some.assign(ms=1000 * some["mean_cct_s"]), "ms", 0)
    return pivots


def _pivot(rows: pd.DataFrame, metric: str, digits: int) -> str:
    """Return mean ± standard deviation over replicates: a row a partitioner and rate."""
    groups = rows.groupby([*KEYS, "shuffle_zipf"], sort=False)[metric].agg(["mean", "std"])
    exponents = sorted(rows["shuffle_zipf"].unique())
    lines = [
        "| partitioner | s |" + "".join(f" a = {a:g} |" for a in exponents),
        "|---|--:|" + "--:|" * len(exponents),
    ]
    for name, rate in dict.fromkeys(zip(*(rows[key] for key in KEYS), strict=True)):
        cells = [groups.loc[(name, rate, a)] for a in exponents]
        text = "".join(f" {c['mean']:.{digits}f} ± {c['std']:.{digits}f} |" for c in cells)
        lines.append(f"| `{name}` | {'–' if rate < 0 else f'{rate:.0%}'} |{text}")
    return "\n".join(lines)


def main(directory: str) -> None:
    """Put the tables between their marks."""
    page = PATH.read_text(encoding="utf-8")
    for name, text in tables(directory).items():
        begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
        before, rest = page.split(begin)
        page = before + begin + text + end + rest.split(end)[1]
    PATH.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
