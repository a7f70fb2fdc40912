"""Partitioners. One file a partitioner; each exports ``PARTITIONER = Partitioner(…)``.

=======================================  ====================================================
`core.shuffle.partitioners.aqe_skew`     Spark's adaptive execution: skewed buckets are split
`core.shuffle.partitioners.hash`         the key's hash modulo the number of buckets
`core.shuffle.partitioners.krhp`         the heaviest keys reassigned, the rest hashed
`core.shuffle.partitioners.lpt`          longest processing time first, whole keys
`core.shuffle.partitioners.lpt_split`    LPT after large clusters are cut
`core.shuffle.partitioners.pkg`          partial key grouping: the less loaded of two hashes
`core.shuffle.partitioners.range`        ranges of keys of equal weight in a sample
`core.shuffle.partitioners.salt`         every key salted into several
`core.shuffle.partitioners.scid`         split and combine clusters until buckets are full
`core.shuffle.partitioners.scid_robust`  SCID for well-sampled keys only
=======================================  ====================================================
"""

from __future__ import annotations

import sys
from functools import cache

from core.plugins import discover
from core.shuffle._base import Partitioner

__all__ = ["Partitioner", "partitioners"]


@cache
def partitioners() -> dict[str, Partitioner]:
    """Return every partitioner by name."""
    return discover(sys.modules[__name__], Partitioner, "PARTITIONER")
