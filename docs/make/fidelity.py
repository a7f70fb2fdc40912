"""Write the tables of docs/fidelity.md: what each engine says of each scheduler.

python docs/make/fidelity.py [--trace FILE] [--executor local] [--seeds 5]

The Facebook trace is read from FILE, or from where the tests look for it; without it that half of
the page stays as it is.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from sweep.cli.main import main as sweep

PATH = Path(__file__).parents[1] / "fidelity.md"
TRACE = Path(__file__).parents[3] / "shared/data/traces/FB2010-1Hr-150-0.txt"
WIDTHS = ("receiver", "sender", "max", "min", "sum", "flows")
THRESHOLDS_MB = (10, 15)
METRICS = ("mean_cct_s", "p50_cct_s", "p95_cct_s", "gap")


class Block(NamedTuple):
    """An engine and how it is set; `per_flow` is its scheduler of flows by size."""

    title: str
    words: tuple[str, ...]
    per_flow: str


BLOCKS = (
    Block("coflowsim", ("engine=coflowsim",), "pfp"),
    Block("fluid", ("engine=fluid", "engine.trigger=flow"), "srpt"),
    Block("fluid, trigger=coflow", ("engine=fluid", "engine.trigger=coflow"), "srpt"),
)


class Line(NamedTuple):
    """A scheduler and the parameters that it reads."""

    scheduler: str
    width: str | None = None
    threshold_mb: int | None = None


AALO, AALO_15 = (Line("aalo", None, mb) for mb in THRESHOLDS_MB)
VARYS, FAIR, FIFO = Line("varys"), Line("fair"), Line("fifo")
Results = dict[Line, pd.DataFrame]
"""Per line the metrics, one row a seed."""


class Claim(NamedTuple):
    """A comparison that a paper prints: gain of `fast` over `slow` in %, or their ratio."""

    text: str
    published: str
    slow: Line
    fast: Line
    metric: str = "mean_cct_s"
    is_ratio: bool = False


CLAIMS = (
    Claim(
        "A-SEBF (receiver, 10 MB) over Aalo (10 MB)", "33.2 %", AALO, Line("asebf", "receiver", 10)
    ),
    Claim("A-SEBF (max, 15 MB) over Aalo (10 MB)", "–", AALO, Line("asebf", "max", 15)),
    Claim("A-SEBF (max, 15 MB) over Aalo (15 MB)", "–", AALO_15, Line("asebf", "max", 15)),
    Claim(
        "A-SEBF (receiver, 15 MB) over Aalo (15 MB)", "–", AALO_15, Line("asebf", "receiver", 15)
    ),
    Claim("Aalo (15 MB) over Aalo (10 MB)", "–", AALO, AALO_15),
    Claim("Varys over A-SEBF (max, 15 MB)", "7.4 %", Line("asebf", "max", 15), VARYS),
    Claim("Varys over Aalo (10 MB)", "38.1 %", AALO, VARYS),
    Claim("per-flow fairness / Aalo (10 MB)", "1.93 ×", FAIR, AALO, is_ratio=True),
    Claim("the same, p95", "3.59 ×", FAIR, AALO, "p95_cct_s", is_ratio=True),
    Claim("per-flow fairness / Varys", "up to 3.16 ×", FAIR, VARYS, is_ratio=True),
    Claim("FIFO / Varys", "> 5 ×", FIFO, VARYS, is_ratio=True),
)


def lines(block: Block, widths: Sequence[str]) -> list[Line]:
    """Return the lines of a block's table, in order."""
    asebf = [Line("asebf", width, mb) for width in widths for mb in THRESHOLDS_MB]
    return [AALO, AALO_15, *asebf, VARYS, FAIR, Line(block.per_flow), FIFO]


def simulate(block: Block, workload: Sequence[str], lines: Sequence[Line]) -> Results:
    """Run lines on a workload by a sweep; both as words of its command line."""
    grid = {
        "scheduler": [line.scheduler for line in lines],
        "width": [line.width for line in lines if line.width],
        "queue.first_threshold_mb": [str(line.threshold_mb) for line in lines if line.threshold_mb],
    }
    axes = [f"{key}={','.join(dict.fromkeys(values))}" for key, values in grid.items() if values]
    with tempfile.TemporaryDirectory() as directory:
        code = sweep([*block.words, *workload, *axes, f"output.dir='{directory}/dataset'"])
        if code != 0:
            raise SystemExit(code)
        table = pd.read_parquet(f"{directory}/dataset/results").sort_values("replicate")
    results = {}
    for line in lines:
        wanted = table["scheduler"] == line.scheduler
        for column, value in zip(("width", "queue_first_threshold_mb"), line[1:], strict=True):
            wanted &= table[column].isna() if value is None else table[column] == value
        results[line] = table.loc[wanted, list(METRICS)].reset_index(drop=True)
    return results


def section(workload: Sequence[str], widths: Sequence[str]) -> str:
    """Return the tables of a workload: one of claims, then one an engine."""
    results = [simulate(block, workload, lines(block, widths)) for block in BLOCKS]
    rows = [
        "claim (of mean CCTs)|published|" + "|".join(b.title for b in BLOCKS),
        "---|--:|--:|--:|--:",
    ]
    for claim in CLAIMS:
        cells = [_compared(block_results, claim) for block_results in results]
        rows.append("|".join([claim.text, claim.published, *cells]))
    text = _table(rows)
    for block, block_results in zip(BLOCKS, results, strict=True):
        text += f"\n**{block.title}** (`{' '.join(block.words)}`)\n\n" + block_table(block_results)
    return text


def block_table(results: Results) -> str:
    """Return the table of one engine, one row a line."""
    head = (
        "scheduler|width|Q0 [MB]|mean [s]|p50 [s]|p95 [s]|gap|over Aalo, 10 MB|over Aalo, same Q0"
    )
    rows = [head, "---|---|--:|" + "--:|" * 5 + "--:"]
    for line, metrics in results.items():
        mean = metrics.mean()
        over = [AALO, Line("aalo", None, line.threshold_mb) if line.threshold_mb else None]
        cells = [
            f"`{line.scheduler}`",
            line.width or "–",
            str(line.threshold_mb or "–"),
            f"{mean['mean_cct_s']:.2f}",
            f"{mean['p50_cct_s']:.3f}",
            f"{mean['p95_cct_s']:.2f}",
            "–" if pd.isna(mean["gap"]) else f"{100 * mean['gap']:.0f} %",
            *(
                "–" if o in (None, line) else _compared(results, Claim("", "", o, line))
                for o in over
            ),
        ]
        rows.append("|".join(cells))
    return _table(rows)


def _compared(results: Results, claim: Claim) -> str:
    """Return the mean over seeds of a comparison, and its range where there are several."""
    slow, fast = (results[line][claim.metric] for line in (claim.slow, claim.fast))
    if claim.is_ratio:
        values, unit, digits = slow / fast, "×", 2
    else:
        values, unit, digits = (
            100 * (slow - fast) / pd.concat([slow, fast], axis=1).max(axis=1),
            "%",
            1,
        )
    mean, low, high = (
        f"{round(v, digits) + 0.0:.{digits}f}" for v in (values.mean(), values.min(), values.max())
    )
    return f"{mean} {unit}" + (f" ({low} … {high})" if len(values) > 1 else "")


def _table(rows: Sequence[str]) -> str:
    return "".join(f"| {row.replace('|', ' | ')} |\n" for row in rows)


def replaced(page: str, name: str, text: str) -> str:
    """Return the page with new text between the marks of a section."""
    pattern = re.compile(f"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    if len(pattern.findall(page)) != 1:
        raise ValueError(f"{PATH.name} needs <!-- {name} --> and <!-- end of {name} --> once")
    return pattern.sub(lambda marks: f"{marks[1]}\n{text}\n{marks[2]}", page)


def main() -> None:
    """Regenerate the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--trace", type=Path, default=TRACE, help="FB2010-1Hr-150-0.txt")
    parser.add_argument("--executor", default="ray", choices=("ray", "local"))
    parser.add_argument("--seeds", type=int, default=5, help="of fb_like")
    options = parser.parse_args()
    executor = f"executor={options.executor}"
    todo: dict[str, Callable[[], str]] = {
        "fb_like": lambda: section(
            ["workload=fb_like", f"replicates={options.seeds}", executor], WIDTHS[:3]
        )
    }
    if options.trace.is_file():
        path = f"workload.path='{options.trace.resolve()}'"
        todo["facebook"] = lambda: section(["workload=facebook", path, executor], WIDTHS)
    for name, make in todo.items():
        text = make()
        PATH.write_text(replaced(PATH.read_text(encoding="utf-8"), name, text), encoding="utf-8")
    if "facebook" not in todo:
        print(
            f"no Facebook trace at {options.trace}: its tables stay as they are; give --trace FILE"
        )


if __name__ == "__main__":
    main()
