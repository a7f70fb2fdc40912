"""A name is a noun that says what it is: `rows`, not `found`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT

VAGUE = frozenset(
    ["found", "known", "given", "own", "there", "said", "asked", "more", "place", "places"]
)
FILES = [path for package in ("core", "sweep") for path in sorted((ROOT / package).rglob("*.py"))]


def names(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of all that a module gives a name to."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr
            case ast.alias(asname=str(alias)):
                yield node.lineno, alias
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield node.lineno, name


def vague(source: str) -> list[tuple[int, str]]:
    return [(line, name) for line, name in names(source) if name.strip("_") in VAGUE]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_are_nouns(path: Path) -> None:
    assert vague(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "def f(given): ...",
        "def f(*, _more=1): ...",
        "def said(): ...",
        "class own: ...",
        "self._place = 1",
        "for known in (): ...",
        "with f() as there: ...",
        "[places for places in ()]",
        "import os as asked",
        "(found := 1)",
        "lambda own: 1",
        "try: ...\nexcept OSError as more: ...",
        "match 1:\n    case found: ...",
    ],
)
def test_every_kind_of_name_is_seen(source: str) -> None:
    assert len(vague(source)) == 1


def test_words_in_other_names_are_allowed() -> None:
    assert vague("place_tasks = found.known(own=1)\nunknown = there") == []
