"""Schedulers: each is one file that exports ``SCHEDULER = Scheduler(…)``."""

from __future__ import annotations

from core.engine import Scheduler
from core.schedulers._base import schedulers

__all__ = ["Scheduler", "schedulers"]
