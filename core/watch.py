"""How far the simulation that runs in this process is, for other threads to read.

An engine hands over the array in which its kernels note when each coflow has finished. Kernels run
without Python's global lock and write there anyway, so to be watched costs them nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from core.trace import Floats

_RUNNING: Final[list[Floats]] = []


def watch(finish: Floats) -> None:
    """Show a simulation that begins: one at a time in a process.

    Parameters
    ----------
    finish : array of shape (n,)
        Negative while a coflow is unfinished.
    """
    _RUNNING[:] = [finish]


def unwatch() -> None:
    """Show none: the simulation has ended."""
    _RUNNING.clear()


def coflows_done() -> tuple[int, int] | None:
    """Return how many coflows have finished, and of how many; None if no simulation runs."""
    for finish in _RUNNING:
        return int(np.count_nonzero(finish >= 0)), len(finish)
    return None
