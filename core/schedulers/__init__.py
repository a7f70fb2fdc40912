"""Schedulers. One file a scheduler; each exports ``SCHEDULER = Scheduler(…)``.

`core.schedulers._base` has the record and the list of all of them.
"""

from __future__ import annotations

from core.schedulers._base import Scheduler, schedulers

__all__ = ["Scheduler", "schedulers"]
