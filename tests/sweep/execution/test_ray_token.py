"""The token of a Ray cluster: a sweep finds it where Ray does, or says which variable lacks it.

The clusters are real; one asks for a token, the other is open to all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from sweep.execution import ray_token
from tests.ray_nodes import free_port, ray_environment, run

TOKEN, OTHER = "a" * 64, "b" * 64
TOY = ("-m", "sweep", "scheduler=asebf", "workload=toy")


class Head(NamedTuple):
    environment: dict[str, str]
    address: str


@contextmanager
def head(**variables: str) -> Iterator[Head]:
    with ray_environment() as environment:
        port = free_port()
        words = ("ray", "start", "--head", f"--port={port}", "--num-cpus=1")
        done = run(environment | variables, *words, "--include-dashboard=false")
        assert done.returncode == 0, done.stdout + done.stderr
        yield Head(environment, f"127.0.0.1:{port}")


@pytest.fixture(scope="module")
def closed() -> Iterator[Head]:
    with head(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def open_to_all() -> Iterator[Head]:
    with head(RAY_AUTH_MODE="disabled") as cluster:
        yield cluster


def sweep(cluster: Head, cwd: Path, **variables: str):
    words = (*TOY, f"ray.address={cluster.address}", "output.dir=out")
    return run(cluster.environment | variables, "python", *words, cwd=cwd)


def assert_refused(done, cluster: Head, text: str, cwd: Path) -> None:
    line = f"error: ray.address={cluster.address}: {text}\n"
    assert (done.returncode, done.stderr) == (2, line)
    assert not (cwd / "out").exists()


HINT = "set RAY_AUTH_TOKEN to what 'ray get-auth-token' prints on the head"


def test_a_missing_token_is_named(closed, tmp_path) -> None:
    text = f"this Ray cluster asks for a token, and none is here; {HINT}"
    assert_refused(sweep(closed, tmp_path), closed, text, tmp_path)


def test_a_wrong_token_is_named_with_its_variable(closed, tmp_path) -> None:
    text = f"this Ray cluster does not accept the token of {{}}; {HINT}"
    done = sweep(closed, tmp_path, RAY_AUTH_TOKEN=OTHER)
    assert_refused(done, closed, text.format("RAY_AUTH_TOKEN"), tmp_path)
    (tmp_path / "token").write_text(OTHER)
    done = sweep(closed, tmp_path, RAY_AUTH_TOKEN_PATH=str(tmp_path / "token"))
    assert_refused(done, closed, text.format("RAY_AUTH_TOKEN_PATH"), tmp_path)


def test_a_mode_that_the_cluster_does_not_have_is_named(closed, open_to_all, tmp_path) -> None:
    """A driver that asks for tokens would wait for ever for results that carry none."""
    done = sweep(closed, tmp_path, RAY_AUTH_MODE="disabled", RAY_AUTH_TOKEN=TOKEN)
    text = "RAY_AUTH_MODE=disabled, but this Ray cluster asks for a token; unset RAY_AUTH_MODE, or "
    assert_refused(done, closed, text + "set it to token", tmp_path)
    done = sweep(open_to_all, tmp_path, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN)
    text = "RAY_AUTH_MODE=token, but this Ray cluster takes no token; unset RAY_AUTH_MODE, or "
    assert_refused(done, open_to_all, text + "set it to disabled", tmp_path)


ASK = """
import os, sys
from sweep.execution.ray_token import Authentication
Authentication().for_cluster(sys.argv[1])
print(os.environ["RAY_AUTH_MODE"])
"""


@pytest.mark.parametrize("carrier", ["RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH", "RAY_AUTH_MODE"])
def test_a_token_is_read_where_ray_reads_it(closed, tmp_path, carrier) -> None:
    (tmp_path / "token").write_text(TOKEN + "\n")
    variables = {
        "RAY_AUTH_TOKEN": {"RAY_AUTH_TOKEN": TOKEN},
        "RAY_AUTH_TOKEN_PATH": {"RAY_AUTH_TOKEN_PATH": str(tmp_path / "token")},
        "RAY_AUTH_MODE": {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN},
    }[carrier]
    done = run(closed.environment | variables, "python", "-c", ASK, closed.address)
    assert done.stdout == "token\n", done.stderr


def test_a_sweep_runs_with_the_token_of_the_home_directory(closed, tmp_path) -> None:
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text(TOKEN)
    done = sweep(closed, tmp_path, HOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_a_token_does_not_keep_a_sweep_from_an_open_cluster(open_to_all, tmp_path) -> None:
    done = sweep(open_to_all, tmp_path, RAY_AUTH_TOKEN=OTHER)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("mode", [None, "token", "disabled"])
def test_a_local_ray_leaves_the_variables_as_they_were(mode, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (ray_token.TOKEN, ray_token.TOKEN_PATH, ray_token.MODE):
        monkeypatch.delenv(name, raising=False)
    if mode is not None:
        monkeypatch.setenv(ray_token.MODE, mode)
    authentication = ray_token.Authentication()
    authentication.for_local()
    assert (ray_token.source() == ray_token.TOKEN) is (mode != "disabled")
    authentication.restore()
    assert ray_token.source() is None
    assert not (tmp_path / ".ray").exists()
