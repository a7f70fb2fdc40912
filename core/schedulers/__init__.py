"""Schedulers: each is one file that exports ``SCHEDULER = Scheduler(…)``.

`core.engine` has the record that such a file exports.
"""

from __future__ import annotations

import sys
from functools import cache

from core.engine import Scheduler
from core.plugins import Records, discover

__all__ = ["Scheduler", "schedulers"]


@cache
def schedulers() -> Records[Scheduler]:
    """Return every scheduler by name."""
    return discover(sys.modules[__name__], Scheduler, "SCHEDULER", Scheduler.problem)
