"""``python -m sweep``."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    try:
        from sweep.app import main

        sys.exit(main())
    except KeyboardInterrupt:  # before there is anything to keep
        print("interrupted", file=sys.stderr)
        sys.exit(130)
