"""Notes of a simulation to the user: what is allowed, but probably not meant.

Engines call `note`; code that shows the notes runs a simulation inside `collected`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_NOTES: ContextVar[list[str] | None] = ContextVar("notes", default=None)


def note(text: str) -> None:
    """Add a note to those of the simulation that runs."""
    notes = _NOTES.get()
    if notes is not None and text not in notes:
        notes.append(text)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the notes of what runs inside.

    >>> with collected() as notes:
    ...     note("queue.base cannot matter")
    >>> notes
    ['queue.base cannot matter']
    """
    notes: list[str] = []
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)
