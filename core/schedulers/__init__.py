"""Schedulers. One file a scheduler; each exports ``SCHEDULER = Scheduler(…)``."""

from __future__ import annotations

from core.schedulers._base import Scheduler, schedulers

__all__ = ["Scheduler", "schedulers"]
