"""Whole files on any filesystem that pyarrow knows: written aside, then renamed."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
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

_JOURNAL = f"{ASIDE}/journal.json"

_PART = re.compile(r"part-(\d+)\.parquet")
_SECRET = re.compile(r"://[^/@]*@")
_PART_NUMBER = re.compile(r"\d+")


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
        The directory as the user gave it, for messages.
    """

    fs: Any
    root: str
    shown: str

    @classmethod
    def at(cls, directory: str | os.PathLike[str]) -> Folder:
        """Return the folder at a local path or at a URI that pyarrow knows."""
        shown = os.fspath(directory)
        if "://" not in shown:
            return cls(pafs.LocalFileSystem(), os.path.abspath(shown), shown)  # noqa: PTH100
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
        place, question, options = self.shown.partition("?")  # a URI may have options
        return f"{place.rstrip('/')}/{name}{question}{options}" if name else self.shown

    def kind(self, name: str = "") -> Any:
        """Return the `pyarrow.fs.FileType` of a file; NotFound where there is none."""
        with translated(f"cannot look at {self.show(name)}"):
            return self.fs.get_file_info(self.path(name)).type

    def names(self, folder: str = "") -> list[str]:
        """Return the sorted names of what lies in a folder; empty where there is no folder."""
        selector = pafs.FileSelector(self.path(folder), allow_not_found=True)
        with translated(f"cannot list {self.show(folder)}"):
            return sorted(info.base_name for info in self.fs.get_file_info(selector))

    def parts(self, folder: str) -> dict[int, str]:
        """Return the parts in a folder, by number, ascending."""
        found = {m[1]: f"{folder}/{m[0]}" for n in self.names(folder) if (m := _PART.fullmatch(n))}
        return {int(number): found[number] for number in sorted(found, key=int)}

    def settled_parts(self, folder: str) -> list[str]:
        """Return the names of parts in a folder as they are after `finish`."""
        names = set(self.parts(folder).values())
        for temporary, name in self.journal():
            if name.startswith(f"{folder}/"):
                names.discard(name)
                if temporary:
                    inside = temporary.removeprefix(self.path("")).lstrip("/")
                    names.add(inside if self.kind(inside) == pafs.FileType.File else name)
        return sorted(names, key=lambda name: int(_PART_NUMBER.findall(name)[-1]))

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
            raise StoreError(f"cannot read {self.show(name)}: {_reason(error)}") from error
        try:
            yield pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        except (OSError, pa.ArrowException) as error:
            raise DamagedError(
                f"{self.show(name)} is damaged ({_reason(error)}); run the same command again: "
                "it is set aside and only its points run again (of an earlier grid: that command)"
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
        there = self.names(DAMAGED)
        stem = name.replace("/", "-")
        new, n = stem, 1
        while new in there:
            n += 1
            new = f"{stem}.{n}"
        with translated(f"cannot move {self.show(name)}"):
            self.fs.move(self.path(name), self.path(f"{DAMAGED}/{new}"))
        return f"{DAMAGED}/{new}"

    def lock(self) -> Callable[[], None]:
        """Keep other writers out of a local folder; return what lets them in again.

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
                f"{self.shown}: another sweep is writing to it; wait, or use another output.dir"
            ) from None
        except OSError:
            pass  # a filesystem without locks
        return lambda: os.close(descriptor)

    @contextmanager
    def writing(self, *, wholly: bool = False) -> Iterator[Aside]:
        """Write files aside in the block; at its end they take their places, in order.

        Whatever goes wrong before the end leaves every file as it was. With `wholly`, a kill
        while they do leaves nothing by half either: `finish` does the rest.
        """
        aside = Aside(self, [])
        kept = False
        try:
            yield aside
            if kept := wholly and bool(aside.moves):
                self._keep_journal(aside.moves)
            aside.commit()
            if kept:
                self.delete(_JOURNAL)
        finally:
            for temporary, _ in [] if kept else aside.moves:
                with suppress(OSError, pa.ArrowException):
                    if temporary:
                        self.fs.delete_file(temporary)

    def _keep_journal(self, moves: list[tuple[str, str]]) -> None:
        with self.writing() as aside:
            aside.content(_JOURNAL, json.dumps(moves).encode())

    def journal(self) -> list[tuple[str, str]]:
        """Return the moves that a kill has interrupted: (temporary or "" for a removal, name)."""
        try:
            with self.fs.open_input_stream(self.path(_JOURNAL)) as stream:
                moves = json.loads(stream.read())
        except FileNotFoundError:
            return []
        except (OSError, pa.ArrowException) as error:
            raise StoreError(f"cannot read {self.show(_JOURNAL)}: {_reason(error)}") from error
        return [(temporary, name) for temporary, name in moves]

    def finish(self) -> None:
        """Do what is left of moves that a kill has interrupted."""
        moves = self.journal()
        for temporary, name in moves:
            with translated(f"cannot write {self.show(name)}"), suppress(FileNotFoundError):
                if temporary:
                    self.fs.move(temporary, self.path(name))
                else:
                    self.fs.delete_file(self.path(name))
        if moves:
            self.delete(_JOURNAL)


@dataclass(frozen=True)
class Aside:
    """Files written aside, which wait for `commit`."""

    folder: Folder
    moves: list[tuple[str, str]]

    def table(self, name: str, table: pa.Table) -> None:
        """Write a table that will be the file `name`."""
        self.tables(name, [table], table.schema)

    def tables(self, name: str, tables: Iterable[pa.Table], schema: pa.Schema) -> None:
        """Write tables one after the other that together will be the file `name`."""
        text = [f.name for f in schema if f.type == pa.string()]

        def write(stream: Any) -> None:
            with pq.ParquetWriter(
                stream,
                schema,
                compression="zstd",
                use_dictionary=text or False,
                write_page_checksum=True,
            ) as writer:
                for table in tables:
                    writer.write_table(table)

        self._write(name, write)

    def content(self, name: str, content: bytes) -> None:
        """Write bytes that will be the file `name`."""
        self._write(name, lambda stream: stream.write(content))

    def removal(self, name: str) -> None:
        """Note that the file `name` will go."""
        self.moves.append(("", name))

    def commit(self) -> None:
        """Move every file to its place, in the order in which they were written."""
        folder = self.folder
        while self.moves:
            temporary, name = self.moves[0]
            if temporary:
                with translated(f"cannot write {folder.show(name)}"):
                    folder.fs.move(temporary, folder.path(name))
            else:
                folder.delete(name)
            if folder.local:
                _sync(Path(folder.path(name)).parent)
            del self.moves[0]

    def _write(self, name: str, write: Callable[[Any], object]) -> None:
        temporary = self.folder.path(f"{ASIDE}/{name.replace('/', '-')}")
        self.moves.append((temporary, name))
        with translated(f"cannot write {self.folder.show(name)}"):
            with self.folder.fs.open_output_stream(temporary) as stream:
                write(stream)
            if self.folder.local:
                _sync(Path(temporary))


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn an error of the filesystem into a `StoreError` that starts with `what`."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        advice = ""
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            advice = "; what is finished stays readable: make room and run the same command again"
        raise StoreError(f"{what}: {_reason(error)}{advice}") from error


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else str(error).partition("\n")[0]


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
