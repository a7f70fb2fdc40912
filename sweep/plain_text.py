"""Lines of a command on standard output and standard error, whatever those can take.

A stream whose encoding lacks a character gets a plain one in its place. A stream that nobody reads
any more, or that is a full device, ends the output but not the command: its exit code is the same
as if every line had been printed.
"""

from __future__ import annotations

import io
import os
import sys
import unicodedata
from contextlib import suppress
from typing import TextIO

_PLAIN = {
    **dict.fromkeys("−–—‑", "-"),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’", "'"),
    **{"…": "...", "×": "x", "·": "*", "→": "->", "≥": ">=", "≤": "<=", "≈": "~", "±": "+-"},
    **{"Γ": "Gamma", "γ": "gamma", "Δ": "Delta", "σ": "sigma", "µ": "u", "§": "section "},
    **{"∝": "~", "─": "-", "│": "|"},
    **{power: f"^{k}" for k, power in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **dict.fromkeys("\u00a0\u2009\u202f", " "),
}


def plain_text(text: str, encoding: str | None) -> str:
    """Return a text with plain characters in place of those that an encoding lacks.

    >>> plain_text("gap − 1 ≥ 0 …", "cp1252")
    'gap - 1 >= 0 …'
    >>> plain_text("gap − 1 ≥ 0 …", "ascii")
    'gap - 1 >= 0 ...'
    """
    encoding = encoding or "ascii"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_encodable(character, encoding) for character in text)
    return text


def _encodable(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        letter = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
        return _PLAIN.get(character) or letter or "?"
    return character


def say(text: str) -> None:
    """Print a line on standard output."""
    _write(sys.stdout, f"{text}\n")


def warn(text: str) -> None:
    """Print a line on standard error."""
    _write(sys.stderr, f"{text}\n")


def flush() -> None:
    """Write out what standard output holds back; call it before the command ends."""
    for stream in (sys.stdout, sys.stderr):
        _write(stream, None)


class PlainStream(io.TextIOBase):
    """A stream that takes all that is written to it, for a library that prints by itself."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Return the encoding of the stream, by which a library chooses lines of tables."""
        return self._stream.encoding or "ascii"

    def write(self, text: str) -> int:
        """Write what the stream can take."""
        _write(self._stream, text)
        return len(text)

    def flush(self) -> None:
        """Write out what the stream holds back."""
        _write(self._stream, None)

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        """Return the stream's file."""
        if self._stream is None:
            raise io.UnsupportedOperation("fileno")
        return self._stream.fileno()


def _write(stream: TextIO | None, text: str | None) -> None:
    if stream is None:  # a program without a console
        return
    try:
        if text is not None:
            stream.write(plain_text(text, stream.encoding))
        if text is None or stream is sys.stderr:
            stream.flush()
    except BrokenPipeError:  # the reader has read enough
        _silence(stream)
    except OSError as error:
        _silence(stream)
        if stream is sys.stdout:
            warn(f"standard output cannot be written: {error.strerror}; its lines are lost")


def _silence(stream: TextIO) -> None:
    """Lead a stream to nowhere, so that its flush when Python exits does not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError):  # a stream of a notebook or a test has no file
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
