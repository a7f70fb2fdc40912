"""The command line itself: help, errors, exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import metadata

from core.errors import InputError
from sweep import __version__
from sweep.cli.arguments import read_arguments
from sweep.cli.compose import register
from sweep.cli.help import help_text
from sweep.cli.request import read_request
from sweep.plain_text import say, warn

__all__ = ["main", "read_request", "register"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, 1 (points failed), 2 (bad input) or 130 (interrupted)."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        arguments = read_arguments(words)
        if arguments.help:
            say(help_text())
            return 0
        if arguments.version:
            say(f"coflow-sweep {__version__} (Hydra {metadata.version('hydra-core')})")
            return 0
        request = read_request(
            arguments.overrides,
            config_name=arguments.config_name,
            config_dir=arguments.config_dir,
        )
        from sweep.execution.driver import run_sweep

        return run_sweep(*request, command=["python", "-m", "sweep", *words])
    except InputError as error:
        warn(f"error: {error}")
        return 2
