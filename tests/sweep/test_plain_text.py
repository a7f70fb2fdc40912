"""Output degrades: to plain characters, and to nothing where nobody can read it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sweep.plain_text import plain_text
from tests.paths import ROOT
from tests.report_data import TOY, sweep

FULL = Path("/dev/full")


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sweep(tmp_path_factory.mktemp("plain") / "toy", *TOY)


def report(*words: str, stdout: int = subprocess.PIPE, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "sweep.report", *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        check=False,
    )
    return done.returncode, (done.stdout or b"").decode("latin-1"), done.stderr.decode("latin-1")


@pytest.mark.parametrize(
    ("encoding", "wanted"),
    [
        ("utf-8", "gap − 1 ≥ Γ × 2 …\u00a0é"),
        ("cp1252", "gap - 1 >= Gamma × 2 …\u00a0é"),
        ("ascii", "gap - 1 >= Gamma x 2 ... e"),
        (None, "gap - 1 >= Gamma x 2 ... e"),
    ],
)
def test_plain_characters(encoding: str | None, wanted: str) -> None:
    found = plain_text("gap − 1 ≥ Γ × 2 …\u00a0é", encoding)
    assert found == wanted
    found.encode(encoding or "ascii")


def test_powers_and_letters_stay_readable() -> None:
    assert plain_text("10⁶ ms, x², γ₁, Łódź, 流", "ascii") == "10^6 ms, x^2, gamma1, ?odz, ?"


def test_a_name_that_is_no_text_can_be_printed() -> None:
    assert plain_text("run-\udcff", "utf-8") == "run-?"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_errors_and_names_in_another_encoding(toy: Path, encoding: str) -> None:
    code, out, err = report(str(toy), "--where", "scheduler=−", PYTHONIOENCODING=encoding)
    assert (code, out) == (2, "")
    assert err.startswith("error: scheduler=-: no row has this value; its values are ")
    for words in (["--list"], ["--help"]):
        code, out, err = report(*words, PYTHONIOENCODING=encoding)
        assert (code, err) == (0, "")
        assert len(out) > 200


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_full_device(toy: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    with FULL.open("wb") as full:
        code, _, err = report(str(toy), "--out", str(out), stdout=full.fileno())
    assert code == 0
    assert err == "standard output cannot be written: No space left on device; its lines are lost\n"
    assert (out / "average_cct.svg").exists()
    assert (out / "index.html").stat().st_size > 1e6


def test_a_closed_pipe(toy: Path, tmp_path: Path) -> None:
    """The report is written, as if someone had read the lines."""
    read, write = os.pipe()
    os.close(read)
    code, _, err = report(str(toy), "--out", str(tmp_path / "report"), stdout=write)
    os.close(write)
    assert (code, err) == (0, "")
    assert (tmp_path / "report/index.html").exists()


def test_a_process_without_a_console_runs(tmp_path) -> None:
    """As started by a daemon that closes standard output."""
    command = [sys.executable, "-m", "sweep", "workload=toy", "scheduler=aalo", "executor=local"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command, "output.dir=d"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "d" / "manifest.json").exists()
