"""SCID for clusters with ten hits and more, split keys shared out in proportion."""

from __future__ import annotations

from core.shuffle._base import Partitioner
from core.shuffle.costs import check_auto
from core.shuffle.parameters import HASH, LIMITS, OVERFLOW, SAMPLING_PARAMETERS, fill, min_hits
from core.shuffle.partitioners.scid import SOURCE, rule
from core.shuffle.sampling import sampling

PARTITIONER = Partitioner(
    name="scid_robust",
    summary="SCID for well-sampled keys only, split keys shared out in proportion, no overflow",
    source=SOURCE,
    rule=sampling(rule),
    parameters=(*SAMPLING_PARAMETERS, HASH, min_hits(10), fill("proportional"), OVERFLOW, LIMITS),
    check=check_auto,
)
