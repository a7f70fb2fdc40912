"""Files appear whole or not at all: written aside, then moved to their names.

Several files can be moved as one: a journal of their moves is on disk first, and what a kill
interrupts the next run finishes.
"""

from __future__ import annotations

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
from sweep.store.files import ASIDE, Folder, reason, translated

_JOURNAL = f"{ASIDE}/journal.json"
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class PendingFiles:
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
        """Move every file to its name, in the order in which they were written."""
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
def writing(folder: Folder, *, wholly: bool = False) -> Iterator[PendingFiles]:
    """Write files aside in the block; at its end they are moved to their names, in order.

    An error before the end leaves every file as it was. With `wholly`, a kill during the moves
    leaves nothing half done either: `finish` does the rest.
    """
    pending = PendingFiles(folder, [])
    kept = False
    try:
        yield pending
        if kept := wholly and bool(pending.moves):
            _keep_journal(folder, pending.moves)
        pending.commit()
        if kept:
            folder.delete(_JOURNAL)
    finally:
        for temporary, _ in [] if kept else pending.moves:
            with suppress(OSError, pa.ArrowException):
                if temporary:
                    folder.fs.delete_file(temporary)


def _keep_journal(folder: Folder, moves: list[tuple[str, str]]) -> None:
    with writing(folder) as pending:
        pending.content(_JOURNAL, json.dumps(moves).encode())


def journal(folder: Folder) -> list[tuple[str, str]]:
    """Return the moves that a kill has interrupted: (temporary or "" for a removal, name)."""
    try:
        with folder.fs.open_input_stream(folder.path(_JOURNAL)) as stream:
            moves = json.loads(stream.read())
    except FileNotFoundError:
        return []
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"cannot read {folder.show(_JOURNAL)}: {reason(error)}") from error
    return [(temporary, name) for temporary, name in moves]


def finish(folder: Folder) -> None:
    """Do what is left of moves that a kill has interrupted."""
    moves = journal(folder)
    for temporary, name in moves:
        with translated(f"cannot write {folder.show(name)}"), suppress(FileNotFoundError):
            if temporary:
                folder.fs.move(temporary, folder.path(name))
            else:
                folder.fs.delete_file(folder.path(name))
    if moves:
        folder.delete(_JOURNAL)


def settled_parts(folder: Folder, table: str) -> list[str]:
    """Return the names of a table's parts as they are after `finish`."""
    names = set(folder.parts(table).values())
    for temporary, name in journal(folder):
        if name.startswith(f"{table}/"):
            names.discard(name)
            if temporary:
                inside = temporary.removeprefix(folder.path("")).lstrip("/")
                names.add(inside if folder.kind(inside) == pafs.FileType.File else name)
    return sorted(names, key=lambda name: int(_NUMBER.findall(name)[-1]))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
