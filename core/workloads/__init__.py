"""Sources of coflows. One file a workload; each exports ``WORKLOAD = Workload(…)``.

==============================  ==================================================================
`core.workloads._base`          `Workload`: the record that a workload exports
`core.workloads._draws`         random draws that several workloads share
`core.workloads._files`         trace files as bytes, plain or gzip
`core.workloads._format`        reads the coflow-benchmark format
`core.workloads._format_write`  writes it
`core.workloads._download`      fetches the published trace into a cache
`core.workloads._jobs`          jobs to coflows: counts of keys to bytes between hosts
`core.workloads._key_table`     a user's table of keys and counts
`core.workloads._redraw`        the reducer bytes of a trace, drawn again by a partitioner
==============================  ==================================================================
"""

from __future__ import annotations

import sys
from functools import cache

from core.plugins import Records, discover
from core.workloads._base import SEED, Workload

__all__ = ["SEED", "Workload", "workloads"]


@cache
def workloads() -> Records[Workload]:
    """Return every workload by name."""
    return discover(sys.modules[__name__], Workload, "WORKLOAD", Workload.problem)
