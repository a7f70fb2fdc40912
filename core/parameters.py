"""Parameters: declared once, by the part that reads them.

A scheduler, an engine or a workload lists the `Parameter` records it reads. The command line,
the help text, the checks, relevance and the columns of the dataset all follow from that list.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.errors import ParameterError, nearest

Value = bool | int | float | str | None
Values = Mapping[str, Value]


@cache
def column_of(key: str) -> str:
    """Return the name of a key's column in the dataset.

    >>> column_of("queue.base")
    'queue_base'
    """
    return key.replace(".", "_")


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
        Used where no value is set. ``None`` is allowed as a value only where it is the default.
    help : str
        One line for the help text.
    unit : str
        Unit of the value, empty for a plain number.
    choices : tuple of str
        The only values allowed, if any.
    minimum, maximum : float
        Range of a number; `open_minimum` excludes the minimum itself.
    required : bool
        There is no usable default: the user must set a value.
    words : tuple of (word, number)
        Words that are allowed in place of a number, as ``auto``; a dataset's column of numbers
        holds the number for it, which is outside the range.
    when : tuple of (key, values)
        Read only where each of these other parameters of the point has one of these values.
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
    words: tuple[tuple[str, float], ...] = ()
    when: tuple[tuple[str, tuple[Value, ...]], ...] = ()

    def is_read(self, values: Values) -> bool:
        """Whether a point with these values, by key, reads the parameter."""
        return all(values.get(key) in allowed for key, allowed in self.when)

    @property
    def column(self) -> str:
        """Name of the parameter's column in the dataset."""
        return column_of(self.key)

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
        text += f" ({self.unit})" if self.unit else ""
        return ", or ".join([text, *(word for word, _ in self.words)])

    def check(self, value: Any) -> Value:
        """Return the value in the parameter's type.

        Raises
        ------
        ParameterError
            Wrong type, outside the range, or not one of the choices.
        """
        if value is None and self.default is None:
            if self.required:
                raise ParameterError(f"{self.key} is missing; add {self.key}=… ({self.help})")
            return None
        if any(value == word for word, _ in self.words):
            return str(value)
        typed = self._typed(value)
        if typed is None or not self._inside(typed):
            hint = nearest(str(value), self.choices) or self._without_unit(value)
            raise ParameterError(f"{self.key}={_shown(value)}: allowed is {self.allowed()}{hint}")
        return typed

    def _without_unit(self, value: Any) -> str:
        """Return what to write in place of a number with a unit, as ``10MB`` or ``5%``."""
        match = self.kind in (int, float) and _WITH_UNIT.fullmatch(str(value).strip())
        if not match:
            return ""
        number, unit = match[1], match[2]
        if unit == "%":
            return f"; write a share, not percent: {self.key}={float(number) / 100:g}"
        in_unit = f" in {self.unit}" if self.unit else ""
        return f"; write the number alone{in_unit}, as in {self.key}={number}"

    def stored(self, value: Value) -> Value:
        """Return a value as the dataset's column holds it: for a word, the number."""
        return next((number for word, number in self.words if word == value), value)

    def loaded(self, value: Any) -> Any:
        """Return a value of the dataset's column as it was requested: the inverse of `stored`."""
        return next((word for word, number in self.words if number == value), value)

    def _typed(self, value: Any) -> Value:
        if isinstance(value, str) and self.kind is not str:
            value = _unquoted(value)
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


def number(values: Values, key: str) -> float:
    """Return the number that a parameter has; the point reads it, so there is one.

    Raises
    ------
    TypeError
        The value is no number.

    >>> number({"queue.base": 4}, "queue.base")
    4.0
    """
    value = values[key]
    if not isinstance(value, int | float):
        raise TypeError(f"{key}={value!r} is no number")
    return float(value)


def problem_of(parameters: object, groups: tuple[str, ...] = ("",)) -> str | None:
    """Say what keeps something from being a record's parameters; None where nothing does.

    Parameters
    ----------
    parameters : object
    groups : tuple of str
        Beginnings that are allowed for keys, as ``shuffle.``.
    """
    if not isinstance(parameters, tuple):
        return f"parameters is a {type(parameters).__name__}; it has to be a tuple of Parameter(…)"
    for parameter in parameters:
        if not isinstance(parameter, Parameter):
            return f"parameters holds a {type(parameter).__name__}; only Parameter(…) is allowed"
        if not re.fullmatch(r"[a-z]\w*(\.[a-z]\w*)*", str(parameter.key), re.ASCII):
            return f"{parameter.key!r} is no key; write words with dots between them, as queue.base"
        if not parameter.key.startswith(groups):
            return f"the key {parameter.key} has to start with {' or '.join(groups)}"
        if parameter.kind not in (bool, int, float, str):
            return f"{parameter.key} is of type {parameter.kind!r}; use bool, int, float or str"
        if not parameter.required:
            try:
                parameter.check(parameter.default)
            except ParameterError as error:
                return f"its default is not allowed: {error}"
    return None


def defaults(parameters: Iterable[Parameter]) -> dict[str, Value]:
    """Return the default of every parameter by key."""
    return {p.key: p.default for p in parameters}


def parents_first(parameters: Iterable[Parameter]) -> list[Parameter]:
    """Sort by key, and those with a `when` after the parameters that it names."""
    ready: list[Parameter] = []
    waiting = sorted(parameters, key=lambda p: (p.key, repr(p.when)))  # sets have no order
    while waiting:
        open_keys = {p.key for p in waiting}
        free = [p for p in waiting if not open_keys & {key for key, _ in p.when}]
        if not free:
            raise TypeError(
                f"the `when` of parameters form a circle: {', '.join(sorted(open_keys))}"
            )
        ready += free
        waiting = [p for p in waiting if p not in free]
    return ready


def completed(parameters: Iterable[Parameter], values: Values) -> dict[str, Value]:
    """Return the values and, where one that is read is missing, its default."""
    filled = dict(values)
    for parameter in parents_first(parameters):
        if parameter.key not in filled and parameter.is_read(filled):
            filled[parameter.key] = parameter.default
    return filled


def when_read(parameters: Iterable[Parameter]) -> str:
    """Return when declarations of one key are read, as ``queue.between=wfq``; empty for always.

    >>> when_read([Parameter("a", int, 0, "", when=(("b", ("x", "y")),))])
    'b=x,y'
    """
    words: dict[tuple[str, ...], list[dict[str, None]]] = {}
    for parameter in parameters:
        if not parameter.when:
            return ""
        of_keys = words.setdefault(
            tuple(key for key, _ in parameter.when), [{} for _ in parameter.when]
        )
        for of_key, (_, allowed) in zip(of_keys, parameter.when, strict=True):
            of_key.update(dict.fromkeys(map(_word, allowed)))
    return " or ".join(
        " and ".join(f"{key}={','.join(names)}" for key, names in zip(keys, of_keys, strict=True))
        for keys, of_keys in words.items()
    )


def _word(value: Value) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(value: Any) -> str:
    return "''" if isinstance(value, str) and not value else _word(value)


_WITH_UNIT = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([a-zA-Zµ%/]+)")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def _unquoted(text: str) -> bool | int | float | str:
    """Return the number, or true or false, that a text in quotes stands for.

    >>> _unquoted("5"), _unquoted("1e3"), _unquoted("true"), _unquoted("auto"), _unquoted("0x10")
    (5, 1000.0, True, 'auto', '0x10')
    """
    word = text.strip()
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if not word.isascii() or not _NUMBER.fullmatch(word) or len(word) > 400:
        return text
    return int(word) if word.lstrip("+-").isdigit() else float(word)
