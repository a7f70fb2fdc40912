"""The record that a scheduler exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from core.parameters import Parameter


class Rule(Protocol):
    """How one engine carries out a scheduler; each engine defines its own kinds of rule."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters that the rule reads."""


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
    """

    name: str
    summary: str
    source: str
    info: Literal["clairvoyant", "width", "blind"]
    rules: Mapping[str, Rule]
