"""``python -m sweep.report``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from core.errors import InputError
from sweep.plain_text import flush, say, warn


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, 1 (a page without figures) or 2 (bad input, no page)."""
    began = time.perf_counter()
    try:
        return _report(_parser().parse_args(words), began)
    except InputError as error:
        warn(f"error: {error}")
        return 2
    finally:
        flush()


def _report(arguments: argparse.Namespace, began: float) -> int:
    from sweep.report.build import write_report
    from sweep.report.directory import PAGE, directory_of, earlier_report, fingerprint
    from sweep.report.figures import figures
    from sweep.report.run_facts import notices
    from sweep.report.sources import open_runs

    if arguments.list:
        for figure in figures().values():
            say(f"{figure.name:24}{figure.title}")
        return 0
    datasets = arguments.dataset
    if len(datasets) > 2:
        raise InputError(f"{len(datasets)} datasets: give one, or two to compare")
    where = _where(arguments.where)
    directory = directory_of(datasets, arguments.out)
    data = open_runs(datasets).where(where)
    for text in notices(data):
        warn(text)
    earlier = earlier_report(directory)
    drawn, left_out = write_report(data, directory)
    for text in data.troubles.values():  # found while drawing
        warn(text)
    for name, error in figures().broken.items():
        warn(f"figure {name} cannot be used: {error}")
    for name, why in left_out.items() if drawn else ():
        say(f"not drawn: {name}: {why}")
    say(f"{len(drawn)} figures: {', '.join(drawn)}" if drawn else "no figure: nothing to draw")
    if earlier is not None and arguments.out and earlier.datasets != fingerprint(datasets):
        say(f"replaced the report of {earlier.title} in {directory}")
    size = (directory / PAGE).stat().st_size / 1e6
    say(f"{directory / PAGE}: {size:.1f} MB in {time.perf_counter() - began:.1f} s")
    return 0 if drawn else 1


def _where(words: Sequence[str]) -> dict[str, str]:
    where: dict[str, str] = {}
    for text in words:
        key, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"--where {text}: give key=value, as in engine=fluid")
        if key in where:
            raise InputError(f"--where {text}: {key} is given twice; one value is shown at a time")
        where[key] = value
    return where


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m sweep.report",
        description="Draw figures, tables and a page from the dataset of a sweep, or compare two.",
        epilog="Exit code: 0; 1 if no point has a result, so that the page lists failures instead "
        "of figures; 2 for bad input.",
    )
    parser.add_argument(
        "dataset", nargs="*", default=["outputs/latest"], help="output.dir of a sweep, or of two"
    )
    parser.add_argument(
        "--out",
        help="directory of the report (default: report inside the dataset; for a URI and for two "
        "datasets ./report)",
    )
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="only rows with this value; null for no value",
    )
    parser.add_argument("--list", action="store_true", help="list the figures")
    return parser


if __name__ == "__main__":
    sys.exit(main())
