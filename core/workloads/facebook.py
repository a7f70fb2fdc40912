"""``workload=facebook``: the published trace of one hour of a Facebook cluster.

The trace is third-party data and no part of this package. It is read from the path
given, or from the user's cache, where it is fetched to on first use. Only the published bytes
are accepted, so the same name means the same coflows everywhere.

Source: Chowdhury, Zhong and Stoica, "Efficient Coflow Scheduling with Varys", SIGCOMM 2014, and
https://github.com/coflow/coflow-benchmark.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import numpy as np
import platformdirs

from core.errors import TraceError
from core.parameters import Parameter, Values
from core.trace import Trace
from core.workloads._base import Workload
from core.workloads._download import download
from core.workloads._format import MB_BYTES, content_id, load_trace

FILE = "FB2010-1Hr-150-0.txt"
URL = f"https://raw.githubusercontent.com/coflow/coflow-benchmark/master/{FILE}"
SHA256 = "cdd0d94d26c6ab10ce3634cf6a0f836859578e914de6b6faa980a245237dbc6e"

PATH = Parameter(
    "workload.path",
    str,
    None,
    "file of the published trace, plain or gzip; null: your cache, fetched on first use",
)


def load_facebook(
    path: str | None, mb_bytes: float = 1e6, sha256: str = SHA256
) -> tuple[str, Trace]:
    """Return the sha256 of the trace's bytes, which is as expected, and the trace.

    The environment variable ``COFLOW_SWEEP_FACEBOOK_URL`` names a mirror.

    Raises
    ------
    TraceError
        The file is missing and cannot be fetched, or is not the published one.
    """
    if path is not None:
        return _checked(path, mb_bytes, sha256)
    target, problem = cached_file(), ""
    if os.path.lexists(target):
        try:
            return _checked(target, mb_bytes, sha256)
        except TraceError as error:  # so it is fetched again
            problem = f" (the file that lies there cannot be used: {error})"
    url = os.environ.get("COFLOW_SWEEP_FACEBOOK_URL") or URL
    if broken := download(url, target, sha256):
        raise TraceError(
            f"{FILE} cannot be fetched from {url}: {broken}. Without a network, put the file "
            f"(sha256 {sha256}) at {target}, or say where it is with {PATH.key}=<file>{problem}"
        )
    return _checked(target, mb_bytes, sha256)


def cached_file() -> Path:
    """Return where the trace is kept: ``$COFLOW_SWEEP_CACHE`` or the user's cache directory."""
    directory = os.environ.get("COFLOW_SWEEP_CACHE")
    root = Path(directory) if directory else Path(platformdirs.user_cache_dir("coflow-sweep"))
    return root.absolute() / "traces" / FILE


def _checked(path: str | Path, mb_bytes: float, sha256: str) -> tuple[str, Trace]:
    file_sha256, trace = load_trace(path, mb_bytes)
    if file_sha256 != sha256:
        raise TraceError(
            f"{path} is not the published {FILE}: its sha256 is {file_sha256}, not {sha256}; "
            f"for another trace use workload=trace {PATH.key}={path}"
        )
    return file_sha256, trace


def _load(values: Values) -> tuple[str, Trace]:
    return load_facebook(
        cast("str | None", values[PATH.key]), cast(float, values[MB_BYTES.key]), SHA256
    )


def _build(values: Values, rng: np.random.Generator) -> Trace:
    return _load(values)[1]


def _content(values: Values) -> str:
    sha256, trace = _load(values)
    return content_id(sha256, trace)


WORKLOAD = Workload(
    name="facebook",
    summary="the published Facebook trace FB2010-1Hr-150-0: 150 ports, 526 coflows",
    parameters=(PATH, MB_BYTES),
    build=_build,
    content=_content,
    identified_by_content=True,
)
