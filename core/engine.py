"""`Engine` and `Scheduler`: the records that engines and schedulers export.

A scheduler brings one rule for each engine that can run it. Engines take schedulers as arguments
and never list them, so a scheduler may import the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from core.errors import GridError
from core.outcome import Outcome
from core.parameters import Parameter, Values, problem_of
from core.trace import Trace


class Rule(Protocol):
    """How one engine carries out a scheduler; each engine defines its own kinds of rule."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters that the rule reads."""

    @property
    def uses_sizes(self) -> bool:
        """Whether its rates depend on sizes of flows, so that the scheduler is clairvoyant."""


@dataclass(frozen=True)
class Scheduler:
    """A coflow scheduler.

    Attributes
    ----------
    name : str
        ``scheduler=<name>`` on the command line.
    summary : str
        One line for the help text.
    source : str
        Paper and section.
    info : {"clairvoyant", "width", "blind"}
        What it may look at: sizes; ports and attained bytes; attained bytes alone.
    rules : mapping of str to Rule
        By engine name. An engine that is not listed cannot run the scheduler.
    version : int
        To be raised when a shipped scheduler's numbers change; then it enters the points' ids.
    """

    name: str
    summary: str
    source: str
    info: Literal["clairvoyant", "width", "blind"]
    rules: Mapping[str, Rule]
    version: int = 1

    def problem(self) -> str | None:
        """Say what is wrong with the record; None where nothing is."""
        if self.info not in ("clairvoyant", "width", "blind"):
            return f"info={self.info!r}: allowed is one of clairvoyant, width, blind"
        for engine, rule in self.rules.items():
            parameters = getattr(rule, "parameters", None)
            if parameters is None:
                return (
                    f"rules[{engine!r}] is a {type(rule).__name__} and has no parameters; use a "
                    f"rule of core.{engine}"
                )
            if problem := problem_of(parameters):
                return f"rules[{engine!r}]: {problem}"
        return None


def check_info(scheduler: Scheduler, engine: str) -> None:
    """Raise `GridError` if a rule's rates depend on sizes that the scheduler may not look at."""
    rule = scheduler.rules[engine]
    if rule.uses_sizes and scheduler.info != "clairvoyant":
        raise GridError(
            f"scheduler={scheduler.name} declares info={scheduler.info}, but its rule "
            f"{type(rule).__name__} for engine={engine} sets rates by the sizes of flows: declare "
            "info=clairvoyant, or take a rule that needs no sizes (Queues, FairPerFlow)"
        )


@dataclass(frozen=True)
class Engine:
    """A simulator of the fabric.

    Attributes
    ----------
    name : str
        ``engine=<name>`` on the command line.
    summary : str
        One line for the help text.
    version : int
        Enters the id of every point: raised when the engine's numbers change.
    parameters : tuple of Parameter
        What the engine itself reads; keys start with ``engine.`` or ``fabric.``.
    ignores : frozenset of str
        Keys of workloads that make no difference in this engine: its points do not read them.
    run : callable (trace, scheduler, values) → Outcome
        `values` holds every checked parameter that the point reads, by key.
    warm : callable (schedulers) → None
        Compile or load the kernels of these schedulers.
    check : callable (scheduler, values) → None, optional
        Raises `InputError` for values that are allowed one by one but not together.
    """

    name: str
    summary: str
    version: int
    parameters: tuple[Parameter, ...]
    ignores: frozenset[str]
    run: Callable[[Trace, Scheduler, Values], Outcome]
    warm: Callable[[Iterable[Scheduler]], None]
    check: Callable[[Scheduler, Values], None] | None = None
