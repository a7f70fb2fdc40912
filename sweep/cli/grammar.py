"""Hydra's grammar of overrides, with texts as typed.

Hydra's parser is used as it is. Its visitor is replaced in part, for three reasons:

- Text keeps its spelling: ``workload.path=1.10`` names the file ``1.10``, not ``1.1``.
- ``${oc.env:NAME}`` is resolved at once, as values do not go through Hydra's configuration.
- Hydra moves on in the tree inside ``assert`` statements, which ``python -O`` leaves out.
"""

from __future__ import annotations

import string
from collections.abc import Collection
from typing import Any

from antlr4 import CommonTokenStream, InputStream
from hydra._internal.grammar.functions import FunctionCall
from hydra.core.override_parser.overrides_parser import create_functions
from hydra.core.override_parser.overrides_visitor import HydraErrorListener, HydraOverrideVisitor
from hydra.core.override_parser.types import Override, QuotedString
from hydra.errors import HydraException
from hydra.grammar.gen.OverrideLexer import OverrideLexer
from hydra.grammar.gen.OverrideParser import OverrideParser
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from core.errors import GridError

_SPECIAL = frozenset("()[]{}'\"\\$")
_OF_TEXT = frozenset({"choice", "shuffle", "sort", "str", "glob", "tag"})
"""Functions whose arguments are values of the key; those of the others are numbers."""


def parse_override(text: str, text_keys: Collection[str]) -> Override:
    """Return what Hydra's grammar makes of a word; values of `text_keys` stay as typed.

    Raises
    ------
    HydraException
        The word is not in the grammar.
    GridError
        A reference cannot be resolved.
    """
    listener = HydraErrorListener()
    lexer = OverrideLexer(InputStream(text))
    parser: Any = OverrideParser(CommonTokenStream(lexer))
    for recognizer in (lexer, parser):
        recognizer.removeErrorListeners()
        recognizer.addErrorListener(listener)
    override: Override = _Visitor(text_keys).visit(parser.override())
    override.input_line = text
    return override


def plain_texts(value: str) -> list[str | None] | None:
    """Return the texts of ``a,b,c``; None where the grammar has to read quotes or functions.

    >>> plain_texts("1.10, 007"), plain_texts("~/a b.txt"), plain_texts("choice(1,2)")
    (['1.10', '007'], ['~/a b.txt'], None)
    """
    if _SPECIAL & {*value}:
        return None
    texts = (text.strip(string.whitespace) for text in value.split(","))
    return [None if text.lower() == "null" else text for text in texts]


class _Visitor(HydraOverrideVisitor):
    def __init__(self, text_keys: Collection[str]) -> None:
        super().__init__(create_functions())
        self._text_keys = text_keys
        self._as_text = False

    def visitKey(self, ctx: Any) -> Any:  # noqa: N802
        key = super().visitKey(ctx)
        self._as_text = key.key_or_group in self._text_keys
        return key

    def visitPrimitive(self, ctx: Any) -> Any:  # noqa: N802
        value = super().visitPrimitive(ctx)
        if self._as_text and isinstance(value, bool | int | float):
            return ctx.getText().strip()
        if isinstance(value, QuotedString):
            return QuotedString(str(_resolved(value.text)), value.quote)
        return _resolved(value) if isinstance(value, str) else value

    def visitDictContainer(self, ctx: Any) -> Any:  # noqa: N802
        raise GridError(
            f"{ctx.getText()}: a mapping is not a value; set each key alone, as in queue.base=2"
        )

    def visitFunction(self, ctx: Any) -> Any:  # noqa: N802
        children = ctx.getChildren()
        name = next(children).getText()
        next(children)  # the bracket
        arguments: list[Any] = []
        keywords: dict[str, Any] = {}
        as_text = self._as_text
        for child in children:
            if isinstance(child, OverrideParser.ArgNameContext):
                self._as_text = False
                keywords[child.getChild(0).getText()] = self.visitElement(next(children))
            elif isinstance(child, OverrideParser.ElementContext):
                if keywords:
                    raise HydraException("positional argument follows keyword argument")
                self._as_text = as_text and name in _OF_TEXT
                arguments.append(self.visitElement(child))
        self._as_text = as_text
        try:
            return self.functions.eval(FunctionCall(name, arguments, keywords))
        except Exception as error:  # a function can fail in any way
            raise HydraException(f"{ctx.getText()}: {error}") from error


def _resolved(text: str) -> Any:
    """Return a text with its references, as ``${oc.env:HOME}``, resolved."""
    if "${" not in text:
        return text
    try:
        return OmegaConf.create({"value": text})["value"]
    except (OmegaConfBaseException, RecursionError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise GridError(
            f"{text} cannot be resolved ({reason}); on the command line ${{oc.env:NAME}} stands "
            "for an environment variable that is set: set it, or type the value"
        ) from error
