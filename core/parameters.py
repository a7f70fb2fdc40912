"""Parameters: declared once by whoever reads them.

A scheduler, an engine or a workload lists the `Parameter` records it reads. The command line,
the help text, the checks, relevance and the columns of the dataset all follow from that list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ParameterError, nearest

Value = bool | int | float | str | None
Values = Mapping[str, Value]


@dataclass(frozen=True)
class Parameter:
    """One value that a point may read.

    Attributes
    ----------
    key : str
        Dotted name on the command line (``queue.base``); the column name has underscores.
    kind : type
        ``bool``, ``int``, ``float`` or ``str``.
    default : bool, int, float, str or None
        Used where nothing is given. ``None`` is allowed as a value only where it is the default.
    help : str
        One line for the help text.
    unit : str
        Unit of the value, empty for a plain number.
    choices : tuple of str
        The only values allowed, if any.
    minimum, maximum : float
        Range of a number; `open_minimum` excludes the minimum itself.
    required : bool
        There is no usable default: the user has to give a value.
    """

    key: str
    kind: type
    default: Value
    help: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    minimum: float = -math.inf
    maximum: float = math.inf
    open_minimum: bool = False
    required: bool = False

    @property
    def column(self) -> str:
        """Name of the parameter's column in the dataset."""
        return self.key.replace(".", "_")

    def allowed(self) -> str:
        """Describe the allowed values in a few words.

        >>> Parameter("queue.base", float, 10.0, "", minimum=1, open_minimum=True).allowed()
        'a number > 1'
        """
        if self.choices:
            return "one of " + ", ".join(self.choices)
        noun = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
        text = noun[self.kind]
        if self.minimum > -math.inf:
            text += f" {'>' if self.open_minimum else '≥'} {self.minimum:g}"
        if self.maximum < math.inf:
            text += f"{' and' if self.minimum > -math.inf else ''} ≤ {self.maximum:g}"
        return text + (f" ({self.unit})" if self.unit else "")

    def check(self, value: Any) -> Value:
        """Return the value in the parameter's type.

        Raises
        ------
        ParameterError
            Wrong type, outside the range, or not one of the choices.
        """
        if value is None and self.default is None:
            if self.required:
                raise ParameterError(f"{self.key} is missing: give {self.help}")
            return None
        typed = self._typed(value)
        if typed is None or not self._inside(typed):
            hint = nearest(str(value), self.choices)
            raise ParameterError(f"{self.key}={_shown(value)}: allowed is {self.allowed()}{hint}")
        return typed

    def _typed(self, value: Any) -> Value:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and not abs(value) < 2**63:
            return None  # NaN, infinite, or more than a column can hold
        if self.kind is bool:
            return value if isinstance(value, bool) else None
        if self.kind is int:
            return int(value) if is_number and value == value // 1 else None
        if self.kind is float:
            return float(value) if is_number and math.isfinite(value) else None
        if isinstance(value, str):
            return value or None
        return str(value) if is_number else None  # a file may well be called 2010

    def _inside(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if self.kind in (int, float):
            above = value > self.minimum if self.open_minimum else value >= self.minimum
            return bool(above and value <= self.maximum)
        return True


def defaults(parameters: Iterable[Parameter]) -> dict[str, Value]:
    """Return the default of every parameter by key."""
    return {p.key: p.default for p in parameters}


def _shown(value: Any) -> str:
    return "''" if value == "" else str(value)
