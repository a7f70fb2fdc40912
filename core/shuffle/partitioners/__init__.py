"""Partitioners. One file a partitioner; each exports ``PARTITIONER = Partitioner(…)``.

`core.shuffle._base` has the record that such a file exports.
"""

from __future__ import annotations

import sys
from functools import cache

from core.plugins import Records, discover
from core.shuffle._base import Partitioner

__all__ = ["Partitioner", "partitioners"]


@cache
def partitioners() -> Records[Partitioner]:
    """Return every partitioner by name."""
    return discover(sys.modules[__name__], Partitioner, "PARTITIONER", Partitioner.problem)
