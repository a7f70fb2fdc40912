"""Schedulers. One file a scheduler; each exports ``SCHEDULER = Scheduler(…)``.

`core.schedulers._base` has the record that such a file exports.
"""

from __future__ import annotations

import sys
from functools import cache

from core.plugins import discover
from core.schedulers._base import Scheduler

__all__ = ["Scheduler", "schedulers"]


@cache
def schedulers() -> dict[str, Scheduler]:
    """Return every scheduler by name."""
    return discover(sys.modules[__name__], Scheduler, "SCHEDULER")
