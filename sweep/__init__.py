"""Parameter sweeps: from a command line to a Parquet dataset.

In the order of a sweep:

==================  ==============================================================
`sweep.__main__`    ``python -m sweep`` and ``coflow-sweep``
`sweep.cli`         words and configuration files to a request; knows Hydra
`sweep.execution`   a request to a finished dataset; knows Ray
`sweep.grid`        a request to unique points with ids
`sweep.store`       rows to Parquet and back; knows pyarrow
`sweep.console`     the plan, the tables and the summary in the terminal
`sweep.report`      a dataset to figures and a page
`sweep.plain_text`  lines on standard output, whatever that can take
==================  ==============================================================

>>> from sweep import load  # doctest: +SKIP
>>> load("outputs/latest")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sweep.store import load

__all__ = ["__version__", "load"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name != "load":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sweep.store import load  # only now: pyarrow takes longer to import than all the rest

    globals()["load"] = load
    return load
