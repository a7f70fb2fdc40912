"""`Lazy`: a sequence whose items are made when read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class Lazy(Sequence[T]):
    """Items that are made when read: a subclass says how many there are, and makes one."""

    def make(self, k: int) -> T:
        """Return an item by its index, from 0."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[T]:
        return map(self.make, range(len(self)))

    @overload
    def __getitem__(self, k: int) -> T: ...
    @overload
    def __getitem__(self, k: slice) -> list[T]: ...
    def __getitem__(self, k: int | slice) -> T | list[T]:
        """Return an item, or several."""
        index = range(len(self))[k]
        return self.make(index) if isinstance(index, int) else [self.make(i) for i in index]
