"""Find the records that the modules of a package export: one file adds one thing."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def discover(package: ModuleType, kind: type[T], attribute: str) -> dict[str, T]:
    """Import every module of a package and collect its record.

    Parameters
    ----------
    package : module
        Its modules are imported in alphabetical order; names starting with ``_`` are passed over.
    kind : type
        Type of the record; it has a ``name``.
    attribute : str
        Name of the module-level variable that holds the record.

    Raises
    ------
    TypeError
        A module without the record, or two records with one name.
    """
    found: dict[str, T] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda i: i.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        record = getattr(module, attribute, None)
        if not isinstance(record, kind):
            raise TypeError(f"{module.__name__} exports no {attribute} = {kind.__name__}(…)")
        name = str(getattr(record, "name"))  # noqa: B009
        if name in found:
            raise TypeError(f"{module.__name__}: the name {name!r} is taken")
        found[name] = record
    return found
