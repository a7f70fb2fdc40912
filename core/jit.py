"""The only place that sets numba options and decides where compiled kernels are kept.

Numba's disk cache notices a change in the file of a kernel but not in the other files that it
calls, so the cache directory is named after a hash of every module of ``core``: new code never
meets old machine code.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import platformdirs

F = TypeVar("F", bound=Callable[..., Any])


def source_hash() -> str:
    """Return a hash of the sources of ``core`` (16 hex digits)."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Return the directory of this version's compiled kernels, on this machine's own disk."""
    given = os.environ.get("COFLOW_SWEEP_CACHE")
    root = Path(given) if given else Path(platformdirs.user_cache_dir("coflow-sweep"))
    return root / f"kernels-{source_hash()}-numba{numba.__version__}"


numba.config.CACHE_DIR = str(cache_directory())  # type: ignore[attr-defined]


def kernel(function: F) -> F:
    """Compile a function of arrays and numbers, exactly as written.

    No ``fastmath``: the order of floating-point operations is part of the result.
    """
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
