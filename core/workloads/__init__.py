"""Sources of coflows. One file a workload; each exports ``WORKLOAD = Workload(…)``.

==============================  =======================================================
`core.workloads._base`          `Workload`: the record that a workload exports
`core.workloads.custom`         coflows of user-defined classes
`core.workloads.facebook`       the published trace of a Facebook cluster
`core.workloads.fb_like`        generated coflows like those of the Facebook trace
`core.workloads.shuffle_jobs`   jobs with keyed records, shuffled by a partitioner
`core.workloads.toy`            three coflows that can be worked out by hand
`core.workloads.trace`          a trace file in the coflow-benchmark format
`core.workloads._jobs`          jobs to coflows: counts of keys to bytes between hosts
`core.workloads._redraw`        a trace whose reducers' loads a partitioner draws again
`core.workloads._draws`         draws that the generated workloads share
`core.workloads._format`        read the coflow-benchmark format
`core.workloads._format_write`  write the coflow-benchmark format
`core.workloads._files`         trace files as bytes, plain or gzip
`core.workloads._key_table`     a user's table of keys and counts
`core.workloads._download`      fetch one file into a cache
==============================  =======================================================
"""

from __future__ import annotations

import sys
from functools import cache

from core.plugins import discover
from core.workloads._base import SEED, Workload

__all__ = ["SEED", "Workload", "workloads"]


@cache
def workloads() -> dict[str, Workload]:
    """Return every workload by name."""
    return discover(sys.modules[__name__], Workload, "WORKLOAD")
