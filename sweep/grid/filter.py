"""``sweep.filter``: a condition on combinations, in a small part of Python's grammar."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

from core.errors import GridError, nearest

KEY = "sweep.filter"
_LONGEST = 1000
_ALLOWED = "comparisons of keys of the grid with values, in, and, or, not, + - * / % **, brackets"
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: lambda a, b: float(a) * float(b),  # no text a million times
    ast.Div: operator.truediv,
    ast.Mod: lambda a, b: float(a) % float(b),
    ast.Pow: lambda a, b: float(a) ** float(b),  # never a number of a million digits
}
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}


class Filter:
    """A condition such as ``queue.base > 2 or scheduler == 'varys'``.

    Parameters
    ----------
    text : str
    keys : collection of str
        Axes of the grid.

    Raises
    ------
    GridError
        The text is no such condition, or names a key that is not an axis of the grid.
    """

    def __init__(self, text: str, keys: Collection[str]) -> None:
        self.text = text
        self._keys = keys
        if len(text) > _LONGEST:
            raise GridError(f"{KEY}=…: {len(text)} characters; at most {_LONGEST} are allowed")
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise self._refused(f"cannot be read ({error.args[0]})") from None
        self._check(self._tree)

    def __call__(self, combination: Mapping[str, Any]) -> bool:
        """Whether the condition holds for a combination.

        Raises
        ------
        GridError
            An operation that its values do not have, as text > 2.
        """
        try:
            return bool(self._value(self._tree, combination))
        except (TypeError, ArithmeticError, ValueError) as error:
            raise self._refused(f"does not work for {_shown(combination)} ({error})") from None

    def _check(self, node: ast.expr) -> None:
        if (name := _dotted(node)) is not None:
            if name not in self._keys and name not in _WORDS:
                hint = nearest(name, self._keys)
                raise self._refused(
                    f"{name} is not an axis of this grid{hint} (axes: {', '.join(self._keys)}); "
                    "quote text values, as in scheduler == 'varys'"
                )
            return
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None):
                return
            case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
                children = parts
            case ast.Compare(left=left, ops=ops, comparators=rest):
                if not all(type(op) in _COMPARE for op in ops):
                    raise self._refused("has a comparison that is not allowed")
                children = [left, *rest]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                children = [left, right]
            case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
                children = [operand]
            case _:
                raise self._refused(f"has {ast.unparse(node)!r}")
        for child in children:
            self._check(child)

    def _value(self, node: ast.expr, combination: Mapping[str, Any]) -> Any:
        if (name := _dotted(node)) is not None:
            return combination[name] if name in self._keys else _WORDS[name]
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self._value(part, combination) for part in parts]
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(self._value(part, combination) for part in parts)
            case ast.BoolOp(values=parts):
                return any(self._value(part, combination) for part in parts)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                values = [self._value(part, combination) for part in (left, *comparators)]
                pairs = zip(ops, values[:-1], values[1:], strict=True)
                return all(_COMPARE[type(op)](a, b) for op, a, b in pairs)
            case ast.BinOp(left=left, op=op, right=right):
                return _BINARY[type(op)](
                    self._value(left, combination), self._value(right, combination)
                )
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self._value(operand, combination)
            case ast.UnaryOp(operand=operand):
                return -self._value(operand, combination)
        raise AssertionError(node)

    def _refused(self, why: str) -> GridError:
        return GridError(f"{KEY}={self.text!r}: {why}; allowed are {_ALLOWED}")


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := _dotted(node.value)) is not None:
        return f"{before}.{node.attr}"
    return None


def _shown(combination: Mapping[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in combination.items())
