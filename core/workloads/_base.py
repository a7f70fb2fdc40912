"""The record that a workload exports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.parameters import Parameter, Values, completed, problem_of
from core.shuffle.axes import TRACED, partitioner_of, shuffle_parameters
from core.shuffle.partitioners import partitioners
from core.trace import Trace
from core.workloads._jobs import Jobs, serve
from core.workloads._redraw import redraw


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
    build : callable (values, rng) → Trace or Jobs
        `values` holds the checked parameters by key; `rng` is the only source of randomness.
        Jobs become coflows by the point's partitioner.
    content : callable (values) → str
        What the trace depends on beyond its parameters: the hash of a file's bytes, or the
        version of a generator. It enters the id of every point. Raises `TraceError` where the
        file cannot be used.
    identified_by_content : bool
        The content says it all (a trace file): parameters like a path do not enter the id.
    version : int
        To be raised when a shipped workload gives other coflows for the same content.
    partitioner : str
        Which reducer gets which record where nothing is said. ``traced``: the coflows have
        their reducers' bytes, which another partitioner may draw again.
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    build: Callable[[Values, np.random.Generator], Trace | Jobs]
    content: Callable[[Values], str]
    identified_by_content: bool = False
    partitioner: str = TRACED
    version: int = 1

    def problem(self) -> str | None:
        """Say what is wrong with the record; None where nothing is."""
        if not callable(self.build) or not callable(self.content):
            return "build and content have to be functions"
        if self.partitioner != TRACED and self.partitioner not in partitioners():
            names = ", ".join((TRACED, *partitioners()))
            return f"partitioner={self.partitioner!r}: allowed is one of {names}"
        return problem_of(self.parameters, ("workload.", "shuffle."))

    @property
    def seeded(self) -> bool:
        """Whether the workload draws random numbers, whatever the partitioner."""
        return any(p.key == SEED.key for p in self.parameters)

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """What the workload reads, and what its shuffle does."""
        return (*self.parameters, *shuffle_parameters(self.partitioner))

    def trace(
        self, values: Values, rng: np.random.Generator, shuffle_seed: np.random.SeedSequence
    ) -> Trace:
        """Build the coflows and let the point's partitioner, if any, load their reducers.

        Parameters
        ----------
        values : mapping
            Checked parameters by key, those of the shuffle included; the default counts where
            one is missing.
        rng : numpy.random.Generator
            For the workload itself.
        shuffle_seed : numpy.random.SeedSequence
            For records, samples and ties.
        """
        values = completed(self.all_parameters, values)
        source = self.build(values, rng)
        partitioner = partitioner_of(values)
        if isinstance(source, Jobs):
            if partitioner is None:
                raise TypeError(f"{self.name} makes jobs: its default partitioner cannot be traced")
            return serve(source, partitioner, values, shuffle_seed)
        return source if partitioner is None else redraw(source, partitioner, values, shuffle_seed)


SEED = Parameter(
    "workload.seed", int, None, "seed of the generator; null: the sweep's seed", minimum=0
)
