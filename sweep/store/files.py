"""`Folder`: whole files on any filesystem that pyarrow knows."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from core.errors import StoreError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

POINTS, RESULTS, MANIFEST = "points.parquet", "results", "manifest.json"

ASIDE = ".tmp"
"""Folder of unfinished files; no reader's glob looks into it."""

DAMAGED = "damaged"
"""Folder of files that could not be read; no reader's glob looks into it."""

_PART = re.compile(r"part-(\d+)\.parquet")
_SECRET = re.compile(r"://[^/@]*@")


def _number(match: re.Match[str]) -> int:
    return int(match[1])


def part_name(folder: str, number: int) -> str:
    """Return the name of a part."""
    return f"{folder}/part-{number:06d}.parquet"


class DamagedError(StoreError):
    """A file that can be read but not understood."""


@dataclass(frozen=True)
class Folder:
    """A directory on a filesystem; names are relative to it, with ``/`` between their parts.

    Attributes
    ----------
    fs : pyarrow.fs.FileSystem
    root : str
        Path on that filesystem.
    shown : str
        The directory as the user wrote it, for messages.
    """

    fs: Any
    root: str
    shown: str

    @classmethod
    def at(cls, directory: str | os.PathLike[str]) -> Folder:
        """Return the folder at a local path or at a URI that pyarrow knows."""
        shown = os.fspath(directory)
        try:
            shown.encode()
        except UnicodeEncodeError:
            raise StoreError(
                f"{shown!a}: this name is not UTF-8; give the directory another name"
            ) from None
        if "://" not in shown:
            root = os.path.abspath(os.path.expanduser(shown))  # noqa: PTH100, PTH111
            return cls(pafs.LocalFileSystem(), root, shown)
        with translated(f"cannot use {shown}"):
            fs, root = pafs.FileSystem.from_uri(shown)
        return cls(fs, root, _SECRET.sub("://", shown))

    @property
    def local(self) -> bool:
        """Whether operating-system calls reach the files too."""
        return isinstance(self.fs, pafs.LocalFileSystem)

    def path(self, name: str) -> str:
        """Return the path of a file on the filesystem."""
        return f"{self.root.rstrip('/')}/{name}" if name else self.root

    def show(self, name: str) -> str:
        """Return the name of a file for messages."""
        path, question, options = self.shown.partition("?")  # a URI may have options
        return f"{path.rstrip('/')}/{name}{question}{options}" if name else self.shown

    def kind(self, name: str = "") -> Any:
        """Return the `pyarrow.fs.FileType` of a file; NotFound if it does not exist."""
        with translated(f"cannot look at {self.show(name)}"):
            return self.fs.get_file_info(self.path(name)).type

    def names(self, folder: str = "") -> list[str]:
        """Return the sorted names of a folder's files and folders; none if it does not exist."""
        selector = pafs.FileSelector(self.path(folder), allow_not_found=True)
        with translated(f"cannot list {self.show(folder)}"):
            return sorted(info.base_name for info in self.fs.get_file_info(selector))

    def parts(self, folder: str) -> dict[int, str]:
        """Return the parts in a folder, by number, ascending."""
        matches = [match for name in self.names(folder) if (match := _PART.fullmatch(name))]
        return {int(match[1]): f"{folder}/{match[0]}" for match in sorted(matches, key=_number)}

    def make(self, name: str = "") -> None:
        """Create a folder, and those above it."""
        with translated(f"cannot create {self.show(name)}"):
            self.fs.create_dir(self.path(name), recursive=True)

    def delete(self, name: str) -> None:
        """Delete a file."""
        with translated(f"cannot delete {self.show(name)}"):
            self.fs.delete_file(self.path(name))

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        with (
            translated(f"cannot read {self.show(name)}"),
            self.fs.open_input_stream(self.path(name)) as stream,
        ):
            return bytes(stream.read())

    def read_table(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """Return a Parquet file, or some columns of it.

        Raises
        ------
        DamagedError
            Says what to do about it.
        StoreError
            The file cannot be reached.
        FileNotFoundError
        """
        with self._parquet(name) as file:
            return file.read(columns)

    @contextmanager
    def _parquet(self, name: str) -> Iterator[pq.ParquetFile]:
        try:
            with self.fs.open_input_file(self.path(name)) as file:
                content = file.read_buffer()
        except FileNotFoundError:
            raise
        except (OSError, pa.ArrowException) as error:
            raise StoreError(f"cannot read {self.show(name)}: {reason(error)}") from error
        try:
            yield pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        except (OSError, pa.ArrowException) as error:
            raise DamagedError(
                f"{self.show(name)} is damaged ({reason(error)}). Run the sweep again: the file "
                f"moves to {DAMAGED}/ and its points are recomputed. If they belong to an earlier "
                "grid, rerun that grid's command"
            ) from error

    def checked_metadata(self, name: str) -> dict[bytes, bytes]:
        """Return the metadata of a Parquet file, of which every page has been checked.

        Raises
        ------
        DamagedError, StoreError, FileNotFoundError
            As `read_table`.
        """
        with self._parquet(name) as file:
            for _ in file.iter_batches(batch_size=10_000):
                pass
            return dict(file.schema_arrow.metadata or {})

    def row_count(self, name: str) -> int:
        """Return the number of rows of a Parquet file."""
        with (
            translated(f"cannot read {self.show(name)}"),
            self.fs.open_input_file(self.path(name)) as file,
        ):
            return int(pq.ParquetFile(file).metadata.num_rows)

    def set_aside(self, name: str) -> str:
        """Move a file out of the readers' sight; return its new name."""
        self.make(DAMAGED)
        taken = self.names(DAMAGED)
        stem = name.replace("/", "-")
        new, n = stem, 1
        while new in taken:
            n += 1
            new = f"{stem}.{n}"
        with translated(f"cannot move {self.show(name)}"):
            self.fs.move(self.path(name), self.path(f"{DAMAGED}/{new}"))
        return f"{DAMAGED}/{new}"

    def lock(self) -> Callable[[], None]:
        """Keep other writers out of a local folder; return a function that lets them in again.

        The lock is the operating system's: it ends with the process, however that ends.

        Raises
        ------
        StoreError
            Another process has it.
        """
        if not self.local or fcntl is None:
            return lambda: None
        with translated(f"cannot use {self.shown}"):
            descriptor = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise StoreError(
                f"{self.shown}: another sweep is writing to it; wait for its end, or set another "
                "output.dir"
            ) from None
        except OSError:
            pass  # a filesystem without locks
        return lambda: os.close(descriptor)


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn an error of the filesystem into a `StoreError` that starts with `what`."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        advice = ""
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            advice = (
                "; the results so far stay readable. Free some space, then run the same command "
                "again to continue"
            )
        raise StoreError(f"{what}: {reason(error)}{advice}") from error


def reason(error: Exception) -> str:
    """Return one line about an error of the filesystem."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else str(error).partition("\n")[0]
