"""Partitioners. One file a partitioner; each exports ``PARTITIONER = Partitioner(…)``."""

from __future__ import annotations

from core.shuffle._base import Partitioner, partitioners

__all__ = ["Partitioner", "partitioners"]
