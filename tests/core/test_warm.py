"""Kernels are compiled before points run, whatever the functions of a scheduler do."""

from __future__ import annotations

from typing import Any

import pytest

from core import coflowsim, fluid, registry
from core.schedulers import Scheduler


def fails(*_: Any) -> Any:
    raise KeyError("a coflow of the user's own trace")


@pytest.mark.parametrize(
    ("engine", "rule"),
    [
        ("fluid", fluid.Ordered(fails)),
        ("fluid", fluid.Queues(fails)),
        ("coflowsim", coflowsim.InOrder(fails)),
        ("coflowsim", coflowsim.Queues(fails)),
    ],
)
def test_the_functions_of_a_scheduler_are_not_called(engine: str, rule: Any) -> None:
    scheduler = Scheduler("mine", "", "", info="clairvoyant", rules={engine: rule})
    registry.engines()[engine].warm([scheduler])
