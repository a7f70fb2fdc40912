"""Sources of coflows. One file a workload; each exports ``WORKLOAD = Workload(…)``."""

from __future__ import annotations

from core.workloads._base import SEED, Workload, workloads

__all__ = ["SEED", "Workload", "workloads"]
