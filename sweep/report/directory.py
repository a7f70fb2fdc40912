"""The directory of a report: where it goes, whose report is there, which files are its own."""

from __future__ import annotations

import hashlib
import html
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import InputError, StoreError

DEFAULT = "report"
"""Name of a report's directory where the user names none."""

PAGE = "index.html"
_URI = re.compile(r"[A-Za-z][\w+.-]+:/")
_HEAD = 16_000
"""Bytes of a page within which it lists its files and its datasets."""
_FILES = re.compile(r'<meta name="files" content="([^"]*)">')
_DATASETS = re.compile(r'<meta name="datasets" content="([^"]*)">')
_TITLE = re.compile(r"<title>Sweep report: ([^<]*)</title>")
_FIGURE_FILE = re.compile(r"\w+\.(csv|svg|png)")


def is_uri(path: str) -> bool:
    """Whether a dataset's path is the URI of another filesystem."""
    return _URI.match(path) is not None


def directory_of(datasets: Sequence[str], out: str | None = None) -> Path:
    """Return where a report goes: `out`, else ``report`` inside the dataset.

    A report on a URI or on two datasets has no dataset's directory to go into: it goes into
    ``./report``, unless that holds the report of other datasets.

    Raises
    ------
    InputError
        `out` is empty, a URI or a file; or ``./report`` holds another report.
    """
    if out is not None:
        return local_directory(out)
    if len(datasets) == 1 and not is_uri(datasets[0]):
        return Path(datasets[0]).expanduser() / DEFAULT
    directory = local_directory(DEFAULT)
    earlier = earlier_report(directory)
    if earlier is not None and earlier.datasets != fingerprint(datasets):
        raise InputError(
            f"{DEFAULT}/ holds the report of {earlier.title}: name another directory with --out, "
            f"or give --out {DEFAULT} to replace it"
        )
    return directory


def local_directory(directory: str | os.PathLike[str]) -> Path:
    """Return the path of a local directory, which need not exist; ``~`` is the user's home.

    Raises
    ------
    InputError
        Nothing, a URI, or a file.
    """
    text = os.fspath(directory)
    if not text:
        raise InputError("--out is empty: name a directory, as in --out report")
    if is_uri(text):
        raise InputError(
            f"--out {text}: a report is written into a local directory; write it there and copy it"
        )
    path = Path(text).expanduser()
    if path.exists() and not path.is_dir():
        raise InputError(f"--out {text} is a file: name a directory")
    return path


@dataclass(frozen=True)
class EarlierReport:
    """The report that a directory holds.

    Attributes
    ----------
    title : str
        Names of its runs.
    datasets : str
        `fingerprint` of its datasets; empty where the page does not say.
    files : list of str
        Files beside the page that belong to it.
    """

    title: str
    datasets: str
    files: list[str]


def earlier_report(directory: Path) -> EarlierReport | None:
    """Return the report in a directory, None where there is no page.

    Raises
    ------
    StoreError
        The directory holds a page that is not a report's.
    """
    try:
        with (directory / PAGE).open("rb") as page:
            head = page.read(_HEAD).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"cannot read {directory / PAGE}: {error.strerror}") from error
    if not head:  # a full disk kept the page from being written
        return None
    listed = _FILES.search(head)
    if listed is None:
        raise StoreError(
            f"{directory / PAGE} is not the page of a report: choose another directory with --out"
        )
    title, datasets = _TITLE.search(head), _DATASETS.search(head)
    return EarlierReport(
        title=html.unescape(title[1]) if title else "other datasets",
        datasets=datasets[1] if datasets else "",
        files=[n for n in listed[1].split() if _FIGURE_FILE.fullmatch(n)],
    )


def fingerprint(datasets: Iterable[str]) -> str:
    """Return what tells datasets apart, without their paths: a page may be shown to others."""
    paths = [p if is_uri(p) else os.path.realpath(os.path.expanduser(p)) for p in datasets]  # noqa: PTH111
    return hashlib.sha256("\0".join(paths).encode()).hexdigest()[:16]
