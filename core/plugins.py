"""Find the records that the modules of a package export: one file adds one thing.

A file that cannot be used takes nothing else with it. Its package's other records work on, and
only a request for the broken one fails, with the file and the line.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import traceback
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, TypeVar

from core.errors import PluginError
from core.shipped import fingerprint, is_shipped

T = TypeVar("T")


class Records(dict[str, T]):
    """Records by name. A request for the name of a broken file raises `PluginError`.

    Attributes
    ----------
    broken : dict of str to PluginError
        What is wrong with each file that could not be used, by the name of the file.
    modules : dict of str to str
        Module of each record, by the record's name.
    """

    def __init__(self) -> None:
        super().__init__()
        self.broken: dict[str, PluginError] = {}
        self.modules: dict[str, str] = {}
        self._codes: dict[str, int | str] = {}

    def __missing__(self, name: str) -> T:
        self._raise_if_broken(name)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        if super().__contains__(name):
            return True
        self._raise_if_broken(name)
        return False

    def sort(self, order: Callable[[T], Any]) -> Records[T]:
        """Bring the records into an order; return them."""
        items = sorted(self.items(), key=lambda item: order(item[1]))
        self.clear()
        self.update(items)
        return self

    def set_aside(self, name: str, reason: str) -> None:
        """Treat a record as broken from now on."""
        path = _path(self.modules[name])
        del self[name]
        self.broken[name] = PluginError(f"{path}: {reason}")

    def is_own(self, name: str) -> bool:
        """Whether a record is of the user's own, not a shipped one."""
        return not is_shipped(self.modules[name])

    def code(self, name: str) -> int | str:
        """Return what tells the code of a record from its earlier code, for the ids of points.

        That is the record's version if it is shipped, else a fingerprint of its source.
        """
        code = self._codes.get(name)
        if code is None:
            is_users, record = self.is_own(name), self[name]
            code = (
                fingerprint(self.modules[name]) if is_users else int(getattr(record, "version", 1))
            )
            self._codes[name] = code
        return code

    def _raise_if_broken(self, name: object) -> None:
        if isinstance(name, str) and name in self.broken:
            error = self.broken[name]
            raise PluginError(f"{name} cannot be used: {error}") from error.__cause__


def discover(
    package: ModuleType,
    kind: type[T],
    attribute: str,
    check: Callable[[T], str | None] = lambda record: None,
) -> Records[T]:
    """Import every module of a package and collect its record.

    Parameters
    ----------
    package : module
        Its modules are imported in alphabetical order; names starting with ``_`` are passed over.
    kind : type
        Type of the record; it has a ``name``.
    attribute : str
        Name of the module-level variable that holds the record.
    check : callable (record) → str, optional
        Says what is wrong with a record, None where nothing is.

    Returns
    -------
    Records
        Two files that give one name to their records: the file that is called so keeps it.
    """
    records: Records[T] = Records()
    exported: list[tuple[str, T]] = []
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda i: i.name):
        if info.name.startswith("_"):
            continue
        try:
            exported.append((info.name, _record(package, info.name, kind, attribute, check)))
        except PluginError as error:
            records.broken[info.name] = error
    for file, record in sorted(exported, key=lambda e: e[0] != getattr(e[1], "name")):  # noqa: B009
        name = str(getattr(record, "name"))  # noqa: B009
        module = f"{package.__name__}.{file}"
        if name in records.modules:
            other = _path(records.modules[name])
            where = f"{_path(module)}{_line_of(module, attribute)}"
            records.broken[file] = PluginError(f"{where}: the name {name!r} is taken by {other}")
        else:
            records[name], records.modules[name] = record, module
    return records.sort(lambda record: getattr(record, "name"))  # noqa: B009


def _record(
    package: ModuleType,
    name: str,
    kind: type[T],
    attribute: str,
    check: Callable[[T], str | None],
) -> T:
    """Import a module and return its record.

    Raises
    ------
    PluginError
    """
    module_name = f"{package.__name__}.{name}"
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise PluginError(_why_not_imported(module_name, error)) from error
    record = getattr(module, attribute, None)
    where = f"{_path(module_name)}{_line_of(module_name, attribute)}"
    if record is None:
        raise PluginError(f"{where}: it exports no {attribute} = {kind.__name__}(…)")
    if not isinstance(record, kind):
        raise PluginError(
            f"{where}: {attribute} is of type {type(record).__name__}; it must be a "
            f"{kind.__name__}(…)"
        )
    record_name: Any = getattr(record, "name", None)
    if not isinstance(record_name, str) or not record_name.isidentifier():
        raise PluginError(
            f"{where}: name={record_name!r} is no name; use letters, digits and underscores"
        )
    try:
        problem = check(record)
    except Exception as error:  # a field of a type that the check does not expect
        problem = f"{type(error).__name__}: {error}"
    if problem is not None:
        raise PluginError(f"{where}: {problem}")
    return record


def _why_not_imported(module: str, error: BaseException) -> str:
    """Say in one line what keeps a module from being imported, and where."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_short(error.filename)} line {error.lineno}: {error.msg}"
    path = _path(module)
    lines = [line for file, line in _frames(error.__traceback__) if _short(file) == path]
    where = f"{path} line {lines[-1]}" if lines else path
    message = " ".join(str(error).split())
    return f"{where}: {type(error).__name__}" + (f": {message}" if message else "")


def _frames(trace: TracebackType | None) -> list[tuple[str, int]]:
    return [(f.filename, f.lineno or 0) for f in traceback.extract_tb(trace)]


def _line_of(module: str, attribute: str) -> str:
    """Return `` line N`` of the statement that sets a variable, if there is one."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return ""
    for node in ast.parse(Path(spec.origin).read_bytes()).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == attribute for target in targets):
            return f" line {node.lineno}"
    return ""


def _path(module: str) -> str:
    spec = find_spec(module)
    return module if spec is None or spec.origin is None else _short(spec.origin)


def _short(path: str) -> str:
    """Return a path from the working directory if it lies below."""
    try:
        return str(Path(path).resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path
