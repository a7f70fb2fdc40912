"""The record that a scheduler exports, and the list of all of them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol

from core.parameters import Parameter
from core.plugins import discover


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


@cache
def schedulers() -> dict[str, Scheduler]:
    """Return every scheduler by name."""
    return discover(importlib.import_module("core.schedulers"), Scheduler, "SCHEDULER")
