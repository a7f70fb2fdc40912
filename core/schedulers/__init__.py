"""Schedulers: each is one file that exports ``SCHEDULER = Scheduler(…)``.

`core.schedulers._base` lists all of them; `core.engine` has the record.
"""

from __future__ import annotations

from core.engine import Scheduler
from core.schedulers._base import schedulers

__all__ = ["Scheduler", "schedulers"]
