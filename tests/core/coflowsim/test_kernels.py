"""The kernel cache: many processes at once, trouble with the disk, and what its name covers."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import pytest

from core import jit
from core.coflowsim import ENGINE
from core.schedulers import schedulers

CORE = Path(jit.__file__).parent
DISABLED = bool(numba.config.DISABLE_JIT)
needs_compiler = pytest.mark.skipif(DISABLED, reason="nothing is compiled in this run")

WARM = """
import sys
from core import jit
from core.coflowsim import ENGINE
from core.schedulers import schedulers
ENGINE.warm(schedulers()[name] for name in sys.argv[1:] or schedulers())
print(jit.CACHE)
"""

ONE = """
from core import jit
from core.bounds import srpt_flow_time
assert srpt_flow_time([0, 1], [2, 1]) == 4
print(jit.CACHE)
"""
"""The kernel that compiles fastest."""


def start(cache, script=ONE, *words, **environment):
    """Start a process that compiles and prints where it keeps the machine code."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script, *words],
        cwd="/",
        env=os.environ
        | {"COFLOW_SWEEP_CACHE": str(cache), "PYTHONPATH": str(CORE.parent)}
        | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert err == ""
    return out.strip()


no_bytecode = shutil.ignore_patterns("__pycache__")


def compiled_files(folder):
    return sorted(path.name for path in Path(folder).rglob("*.nbc"))


@needs_compiler
def test_four_processes_with_an_empty_cache(tmp_path):
    """One compiles, the others wait for its file; the next process finds it."""
    places = {finish(process) for process in [start(tmp_path) for _ in range(4)]}
    assert len(places) == 1
    assert [name.split("-")[0] for name in compiled_files(tmp_path)] == ["srpt.total_flow_time"]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    finish(start(tmp_path))
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}


@needs_compiler
def test_the_same_code_elsewhere_is_not_compiled_again(tmp_path):
    """As Ray brings it to its workers: under a path that is new at each start."""
    cache = tmp_path / "cache"
    place = finish(start(cache))
    before = {path: path.stat().st_mtime_ns for path in cache.rglob("*.nb[ci]")}
    shutil.copytree(
        CORE, tmp_path / "new" / "core", copy_function=shutil.copyfile, ignore=no_bytecode
    )
    there = {"PYTHONPATH": str(tmp_path / "new")}
    assert finish(start(cache, **there)) == place
    assert before == {path: path.stat().st_mtime_ns for path in cache.rglob("*.nb[ci]")}
    with (tmp_path / "new" / "core" / "bounds" / "srpt.py").open("a") as file:
        file.write("\n")
    assert finish(start(cache, **there)) != place


@needs_compiler
def test_a_process_killed_while_it_compiles_releases_its_lock(tmp_path):
    process = start(tmp_path, WARM, "pfp")
    while not list(tmp_path.rglob("*.lock")):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert compiled_files(tmp_path) == []
    begin = time.monotonic()
    finish(start(tmp_path, WARM, "pfp"))
    assert len(compiled_files(tmp_path)) == 1
    assert time.monotonic() - begin < jit._COMPILE_SECONDS / 2


@needs_compiler
def test_a_kernel_that_does_not_compile_releases_its_lock(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    compiled = jit.kernel(increment)
    with pytest.raises(numba.TypingError):
        compiled("text")
    assert list(tmp_path.rglob("*.lock"))
    assert compiled._cache._lock is None
    assert compiled(1) == 2


@needs_compiler
@pytest.mark.slow
def test_four_processes_compile_everything(tmp_path):
    for process in [start(tmp_path, WARM) for _ in range(4)]:
        finish(process)
    assert len(compiled_files(tmp_path)) == 3
    begin = time.perf_counter()
    finish(start(tmp_path, WARM))
    assert time.perf_counter() - begin < 5  # a second process compiles nothing


@needs_compiler
def test_a_damaged_file_is_compiled_again(tmp_path):
    finish(start(tmp_path))
    (file,) = tmp_path.rglob("*.nbc")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    finish(start(tmp_path))
    assert len(file.read_bytes()) == len(whole)
    for index in tmp_path.rglob("*.nbi"):
        index.write_bytes(b"")
    finish(start(tmp_path))


def test_a_directory_that_cannot_be_made(tmp_path):
    """A file is in its place: the temporary directory takes over, and if need be nothing."""
    blocked = tmp_path / "file"
    blocked.touch()
    spare = tmp_path / "tmp"
    spare.mkdir()
    place = finish(start(blocked, TMPDIR=str(spare)))
    assert Path(place).is_relative_to(spare)


def test_no_directory_at_all(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("COFLOW_SWEEP_CACHE", str(blocked))
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(blocked))
    assert jit.cache_directory() is None
    monkeypatch.setattr(jit, "CACHE", None)
    assert jit.kernel(lambda x: x + 1)(1) == 2


@needs_compiler
def test_a_disk_that_is_full(monkeypatch, tmp_path):
    """Saving fails: the compiled code is used all the same, and the lock is released."""

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jit.FunctionCache, "save_overload", full)
    compiled = jit.kernel(increment)
    assert compiled(1) == 2
    assert compiled._cache._lock is None
    assert compiled_files(tmp_path) == []


def increment(x):
    return x + 1


def test_the_hash_covers_what_kernels_see():
    """Independent of the reader's pattern: imports by syntax tree, followed to the end."""
    files = set(jit.kernel_sources())
    names = {str(path.relative_to(CORE)) for path in files}
    assert {"jit.py", "trace.py", "coflowsim/state.py", "coflowsim/sizes.py"} <= names
    plugins = {n for n in names if n.startswith(("schedulers/", "workloads/"))}
    assert not {n for n in plugins if not n.split("/")[1].startswith("_")}  # one file, no compile
    for path in CORE.rglob("*.py"):
        imported = imports(path)
        if "core.jit" in imported:
            assert path in files
        if path in files:
            for module in imported:
                target = CORE.joinpath(*module.split(".")[1:])
                for file in (target.with_suffix(".py"), target / "__init__.py"):
                    assert not file.is_file() or file in files, f"{path} imports {module}"


def imports(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in found if name.split(".")[0] == "core"}


def test_the_hash_changes_with_a_source(monkeypatch, tmp_path):
    before = jit.source_hash()
    assert before == jit.source_hash()
    copy = tmp_path / "state.py"
    copy.write_text("ZERO = 2e-3\n")
    monkeypatch.setattr(jit, "_ROOT", tmp_path)
    monkeypatch.setattr(jit, "kernel_sources", lambda: (copy,))
    changed = jit.source_hash()
    copy.write_text("ZERO = 3e-3\n")
    assert len({before, changed, jit.source_hash()}) == 3


def test_warm_takes_schedulers():
    ENGINE.warm([schedulers()["aalo"], schedulers()["pfp"]])
    ENGINE.warm([])


def test_files_that_hold_no_kernel_are_no_obstacle(tmp_path, monkeypatch) -> None:
    """An editor's lock, a directory, a file in another encoding."""
    (tmp_path / ".#mine.py").symlink_to("nobody@nowhere")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "latin.py").write_bytes("# -*- coding: latin-1 -*-\n# é\n".encode("latin-1"))
    (tmp_path / "jit.py").write_text("")
    monkeypatch.setattr(jit, "_ROOT", tmp_path)
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "jit.py"))
    assert jit.kernel_sources() == (tmp_path / "jit.py",)
