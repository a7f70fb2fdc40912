"""Which modules are shipped, and a fingerprint of the source of those that are not.

Results of shipped code are identified by versions, which a test forces up when numbers change, so
that an edited comment does not make a sweep run again. A file of the user's own has no such test:
its source stands for it, and the source of the modules that it imports beside itself.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, resolve_name
from pathlib import Path

_NAMES = {
    "core": """
        bounds coflowsim engine errors fluid jit job_measures keys metrics notes outcome parameters
        plugins queues registry schedulers shipped shuffle statistics trace watch
        workloads
    """,
    "core.schedulers": "aalo asebf fair fifo lcf ncf pfp scf srpt varys",
    "core.workloads": """
        _base _download _draws _files _format _format_write _jobs _key_table _redraw
        custom facebook fb_like shuffle_jobs toy trace
    """,
    "core.shuffle.partitioners": """
        aqe_skew hash krhp lpt lpt_split pkg range salt scid scid_robust
    """,
}
SHIPPED = {package: frozenset(names.split()) for package, names in _NAMES.items()}
"""Modules of the packages to which users add files."""


def is_shipped(module: str) -> bool:
    """Whether a module of `core` is shipped, or lies in a package that takes no files of users.

    >>> is_shipped("core.schedulers.aalo"), is_shipped("core.schedulers._my_helper")
    (True, False)
    """
    parts = module.split(".")
    return all(
        part in SHIPPED.get(".".join(parts[:k]), (part,)) for k, part in enumerate(parts) if k
    )


@cache
def fingerprint(module: str) -> str:
    """Return what stands for a module of the user's own and for what it imports.

    Modules of the standard library, installed packages and shipped modules do not count, nor do
    imports whose names are made at run time. The same files give the same fingerprint wherever
    they lie.
    """
    digest = hashlib.sha256()
    for name, source in sorted(_sources(module).items()):
        digest.update(f"{name} {len(source)}\n".encode() + source)
    return digest.hexdigest()[:16]


def _sources(module: str) -> dict[str, bytes]:
    sources: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in sources or (spec := _users_module(name)) is None or spec.origin is None:
            continue
        sources[name] = Path(spec.origin).read_bytes()
        if spec.origin.endswith(".py"):
            package = name if spec.submodule_search_locations is not None else spec.parent
            waiting += _imports(sources[name], package or "")
    return sources


def _imports(source: bytes, package: str) -> Iterator[str]:
    """Yield the names of modules that a source may import, parents included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = resolve_name("." * node.level + base, package)
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[: k + 1]) for k in range(len(parts)))


def _users_module(module: str) -> ModuleSpec | None:
    """Return where a module of the user's own lies; None for any other, and for no module."""
    top = module.split(".")[0]
    if top in sys.stdlib_module_names or top in ("sweep", "conf"):
        return None
    if top == "core":
        if is_shipped(module):
            return None
    elif _is_installed(top):
        return None
    try:
        spec = find_spec(module)
    except (ImportError, AttributeError, ValueError):  # a name inside a module, for example
        return None
    return spec if spec is not None and spec.has_location else None


@cache
def _is_installed(top: str) -> bool:
    spec = find_spec(top)
    return spec is None or any(
        part in ("site-packages", "dist-packages")
        for where in (spec.origin, *(spec.submodule_search_locations or ()))
        for part in Path(where or "").parts
    )
