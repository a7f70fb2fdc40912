"""Where things lie that tests look at."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""

_BESIDE = ROOT.parent / "shared" / "data" / "traces" / "FB2010-1Hr-150-0.txt"
FACEBOOK = Path(os.environ.get("FB_TRACE", _BESIDE))
"""The Facebook trace, which others publish: tests that need it skip where it is not."""
