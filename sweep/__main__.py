"""``python -m sweep``."""

from __future__ import annotations

import os
import sys
import threading


def run() -> int:
    """Run the command line; return the exit code."""
    try:
        from sweep.cli.main import main

        code = main()
    except KeyboardInterrupt:  # before there is anything to keep
        print("interrupted", file=sys.stderr)
        code = 130
    if any(thread.name in ("points", "ray") for thread in threading.enumerate()):
        # A point in compiled code, or a start of Ray, that nobody waits for: an orderly exit
        # would trip over it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(run())
