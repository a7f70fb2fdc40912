"""Every error that coflow-sweep raises on purpose.

::

    CoflowSweepError
    ├── InputError            bad input, found before anything runs (exit code 2)
    │   ├── ParameterError    a value outside what its declaration allows
    │   ├── TraceError        a trace file that breaks a rule of its format
    │   ├── ShuffleError      keys, splits or buckets that cannot be shuffled
    │   ├── PluginError       a file of a scheduler, workload or partitioner that cannot be used
    │   ├── GridError         a grid that cannot be planned
    │   └── StoreError        an output directory or dataset that cannot be used
    └── SimulationError       an engine that cannot go on (a stalled clock, an overflow)
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CoflowSweepError(Exception):
    """Root of the tree."""


class InputError(CoflowSweepError):
    """Bad input; the message names the object, the value and the rule."""


class ParameterError(InputError):
    """A parameter whose value its declaration does not allow."""


class TraceError(InputError):
    """A trace that breaks a rule of its format; the message names file and line."""


class ShuffleError(InputError):
    """Keys, splits or buckets that cannot be shuffled; the message names the row and the rule."""


class PluginError(InputError):
    """A file that adds a scheduler, workload, partitioner or figure and cannot be used."""


class GridError(InputError):
    """A grid that cannot be planned."""


class StoreError(InputError):
    """An output directory or a dataset that cannot be used."""


class SimulationError(CoflowSweepError):
    """An engine that cannot go on; the message holds the state that explains it."""


def nearest(name: str, names: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the closest known name, or an empty string.

    >>> nearest("asbef", ["aalo", "asebf"])
    " (did you mean 'asebf'?)"
    >>> nearest("zzz", ["aalo", "asebf"])
    ''
    """
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""
