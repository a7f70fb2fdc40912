"""The only place that sets numba options and decides where compiled kernels are kept.

Numba's disk cache notices a change in the file of a kernel but not in the other files that it
calls, so the cache directory is named after a hash of every source that a kernel can see: new
code never meets old machine code. Numba also compiles again when the same code lies elsewhere, as
on Ray's workers after each start; here a kernel of ``core`` is known by what it is, wherever it
lies. Its machine code is kept by processor. Only entry points, the kernels that Python calls, are
kept on disk; their machine code contains everything that they call.

Trouble with the disk never ends a run: without a directory to write to, or with a damaged file
in it, kernels are compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite
import numba
import platformdirs
from filelock import FileLock, Timeout
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

F = TypeVar("F", bound=Callable[..., Any])

_ROOT = Path(__file__).parent
_IMPORT = re.compile(
    r"^ *(?:from (core[\w.]*) import ([^(\n]+|\([^)]*\))|import (core[\w.]*))", re.MULTILINE
)
_COMPILE_SECONDS = 300.0
"""Longest wait for another process that compiles the same kernel."""


def kernel_sources() -> tuple[Path, ...]:
    """Return the files of ``core`` that a kernel can see, sorted.

    These are the modules that import this one, and what they import from ``core``, and so on.
    """
    # A file that an editor has left, or in another encoding, holds no kernel.
    paths = [p for p in sorted(_ROOT.rglob("*.py")) if p.is_file() and not p.name.startswith(".")]
    files = {path: path.read_text(encoding="utf-8", errors="replace") for path in paths}
    imports = {path: set(_imported(text)) for path, text in files.items()}
    modules = {path for path, used in imports.items() if Path(__file__) in used}
    modules.add(Path(__file__))
    frontier = list(modules)
    while frontier:
        new = imports[frontier.pop()] - modules
        modules |= new
        frontier += new
    return tuple(sorted(modules))


def _imported(source: str) -> list[Path]:
    """Return the files of ``core`` that the import statements of a module name."""
    modules = []
    for package, names, module in _IMPORT.findall(source):
        modules.append(package or module)
        modules += [f"{package}.{name}" for name in re.findall(r"\w+", names)]
    paths = []
    for name in modules:
        path = _ROOT.joinpath(*name.split(".")[1:])
        paths += [p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file()]
    return paths


def source_hash() -> str:
    """Return a hash of what machine code depends on: these sources and numba.

    Returns
    -------
    str
        16 hex digits.
    """
    digest = hashlib.sha256()
    for path in kernel_sources():
        digest.update(str(path.relative_to(_ROOT)).encode())
        digest.update(path.read_bytes())
    digest.update(f"{numba.__version__} {llvmlite.__version__}".encode())
    return digest.hexdigest()[:16]


def cache_directory() -> Path | None:
    """Return a directory of this user for this version's compiled kernels; None if there is none.

    ``COFLOW_SWEEP_CACHE`` or the user's cache directory; where that cannot be written, one in
    the system's temporary directory.
    """
    directory = os.environ.get("COFLOW_SWEEP_CACHE")
    user = os.getuid() if hasattr(os, "getuid") else 0
    roots = (
        Path(directory) if directory else Path(platformdirs.user_cache_dir("coflow-sweep")),
        Path(tempfile.gettempdir()) / f"coflow-sweep-{user}",
    )
    for root in roots:
        path = root / f"kernels-{source_hash()}"
        # The cache holds machine code: no other user may write to it.
        with contextlib.suppress(OSError):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=path).close()
            if not hasattr(os, "getuid") or path.stat().st_uid == user:
                return path
    return None


class _Place(UserProvidedCacheLocator):  # type: ignore[misc]
    """Where a kernel of ``core`` is cached: by its module and what that says, not by its path."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        inside = CACHE is not None and Path(py_file).resolve().is_relative_to(_ROOT.resolve())
        return super().from_function(py_func, py_file) if inside else None

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        path = Path(py_file).resolve()
        module = path.relative_to(_ROOT.resolve()).with_suffix("")
        self._cache_path = str(cast(Path, CACHE) / "-".join(module.parts))
        self._stamp = hashlib.sha256(path.read_bytes()).hexdigest()

    def get_source_stamp(self) -> str:
        return self._stamp


class _Impl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Place, *CompileResultCacheImpl._locator_classes)


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one kernel; one process compiles, the others wait for its result.

    The lock is the system's: it goes with the process that holds it.
    """

    _impl_class = _Impl
    _lock: FileLock | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code or None; after None the kernel's lock is held until the save."""
        code = self._load(sig, target_context)
        if code is None and self._lock is None:
            name = f"{self._impl.filename_base}.lock"
            lock = FileLock(str(Path(self.cache_path) / name), timeout=_COMPILE_SECONDS)
            # Without a lock the worst is that two processes compile the same.
            with contextlib.suppress(OSError, Timeout, NotImplementedError):
                lock.acquire()
                self._lock = lock
            code = self._load(sig, target_context)
            if code is not None:
                self._unlock()
        return code

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write compiled code to disk if that is possible."""
        try:
            with contextlib.suppress(OSError):
                super().save_overload(sig, data)
        finally:
            self._unlock()

    def unlocking(self, compile_: F) -> F:
        """Return numba's compile; when it fails, waiting processes go on at once."""

        def compile_or_unlock(*args: Any) -> Any:
            try:
                return compile_(*args)
            except BaseException:
                self._unlock()
                raise

        return cast(F, compile_or_unlock)

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever reading a damaged file raises: start afresh
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def kernel(function: F) -> F:
    """Compile an entry point: a kernel that Python calls, kept on disk.

    No ``fastmath``: the order of floating-point operations is part of the result.
    """
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    if CACHE is not None and hasattr(compiled, "enable_caching"):  # not without a compiler
        cache = compiled._cache = _KernelCache(function)
        compiled._compiler.compile = cache.unlocking(compiled._compiler.compile)
    return cast(F, compiled)


def inner(function: F) -> F:
    """Compile a function that only other kernels call: as `kernel`, without an entry for Python.

    Without the code that unpacks Python objects it compiles in half the time.
    """
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(F, numba.njit(nogil=True, error_model="numpy", **options)(function))


def inlined(function: F) -> F:
    """Compile a function into each kernel that calls it; it may not make arrays.

    For parts of a loop that share many arrays: a call would push each of their fields and count
    references to them, at run time and through every level of calls when it is compiled.
    """
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    njit = numba.njit(nogil=True, error_model="numpy", forceinline=True, **options)
    return cast(F, njit(function))


CACHE = cache_directory()
if CACHE is not None:
    numba.config.CACHE_DIR = str(CACHE)
