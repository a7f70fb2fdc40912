"""Keeps the log lines of Ray's library off the terminal while Ray starts.

The library writes them to the descriptor of standard error, past `sys.stderr`.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO

STDERR = 2
"""Descriptor of standard error."""

_RAY_LINE = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ [A-Z] "  # Ray's C++ library
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\s+(DEBUG|INFO|WARNING|ERROR|CRITICAL)\s"  # its Python
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d"  # gRPC
    r"|WARNING: All log messages before absl"
)
_CONTINUED = (" ", "\t", "/", "***")
"""How a line of a stack trace begins."""


def without_ray_lines(lines: Iterable[str]) -> Iterator[str]:
    r"""Yield the lines that are neither of Ray's log nor of a stack trace in it.

    >>> list(without_ray_lines(["[2026-12-01 02:38:47,836 W 7 7] rpc.h:1: no\n", "mine\n"]))
    ['mine\n']
    """
    in_log = False
    for line in lines:
        in_log = bool(_RAY_LINE.match(line)) or (in_log and line.startswith(_CONTINUED))
        if not in_log:
            yield line


@contextmanager
def quiet_ray() -> Iterator[None]:
    """Hold back standard error in a ``with`` block; print afterwards what is not Ray's log."""
    try:
        terminal = os.dup(STDERR)
    except OSError:  # it is closed
        yield
        return
    with _buffer() as kept:
        os.dup2(kept.fileno(), STDERR)
        try:
            yield
        finally:
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            os.dup2(terminal, STDERR)
            os.close(terminal)
            kept.seek(0)
            text = kept.read().decode("utf-8", "replace")
            with suppress(OSError):
                os.write(STDERR, "".join(without_ray_lines(text.splitlines(True))).encode())


def _buffer() -> IO[bytes]:
    """Return a file, in memory where possible: a full disk may be why Ray cannot start."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("stderr"), "w+b")
    return tempfile.TemporaryFile()
