"""``python -m sweep``."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress

from sweep.plain_text import flush, warn


def run() -> int:
    """Run the command line; return the exit code."""
    try:
        with suppress(ValueError):  # not in the main thread
            # Until the sweep takes the signals itself, SIGTERM ends it as Ctrl-C does.
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        from sweep.cli.main import main

        code = main()
    except KeyboardInterrupt:  # before there is anything to keep, or after all is kept
        _ignore_signals()
        warn("interrupted")
        code = 130
    if (
        code == 130
        or "ray" in sys.modules
        or any(thread.name == "points" for thread in threading.enumerate())
    ):
        # An orderly exit would trip over a point in compiled code, over a Ray that is half
        # started, over the threads that Ray's library has left, or over one more signal.
        leave(code)
    flush()
    return code


def leave(code: int) -> None:
    """End the process at once; nothing but what is printed waits to be written."""
    _ignore_signals()
    flush()
    os._exit(code)


def _ignore_signals() -> None:
    with suppress(ValueError):  # not in the main thread
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    sys.exit(run())
