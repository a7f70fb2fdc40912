"""The store on a disk with faults."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sweep.store.files import Folder
from tests.sweep.store.faulty_disk import Faulty


@pytest.fixture
def faulty(monkeypatch) -> Callable[[Faulty], None]:
    def use(disk: Faulty) -> None:
        def at(directory: str | os.PathLike[str]) -> Folder:
            return Folder(disk, str(Path(directory).absolute()), str(directory))

        monkeypatch.setattr(Folder, "at", at)

    return use
