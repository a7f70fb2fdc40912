"""The list of all schedulers."""

from __future__ import annotations

import importlib
from functools import cache

from core.engine import Scheduler
from core.plugins import discover


@cache
def schedulers() -> dict[str, Scheduler]:
    """Return every scheduler by name."""
    return discover(importlib.import_module("core.schedulers"), Scheduler, "SCHEDULER")
