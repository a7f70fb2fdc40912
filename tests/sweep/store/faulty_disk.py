"""A disk on which the k-th change is the last one, or that fills up."""

from __future__ import annotations

import errno
import io
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs


class KilledError(BaseException):
    """The process ends here; nothing that follows reaches the disk."""


class Faulty:
    """A local filesystem whose k-th change is the last one, or whose disk fills up."""

    def __init__(self, kill_at: int = 10**9, room: int = 10**12) -> None:
        self.local = pafs.LocalFileSystem()
        self.kill_at, self.room, self.changes = kill_at, room, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.local, name)

    def _change(self) -> None:
        self.changes += 1
        if self.changes >= self.kill_at:
            raise KilledError

    def create_dir(self, *args: Any, **options: Any) -> None:
        self._change()
        self.local.create_dir(*args, **options)

    def delete_file(self, path: str) -> None:
        self._change()
        self.local.delete_file(path)

    def move(self, source: str, target: str) -> None:
        self._change()
        self.local.move(source, target)

    def open_output_stream(self, path: str) -> Any:
        Path(path).write_bytes(b"PAR1 half of it")
        self._change()
        return Filling(path, self)


class Filling(io.FileIO):
    def __init__(self, path: str, disk: Faulty) -> None:
        super().__init__(path, "w")
        self.disk = disk

    def write(self, content: Any) -> int:
        self.disk.room -= len(memoryview(content))
        if self.disk.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(content)
