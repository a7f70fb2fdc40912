"""``python -m sweep.report``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from core.errors import InputError


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, 1 (a page without figures) or 2 (bad input, no page)."""
    began = time.perf_counter()
    parser = _parser()
    given = parser.parse_args(words)
    try:
        code = _report(given, began)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 0
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return code


def _report(given: argparse.Namespace, began: float) -> int:
    from sweep.report.build import local_directory, open_report, write_report
    from sweep.report.figures import figures
    from sweep.report.run_facts import notices

    if given.list:
        for figure in figures().values():
            print(f"{figure.name:24}{figure.title}")
        return 0
    if len(given.dataset) > 2:
        raise InputError(f"{len(given.dataset)} datasets: give one, or two to compare")
    where = {}
    for text in given.where:
        key, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"--where {text}: give key=value, as in engine=fluid")
        if key in where:
            raise InputError(f"--where {text}: {key} is given twice; one value is shown at a time")
        where[key] = value
    local_directory(given.out)
    data = open_report(given.dataset, where)
    for text in notices(data):
        print(text, file=sys.stderr)
    drawn, left_out = write_report(data, given.out)
    for text in data.troubles.values():  # found while drawing
        print(text, file=sys.stderr)
    for why in left_out if drawn else ():
        print(f"not drawn: {why}")
    size = (Path(given.out) / "index.html").stat().st_size / 1e6
    took = time.perf_counter() - began
    print(f"{len(drawn)} figures: {', '.join(drawn)}" if drawn else "no figure: nothing to draw")
    print(f"{given.out}/index.html: {size:.1f} MB in {took:.1f} s")
    return 0 if drawn else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sweep.report",
        description="Figures, tables and a page from the dataset of a sweep; two are compared.",
        epilog="Exit code: 0; 1 where no point has a result, so that the page has no figures but "
        "says what failed; 2 for bad input.",
    )
    parser.add_argument(
        "dataset", nargs="*", default=["outputs/latest"], help="output.dir of a sweep, or of two"
    )
    parser.add_argument("--out", default="report", help="directory of the report (report)")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="only rows with this value",
    )
    parser.add_argument("--list", action="store_true", help="list the figures")
    return parser


if __name__ == "__main__":
    sys.exit(main())
