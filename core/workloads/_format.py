"""The coflow-benchmark format: `read_trace` and what it takes to be sure of what was read.

::

    <ports> <coflows>
    <id> <arrival ms> <m> <mapper>*m <r> <reducer:MB>*r       one line a coflow

Ports are 0…P − 1. Numbers are plain ASCII: whole numbers are digits alone, MB and ms may have a
fraction and an exponent. Everything else is an error with file and line, so that a damaged file
never turns into a plausible trace.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from core.errors import ParameterError, TraceError
from core.parameters import Parameter
from core.trace import LATEST_S, Trace, from_records, make_records
from core.workloads._files import read_bytes

MB_BYTES = Parameter(
    "workload.mb_bytes",
    float,
    1e6,
    "what one MB of the file stands for",
    unit="B",
    minimum=0,
    open_minimum=True,
)

MOST_PORTS = 1_000_000
"""More ports than that is a damaged header, not a data centre."""

MOST_BYTES = 1e300
"""A total above that could overflow in a sum of another order."""

_COFLOW = "<id> <arrival ms> <m> <mapper>*m <r> <reducer:MB>*r"
_ALLOWED = "allowed is a finite number ≥ 0 like 65.0, 18.2 or 1e3"
_WHOLE = re.compile(r"[0-9]{1,19}")
# No "1.": that is what a number cut off in the middle looks like.
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE]([+-]?[0-9]{1,5}))?")
_NO_TEXT = re.compile(rb"[^\t\n\r -~]")


class _BrokenRuleError(Exception):
    """What is wrong with a line; `parse_trace` adds file and line."""


class _Coflow(NamedTuple):
    id: int
    arrival_s: float
    mappers: list[int]
    reducers: list[int]
    mb: list[float]


def read_trace(path: str | os.PathLike[str], mb_bytes: float = 1e6) -> Trace:
    """Read a trace file in the coflow-benchmark format, plain or gzip.

    Parameters
    ----------
    path : path
        A gzip file is known by its first bytes, not by its name.
    mb_bytes : float
        What one MB of the file stands for [B].

    Raises
    ------
    TraceError
        The file cannot be read, or breaks a rule of the format.
    ParameterError
        `mb_bytes` is not a finite number > 0.
    """
    return parse_trace(read_bytes(path), str(path), mb_bytes)


def load_trace(path: str | os.PathLike[str], mb_bytes: float = 1e6) -> tuple[str, Trace]:
    """Return the sha256 of a trace file's (decompressed) bytes and its trace.

    An unchanged file is read once in a process: planning checks it, then every point uses it.

    Raises
    ------
    TraceError, ParameterError
        As `read_trace`.
    """
    try:
        path = Path(path).expanduser()
        state = path.stat()
        version = (state.st_dev, state.st_ino, state.st_mtime_ns, state.st_size)
    except (OSError, ValueError, RuntimeError):  # RuntimeError: no such user to expand ~ with
        version = (0, 0, 0, 0)  # reading it says what is wrong
    return _load(str(path), mb_bytes, version)


@lru_cache(maxsize=4)
def _load(path: str, mb_bytes: float, version: tuple[int, ...]) -> tuple[str, Trace]:
    data = read_bytes(path)
    return hashlib.sha256(data).hexdigest(), parse_trace(data, path, mb_bytes)


def content_id(sha256: str, trace: Trace) -> str:
    """Return what identifies a trace from a file: its bytes, and what its MB stand for."""
    return f"sha256:{sha256} mb_bytes={trace.mb_bytes!r}"


def parse_trace(data: bytes, name: str, mb_bytes: float = 1e6) -> Trace:
    """Return the trace that the bytes of a file describe; `name` is for messages.

    Raises
    ------
    TraceError, ParameterError
        As `read_trace`.
    """
    if not 0 < mb_bytes < math.inf:
        raise ParameterError(f"{MB_BYTES.key}={mb_bytes}: allowed is {MB_BYTES.allowed()}")
    lines = _text_lines(data, name)
    coflows: list[_Coflow] = []
    line_of: dict[int, int] = {}
    total = 0.0
    number = 1
    try:
        ports, announced = _header(lines[0])
        for number, line in enumerate(lines[1:], start=2):
            coflow = _coflow(line.split(), ports)
            if coflow.id in line_of:
                raise _BrokenRuleError(f"id {coflow.id} is taken by line {line_of[coflow.id]}")
            total += sum(coflow.mb)
            if not total * mb_bytes <= MOST_BYTES:
                raise _BrokenRuleError(f"the sizes up to here are more than {MOST_BYTES:g} B")
            line_of[coflow.id] = number
            coflows.append(coflow)
    except _BrokenRuleError as broken:
        cut = number == len(lines) and not data.endswith(b"\n")
        hint = " (the file ends inside this line: is it cut off?)" if cut else ""
        raise TraceError(f"{name} line {number}: {broken}{hint}") from None
    if announced != len(coflows):
        raise TraceError(
            f"{name} line 1: the header announces {announced} coflows, "
            f"but {len(coflows)} follow (the last is line {len(lines)})"
        )
    ids, arrivals, mappers, reducers, mb = zip(*coflows, strict=True)
    return from_records(name, ports, ids, arrivals, make_records(mappers, reducers, mb), mb_bytes)


def _text_lines(data: bytes, name: str) -> list[str]:
    """Split into lines without blank ones at the end. Only ASCII is text here."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if match := _NO_TEXT.search(data):
        at = match.start()
        character = data[at : at + 4].decode("utf-8", "ignore")[:1]
        # By number: a character that looks like a digit or a blank does not show what it is.
        note = f" (U+{ord(character):04X})" if character > "\x7f" else ""
        line = data.count(b"\n", 0, at) + 1
        raise TraceError(
            f"{name} line {line}: byte 0x{data[at]:02x}{note} is not plain ASCII text, "
            "as a trace has to be"
        )
    text = data.decode("ascii").rstrip()
    if not text:
        raise TraceError(f"{name}: is empty; line 1 has to be <ports> <coflows>")
    return text.split("\n")


def _header(line: str) -> tuple[int, int]:
    fields = line.split()
    if len(fields) != 2 or not all(_WHOLE.fullmatch(f) and int(f) > 0 for f in fields):
        raise _BrokenRuleError(
            f"{_shown(line.strip())} is no header; allowed is <ports> <coflows>, "
            "two whole numbers ≥ 1"
        )
    ports, coflows = map(int, fields)
    if ports > MOST_PORTS:
        raise _BrokenRuleError(f"{ports} ports; allowed is 1…{MOST_PORTS}")
    return ports, coflows


def _coflow(fields: list[str], ports: int) -> _Coflow:
    if len(fields) < 3:
        content = f"{len(fields)} fields" if fields else "a blank line between coflows"
        raise _BrokenRuleError(f"{content}; allowed is {_COFLOW}")
    coflow_id = _whole("id", fields[0])
    if coflow_id >= 2**63:
        raise _BrokenRuleError(f"id {coflow_id} is outside 0…2^63 − 1")
    arrival_s = _arrival(fields[1])
    m = _whole("number of mappers", fields[2])
    if m == 0:
        raise _BrokenRuleError("m = 0 mappers; a coflow has at least one")
    if len(fields) <= 3 + m or ":" in fields[3 + m]:
        raise _BrokenRuleError(_miscount(fields, m))
    r = _whole("number of reducers", fields[3 + m])
    if len(fields) != 4 + m + r:
        raise _BrokenRuleError(_miscount(fields, m))
    if r == 0:
        raise _BrokenRuleError("r = 0 reducers; a coflow has at least one")
    reducers = [_reducer(field, ports) for field in fields[4 + m :]]
    return _Coflow(
        coflow_id,
        arrival_s,
        [_port("mapper", field, ports) for field in fields[3 : 3 + m]],
        [port for port, _ in reducers],
        [mb for _, mb in reducers],
    )


def _miscount(fields: list[str], m: int) -> str:
    """Say which of m and r disagrees with the line: reducers are the fields with a colon."""
    colon = next((i for i, field in enumerate(fields) if ":" in field), None)
    if colon is None:
        return f"m = {m} mappers, but the line has {len(fields)} fields and no <reducer:MB>"
    before = max(colon - 4, 0)
    if before != m:
        return f"m = {m} mappers, but {before} stand before the number of reducers"
    return f"r = {_shown(fields[colon - 1])} reducers, but {len(fields) - colon} fields follow it"


def _whole(what: str, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise _BrokenRuleError(f"{what} {_shown(text)} is not a whole number ≥ 0 in plain digits")
    return int(text)


def _port(side: str, text: str, ports: int) -> int:
    port = _whole(side, text)
    if port >= ports:
        raise _BrokenRuleError(f"{side} {port} is outside 0…{ports - 1} ({ports} ports)")
    return port


def _reducer(field: str, ports: int) -> tuple[int, float]:
    port, colon, mb = field.partition(":")
    if not colon:
        raise _BrokenRuleError(f"reducer {_shown(field)} has no colon; allowed is <port>:<MB>")
    number = _port("reducer", port, ports)
    if not _NUMBER.fullmatch(mb) or math.isinf(size := float(mb)):
        raise _BrokenRuleError(f"reducer {number} has {_shown(mb)} MB; {_ALLOWED}")
    return number, size


def _arrival(text: str) -> float:
    """Return the seconds nearest to a decimal number of ms.

    The decimal point is moved before the one rounding; a division after it would leave seconds
    that no number of ms can give, and so traces that cannot be written.
    """
    match = _NUMBER.fullmatch(text)
    seconds = float(f"{match[1]}e{int(match[2] or 0) - 3}") if match else math.inf
    if math.isinf(seconds):
        raise _BrokenRuleError(f"arrival {_shown(text)} ms; {_ALLOWED}")
    if seconds > LATEST_S:
        raise _BrokenRuleError(f"arrival {_shown(text)} ms is after {LATEST_S * 1e3:.0e} ms")
    return seconds


def _shown(text: str) -> str:
    text = text if len(text) <= 40 else text[:39] + "…"
    return text if re.fullmatch(r"-?[0-9.]+", text) else repr(text)
