"""Bits of 64-bit words: how many, and the lowest. One machine instruction each once compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic, overload

ZERO, ONE = np.uint64(0), np.uint64(1)


def popcount(word: Any) -> int:
    """Return the number of bits that are set.

    >>> popcount(np.uint64(0b1011))
    3
    """
    return int(word).bit_count()


def lowest(word: Any) -> int:
    """Return the position of the lowest bit that is set; the word is not 0.

    >>> lowest(np.uint64(0b1000))
    3
    """
    return (int(word) & -int(word)).bit_length() - 1


def _ctpop(context: Any, word: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), build


def _cttz(context: Any, word: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, 1))

    return types.uint64(types.uint64), build


_compiled_popcount, _compiled_lowest = intrinsic(_ctpop), intrinsic(_cttz)
overload(popcount)(lambda word: lambda word: np.int64(_compiled_popcount(word)))
overload(lowest)(lambda word: lambda word: np.int64(_compiled_lowest(word)))
