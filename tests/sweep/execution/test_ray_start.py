"""A Ray that cannot start is bad input: one line, exit code 2, nothing written.

Each failure is a real one, in a process that the system gives less than Ray needs.
"""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import InputError
from sweep.execution import ray_start
from tests.paths import ROOT
from tests.ray_nodes import CACHE_HOME

TOY = ("scheduler=asebf,aalo", "workload=toy")


def sweep(cwd: Path, *words: str, under: str = "{}", **environment: str):
    """Run a sweep by a shell command in which ``{}`` stands for it."""
    command = shlex.join([sys.executable, "-m", "sweep", *TOY, *words])
    return subprocess.run(
        ["bash", "-c", under.replace("{}", command)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def assert_refused(done, reason: str) -> None:
    begin, end = (
        "error: Ray cannot start on this machine (",
        "); add executor=local to run without Ray\n",
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith(begin + reason), done.stderr
    assert done.stderr.endswith(end)
    assert done.stderr.count("\n") == 1


def needs_namespaces(*flags: str) -> None:
    if not shutil.which("unshare") or subprocess.run(["unshare", *flags, "true"]).returncode:
        pytest.skip("namespaces are not permitted here")


def snapshot(directory: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in directory.rglob("*") if p.is_file()}


LITTLE_MEMORY = "ulimit -v 6000000; exec {}"


def test_without_memory_a_new_sweep_leaves_nothing(tmp_path) -> None:
    done = sweep(tmp_path, under=LITTLE_MEMORY)
    assert_refused(done, "raylet: mmap failed with error: Cannot allocate memory")
    assert list(tmp_path.iterdir()) == []


def test_without_memory_a_dataset_stays_as_it_is(tmp_path) -> None:
    """Its manifest, its results and outputs/latest; the next sweep goes on from there."""
    assert sweep(tmp_path, "executor=local").returncode == 0
    latest = (tmp_path / "outputs" / "latest").resolve()
    before = snapshot(tmp_path)
    grid = ("queue.base=5,10", f"output.dir=outputs/{latest.name}")
    assert_refused(sweep(tmp_path, *grid, under=LITTLE_MEMORY), "raylet: ")
    assert_refused(sweep(tmp_path, under=LITTLE_MEMORY), "raylet: ")
    assert snapshot(tmp_path) == before
    assert (tmp_path / "outputs" / "latest").resolve() == latest
    done = sweep(tmp_path, *grid, "executor=local")
    assert "2 points finished in" in done.stdout
    assert done.returncode == 0


def test_a_dataset_that_is_finished_needs_no_ray(tmp_path) -> None:
    assert sweep(tmp_path, "executor=local", "output.dir=out").returncode == 0
    done = sweep(tmp_path, "output.dir=out", under=LITTLE_MEMORY)
    assert (done.returncode, done.stderr) == (0, "")


def test_its_directory_is_a_file(tmp_path) -> None:
    (tmp_path / "file").touch()
    done = sweep(tmp_path, RAY_TMPDIR=str(tmp_path / "file"))
    assert_refused(done, f"Not a directory: {tmp_path / 'file'}/ray")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_its_directory_has_a_long_path(tmp_path) -> None:
    done = sweep(tmp_path, RAY_TMPDIR=str(tmp_path / ("long" * 30)))
    assert_refused(done, "validate_socket_filename failed: AF_UNIX path length cannot exceed 107")


@pytest.mark.parametrize(
    ("options", "directory", "reason"),
    [
        ("ro", "{tmp}/disk", "Read-only file system: "),
        pytest.param("size=16k", "{tmp}/disk", "the disk of ", marks=pytest.mark.slow),
    ],
)
def test_its_disk_takes_nothing(options, directory, reason, tmp_path) -> None:
    needs_namespaces("--mount")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o {options} none {disk}"
    under = f"unshare --mount bash -c '{mount} && RAY_TMPDIR={disk} {{}}'"
    assert_refused(sweep(tmp_path, under=under), reason)


def test_no_shared_memory_can_be_had(tmp_path) -> None:
    needs_namespaces("--mount")
    under = "unshare --mount bash -c 'mount -t tmpfs -o ro none /dev/shm && {}'"
    assert_refused(
        sweep(tmp_path, under=under), "raylet: create_buffer failed to open file /dev/shm"
    )


def test_no_connection_to_the_machine_itself(tmp_path) -> None:
    needs_namespaces("--net")
    done = sweep(tmp_path, under="exec unshare --net {}")
    assert_refused(done, "no connection to 127.0.0.1: Network is unreachable")


def test_no_port_is_free(monkeypatch) -> None:
    """As `create_server` fails then: a test cannot take all ports of a machine."""

    def none_is_free(*_):
        raise OSError(98, "Address already in use")

    monkeypatch.setattr(socket, "create_server", none_is_free)
    with pytest.raises(InputError, match=r"127\.0\.0\.1: Address already in use\); add executor=l"):
        ray_start.check(None)


def test_more_workers_than_ray_can_count(tmp_path) -> None:
    done = sweep(tmp_path, "ray.num_cpus=1000000000000")
    assert_refused(done, "its process raylet ended with exit code 1")


def test_the_file_of_a_token_is_not_there(tmp_path) -> None:
    done = sweep(tmp_path, RAY_AUTH_TOKEN_PATH="/nonexistent/token")
    assert_refused(done, "RAY_AUTH_TOKEN_PATH=/nonexistent/token: this file cannot be read")


def test_a_sweep_needs_no_home_and_leaves_no_token_in_it(tmp_path) -> None:
    """A token there would switch authentication on for every later ``ray start``."""
    (tmp_path / "home").mkdir()
    home = str(tmp_path / "home")
    done = sweep(tmp_path, "output.dir=out", HOME=home, XDG_CACHE_HOME=CACHE_HOME)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "home" / ".ray").exists()


# -- an address where nothing answers --------------------------------------------------------------


def test_nothing_listens(tmp_path) -> None:
    done = sweep(tmp_path, "ray.address=127.0.0.1:1")
    assert done.returncode == 2
    assert done.stderr == (
        "error: ray.address=127.0.0.1:1: no Ray cluster answers there ([Errno 111] Connection "
        "refused); start one with 'ray start --head', or leave ray.address out to run on this "
        "machine\n"
    )
    assert list(tmp_path.iterdir()) == []


IMPATIENT = """
import sys
from sweep.execution import ray_start
ray_start.START_S = 3.0
from sweep.__main__ import run
sys.exit(run())
"""


def test_something_else_listens(tmp_path) -> None:
    """It takes connections and never answers; Ray itself would try for minutes."""
    (tmp_path / "here").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-c", IMPATIENT, *TOY, f"ray.address={address}"],
            cwd=tmp_path / "here",
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr == (
        f"error: ray.address={address}: no Ray cluster answers there (no answer within 3 s); start "
        "one with 'ray start --head', or leave ray.address out to run on this machine\n"
    )
    assert list((tmp_path / "here").iterdir()) == []


def test_no_cluster_runs_on_this_machine(tmp_path) -> None:
    needs_namespaces("--pid", "--fork", "--mount-proc")
    under = "exec unshare --pid --fork --mount-proc {}"  # Ray looks at all processes
    done = sweep(tmp_path, "ray.address=auto", under=under, RAY_TMPDIR=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith(
        "error: ray.address=auto: no Ray cluster runs on this machine; start one with 'ray start"
    )
    assert done.stderr.count("\n") == 1


# -- the line itself ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "Permission denied", "/tmp/ray"), "Permission denied: /tmp/ray"),
        (RuntimeError("two\n  lines. Ensure that all is well."), "two lines"),
        (Exception(), "Exception"),
    ],
)
def test_a_reason_is_one_line(error, reason) -> None:
    assert ray_start.reason_of(error) == reason


def test_a_long_reason_is_cut() -> None:
    text = str(ray_start.no_ray(None, "x" * 1000))
    assert len(text) < 400
    assert text.endswith("x…); add executor=local to run without Ray")


def failing_init(error: Exception) -> Callable[..., None]:
    def init(**_):
        raise error

    return init


def test_other_versions_of_a_cluster_are_named(monkeypatch) -> None:
    """The message is Ray's; a second Ray is not installed here."""
    import ray

    from sweep.execution.ray_token import Authentication

    text = (
        "Version mismatch: The cluster was started with:\n    Ray: 2.44.0\n    Python: 3.11.7\n"
        "This process on node 10.0.0.1 was started with:\n    Ray: 2.60.0\n    Python: 3.12.1\n"
    )
    monkeypatch.setattr(ray, "init", failing_init(RuntimeError(text)))
    monkeypatch.setattr(Authentication, "for_cluster", lambda *_: None)
    with pytest.raises(InputError) as caught:
        ray_start.start("10.0.0.1:6379", None, Authentication())
    assert str(caught.value) == (
        "ray.address=10.0.0.1:6379: Version mismatch: The cluster was started with: Ray: 2.44.0 "
        "Python: 3.11.7 This process on node 10.0.0.1 was started with: Ray: 2.60.0 Python: "
        "3.12.1; install the cluster's versions here"
    )
