"""Trace files as bytes: plain or gzip in, complete or not at all out, errors in plain words."""

from __future__ import annotations

import gzip
import os
import uuid
import zlib
from pathlib import Path

from core.errors import TraceError, nearest

_GZIP_MAGIC = b"\x1f\x8b"


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file, decompressed where it is gzip data, whatever its name.

    Raises
    ------
    TraceError
        The file is missing, no regular file, unreadable, or corrupt gzip data.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise TraceError(f"{path}: is a directory; a trace is a file")
        if path.exists() and not path.is_file():  # a pipe can be read only once, a device for ever
            raise TraceError(f"{path}: is not a regular file")
        data = path.read_bytes()
    except FileNotFoundError:
        raise TraceError(_missing(path)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise TraceError(f"{path}: cannot be read ({_reason(error)})") from None
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise TraceError(f"{path}: corrupt gzip data ({error})") from None


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name beside its own, then move it there.

    The data is compressed if the name ends in ``.gz``; equal data gives equal files.

    Raises
    ------
    TraceError
        The file cannot be written. An older file of that name is left as it was.
    """
    path = Path(path)
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise TraceError(f"{path}: cannot be written ({_reason(error)})") from None


def _missing(path: Path) -> str:
    directory = path.parent
    try:
        names = [entry.name for entry in directory.iterdir()]
    except FileNotFoundError:
        return f"{path}: no such file; there is no directory {directory}"
    except OSError:  # the directory may be entered but not listed
        names = []
    return f"{path}: no such file{nearest(path.name, names)}"


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
