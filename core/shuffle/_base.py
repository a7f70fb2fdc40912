"""The record that a partitioner exports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.errors import ShuffleError
from core.parameters import Parameter, Values, problem_of
from core.shuffle.keys import KeyCounts
from core.shuffle.partition import Partition

MAX_BUCKETS = 10**5

Rule = Callable[[KeyCounts, int, Values, np.random.Generator], Partition]


@dataclass(frozen=True)
class Partitioner:
    """A rule that decides which bucket gets which record.

    Attributes
    ----------
    name : str
        ``shuffle.partitioner=<name>`` on the command line.
    summary : str
        One line for the help text.
    source : str
        Paper and section, or software.
    rule : callable (data, buckets, values, rng) → Partition
        `values` holds every parameter of the partitioner, checked. The data are fixed: `rng` is
        for samples and ties, and a rule that samples draws its sample first, so that the rules
        of one seed see the same sample.
    parameters : tuple of Parameter
        What the rule reads; keys start with ``shuffle.``.
    check : callable (values) → None, optional
        Raises `InputError` for values that are allowed one by one but not together.
    version : int
        To be raised whenever the same seed gives another result.
    """

    name: str
    summary: str
    source: str
    rule: Rule
    parameters: tuple[Parameter, ...] = ()
    check: Callable[[Values], None] | None = None
    version: int = 1

    def problem(self) -> str | None:
        """Say what is wrong with the record; None where nothing is."""
        if not callable(self.rule):
            return "rule has to be a function"
        return problem_of(self.parameters, ("shuffle.",))

    def partition(
        self, data: KeyCounts, buckets: int, values: Values, rng: np.random.Generator
    ) -> Partition:
        """Partition a job.

        Parameters
        ----------
        data : KeyCounts
        buckets : int
            Reducers; more than there are keys leaves some empty.
        values : mapping
            Parameters by key; what is missing has its default, others are not looked at.
        rng : numpy.random.Generator
            The only source of randomness beyond the data's own.

        Raises
        ------
        InputError
            Fewer than 1 or more than 10^5 buckets, a value that its parameter does not allow,
            or a job too large for what is asked.
        """
        if not 1 <= buckets <= MAX_BUCKETS:
            raise ShuffleError(f"{buckets} buckets: from 1 to {MAX_BUCKETS} are allowed")
        checked = {p.key: p.check(values.get(p.key, p.default)) for p in self.parameters}
        if self.check is not None:
            self.check(checked)
        return self.rule(data, buckets, checked, rng)
