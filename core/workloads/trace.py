"""``workload=trace``: a file in the coflow-benchmark format."""

from __future__ import annotations

from typing import cast

import numpy as np

from core.parameters import Parameter, Values
from core.trace import Trace
from core.workloads._base import Workload
from core.workloads._format import MB_BYTES, content_id, load_trace

PATH = Parameter(
    "workload.path",
    str,
    None,
    "trace file in the coflow-benchmark format, plain or gzip",
    required=True,
)


def _load(values: Values) -> tuple[str, Trace]:
    return load_trace(cast(str, values[PATH.key]), cast(float, values[MB_BYTES.key]))


def _build(values: Values, rng: np.random.Generator) -> Trace:
    return _load(values)[1]


def _content(values: Values) -> str:
    sha256, trace = _load(values)
    return content_id(sha256, trace)


WORKLOAD = Workload(
    name="trace",
    summary="a trace file in the coflow-benchmark format",
    parameters=(PATH, MB_BYTES),
    build=_build,
    content=_content,
    identified_by_content=True,
)
