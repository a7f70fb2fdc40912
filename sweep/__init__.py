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

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sweep.store import load

__all__ = ["__version__", "load"]
__version__ = "0.1.0"


def _check_core() -> None:
    """Refuse to run with another package `core` than the one beside this package."""
    loaded = sys.modules.get("core")
    spec = loaded.__spec__ if loaded is not None else find_spec("core")
    origin = None if spec is None else spec.origin
    here = Path(__file__).resolve()
    if origin is None or Path(origin).resolve().parent == here.parents[1] / "core":
        return
    if here.parents[2].name == "py_modules_files" and here.parents[2] in Path(origin).parents:
        return  # on a node of a Ray cluster, where each package that travels has its own directory
    text = (
        f"{origin} hides coflow-sweep's own package 'core'; use the installed command "
        "coflow-sweep, which does not look into the working directory, or rename the file"
    )
    if sys.argv[:1] == ["-m"]:  # python -m sweep, before the module is found
        print(f"error: {text}", file=sys.stderr)
        raise SystemExit(2)
    raise ImportError(text)


_check_core()


def __getattr__(name: str) -> Any:
    if name != "load":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sweep.store import load  # only now: pyarrow takes longer to import than all the rest

    globals()["load"] = load
    return load
