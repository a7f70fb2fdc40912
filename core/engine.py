"""`Engine`: the record that an engine exports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.outcome import Outcome
from core.parameters import Parameter, Values
from core.schedulers import Scheduler
from core.trace import Trace


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
    warm : callable (names) → None
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
    warm: Callable[[Iterable[str]], None]
    check: Callable[[Scheduler, Values], None] | None = None
