"""The marks of a test follow from what it reaches: processes, Ray, a browser, drawing, properties.

A test is followed through its fixtures and the functions of ``tests`` that it calls, by name.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import pytest

MARKS = {
    "ray": "starts or joins Ray",
    "browser": "drives a browser",
    "process": "starts a process",
    "draws": "draws figures into files",
    "compiled": "takes minutes where nothing is compiled (NUMBA_DISABLE_JIT), and is skipped there",
    "property": "a law that Hypothesis tries",
    "quick": "none of these and not slow: what `just quick` runs, and the laws with few examples",
}
_DRAWING = ("sweep.report.__main__", "sweep.report.drawing.files")
_OF_NAMES = {
    "subprocess": "process",
    "Popen": "process",
    "multiprocessing": "process",
    "ray": "ray",
    "RayExecutor": "ray",
    "selenium": "browser",
    **dict.fromkeys(_DRAWING, "draws"),
    **dict.fromkeys(("plot", "write_report", "draw_all", "report_here"), "draws"),
}


def mark(item: pytest.Item) -> None:
    """Give a test its marks."""
    if not isinstance(item, pytest.Function):  # a doctest
        item.add_marker("quick")
        return
    marks = {_OF_NAMES[name] for name in _names(item) if name in _OF_NAMES}
    heavy = bool(marks) or item.get_closest_marker("slow") is not None
    if getattr(item.obj, "is_hypothesis_test", False):
        marks.add("property")
    for name in sorted(marks | (set() if heavy else {"quick"})):
        item.add_marker(name)


def _names(item: pytest.Function) -> set[str]:
    """Return the names that a test, its fixtures and their helpers use, and their modules."""
    fixtures = item._fixtureinfo.name2fixturedefs.values()
    todo: list[Any] = [_inner(item.obj), *(f.func for defs in fixtures for f in defs)]
    names: set[str] = set()
    seen: set[int] = set()
    while todo:
        function = todo.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        of_function = {name for code in _codes(function.__code__) for name in code.co_names}
        names |= of_function
        for name in of_function & {*function.__globals__}:
            value = function.__globals__[name]
            if getattr(value, "__module__", None) in _DRAWING:
                names.add(value.__module__)
            todo += _functions(value)
    return names


def _inner(test: Any) -> Any:
    """Return the function that Hypothesis has wrapped, or the test itself."""
    handle = getattr(test, "hypothesis", None)
    return getattr(handle, "inner_test", None) or getattr(test, "__func__", test)


def _functions(value: Any) -> Iterator[types.FunctionType]:
    """Yield the Python functions of ``tests`` that a global stands for."""
    value = getattr(value, "__wrapped__", value)
    for member in vars(value).values() if isinstance(value, type) else (value,):
        if isinstance(member, types.FunctionType) and member.__module__.startswith("tests"):
            yield member


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)
