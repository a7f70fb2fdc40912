"""Commands as a user types them, in a process of their own or in this one.

A process takes two seconds to import everything. Where the subject is what a command prints,
returns and writes, `here` gives the same.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from tests.paths import ROOT

WIDE = {"COLUMNS": "250"}
"""So that no column of a table is dropped."""

Done = subprocess.CompletedProcess[str]


def in_process(*words: str, cwd: Path = ROOT, timeout: float = 400, **environment: str) -> Done:
    """Run ``python *words``."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env=os.environ | WIDE | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def here(*words: str, cwd: Path = ROOT, module: str = "sweep.cli.main") -> Done:
    """Run ``python -m sweep *words`` in this process; it may not start Ray.

    Parameters
    ----------
    words
        As on the command line, after the module's name.
    cwd : Path
        Working directory.
    module : str
        The module whose ``main`` takes the words: ``sweep.report.__main__`` for a report.
    """
    main = importlib.import_module(module).main
    with _files() as (out, err):
        with (
            contextlib.chdir(cwd),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            mock.patch.dict(os.environ, WIDE),
            mock.patch("sweep.execution.ray_executor.RayExecutor", _no_ray),
        ):
            try:
                code = main(list(words))
            except SystemExit as end:  # of argparse
                code = end.code
        texts = [_text(file) for file in (out, err)]
    return Done([module, *words], code, *texts)


def report_here(*words: str, cwd: Path = ROOT) -> Done:
    """Run ``python -m sweep.report *words`` in this process."""
    return here(*words, cwd=cwd, module="sweep.report.__main__")


@contextlib.contextmanager
def _files() -> Iterator[tuple[tempfile._TemporaryFileWrapper[str], ...]]:
    """Yield files for the two outputs: with a descriptor, as those of a process."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8") as err,
    ):
        yield out, err


def _text(file: tempfile._TemporaryFileWrapper[str]) -> str:
    file.seek(0)
    return file.read()


def _no_ray(*_: object, **__: object) -> None:
    raise AssertionError("this test starts Ray: add executor=local, or run it in_process")
