"""Where the command runs and what it prints to: files in the way, encodings, full devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sweep import load
from tests.paths import ROOT

TOY = ("workload=toy", "scheduler=aalo,fifo", "executor=local", "output.dir=out")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")


def run(
    command: list[str], cwd: Path, stdout: int = subprocess.PIPE, **env: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
        timeout=200,
    )


# ---- the user's own files ------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """A script as pip installs it for ``coflow-sweep``."""
    script = tmp_path / "bin" / "coflow-sweep"
    script.parent.mkdir()
    script.write_text("import sys\nfrom sweep.__main__ import run\nsys.exit(run())\n")
    return str(script)


def write(directory: Path, name: str) -> Path:
    """Write a module ``name.py``, or a package where the name ends with a slash."""
    path = directory / name
    if name.endswith("/"):
        path.mkdir(parents=True)
        path /= "__init__.py"
    path.write_text("")
    return path


@pytest.mark.parametrize("name", ["core.py", "core/"])
def test_a_core_of_the_user_is_named_with_the_command_that_works(name, installed, tmp_path) -> None:
    own = write(tmp_path, name)
    for module in ("sweep", "sweep.report"):
        done = run(["-m", module, "--help"], tmp_path)
        assert done.returncode == 2
        (line,) = done.stderr.decode().splitlines()
        assert line.startswith(f"error: {own} hides coflow-sweep's own package 'core'; use the ")
        assert "installed command coflow-sweep" in line
    done = run(["-c", "import sweep"], tmp_path)
    assert b"ImportError: " + bytes(own) in done.stderr


@pytest.mark.parametrize("executor", ["local", "ray"])
def test_the_installed_command_works_beside_any_file(executor, installed, tmp_path) -> None:
    for name in ("core/", "core.py", "sweep.py", "sweep/", "conf/", "conf.py"):
        write(tmp_path, name)
    (tmp_path / "conf" / "config.yaml").write_text("grid: {scheduler: [varys]}\n")
    words = [*TOY, f"executor={executor}", *["ray.num_cpus=1"] * (executor == "ray")]
    words.remove("executor=local")
    done = run([installed, *words], tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert list(load(tmp_path / "out")["scheduler"]) == ["aalo", "fifo"]


@pytest.mark.parametrize("name", ["conf/", "conf.py"])
def test_a_conf_of_the_user_is_not_in_the_way(name, tmp_path) -> None:
    write(tmp_path, name)
    done = run(["-m", "sweep", "workload=toy", "sweep.dry_run=true"], tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert b"scheduler: asebf, aalo" in done.stdout


# ---- encodings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "env"),
    [
        ("ascii", {"PYTHONIOENCODING": "ascii"}),
        ("cp1252", {"PYTHONIOENCODING": "cp1252"}),
        ("ascii", {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    ],
)
def test_every_output_degrades_to_plain_characters(encoding, env, tmp_path) -> None:
    done = run(["-m", "sweep", "--help"], tmp_path, **env)
    assert done.returncode == 0, done.stderr.decode()
    text = done.stdout.decode(encoding)
    assert "a whole number >= 1 and <= 1000" in " ".join(text.split())
    assert "?" not in text
    done = run(["-m", "sweep", "queue.count=0"], tmp_path, **env)
    assert b"allowed is a whole number >= 1 and <= 1000" in done.stderr
    done = run(["-m", "sweep", *TOY], tmp_path, **env)
    assert done.returncode == 0, done.stderr.decode()
    text = done.stdout.decode(encoding)
    assert "a lower bound that no scheduler can beat) - 1" in text
    assert "\\u" not in text
    assert "?" not in text


# ---- full devices --------------------------------------------------------------------------------


@needs_full
@pytest.mark.parametrize(
    ("words", "code"),
    [(("--help",), 0), (("--version",), 0), (TOY, 0), ((*TOY, "sweep.dry_run=true"), 0)],
)
def test_a_full_device_loses_lines_and_nothing_else(words, code, tmp_path) -> None:
    with FULL.open("wb") as full:
        done = run(["-m", "sweep", *words], tmp_path, stdout=full.fileno())
    assert done.returncode == code
    message = "standard output cannot be written: No space left on device; its lines are lost\n"
    assert done.stderr.decode() == message
    if words == TOY:
        assert list(load(tmp_path / "out")["status"]) == ["ok", "ok"]


@needs_full
def test_the_exit_code_is_that_of_the_sweep(tmp_path) -> None:
    """10^13 MB at one reducer are beyond what the engine counts exactly: 1 of 1 fails."""
    (tmp_path / "huge.txt").write_text("2 1\n1 0 1 0 1 1:1e13\n")
    words = ("workload=trace", "workload.path=huge.txt", "engine=coflowsim", "executor=local")
    with FULL.open("wb") as full:
        done = run(["-m", "sweep", *words, "scheduler=aalo"], tmp_path, stdout=full.fileno())
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_a_reader_that_leaves_does_not_end_the_sweep(tmp_path) -> None:
    read, write_end = os.pipe()
    os.close(read)
    done = run(["-m", "sweep", *TOY], tmp_path, stdout=write_end)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(load(tmp_path / "out")["status"]) == ["ok", "ok"]
