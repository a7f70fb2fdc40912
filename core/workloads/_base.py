"""The record that a workload exports, and the list of all of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from core.parameters import Parameter, Values
from core.plugins import discover
from core.trace import Trace


@dataclass(frozen=True)
class Workload:
    """A source of coflows.

    Attributes
    ----------
    name : str
        ``workload=<name>`` on the command line.
    summary : str
        One line for the help text.
    parameters : tuple of Parameter
        Keys start with ``workload.``. A workload that lists ``workload.seed`` is random.
    build : callable (values, rng) → Trace
        `values` holds the checked parameters by key; `rng` is the only source of randomness.
    content : callable (values) → str
        What the trace depends on beyond its parameters: the hash of a file's bytes, or the
        version of a generator. It enters the id of every point. Raises `TraceError` where the
        file cannot be used.
    identified_by_content : bool
        The content says it all (a trace file): parameters like a path do not enter the id.
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    build: Callable[[Values, np.random.Generator], Trace]
    content: Callable[[Values], str]
    identified_by_content: bool = False

    @property
    def seeded(self) -> bool:
        """Whether the workload draws random numbers."""
        return any(p.key == "workload.seed" for p in self.parameters)


SEED = Parameter(
    "workload.seed", int, None, "seed of the generator; empty: the sweep's seed", minimum=0
)


@cache
def workloads() -> dict[str, Workload]:
    """Return every workload by name."""
    return discover(importlib.import_module("core.workloads"), Workload, "WORKLOAD")
