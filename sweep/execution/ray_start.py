"""Starts a local Ray, or connects to a Ray cluster; says in one line why that fails."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import socket
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import conf
import core
import sweep
from core.errors import InputError
from sweep.execution.ray_token import Authentication

START_S = 90.0
"""Seconds that a start of Ray may take."""

LONGEST = 240
"""Characters of a reason."""

FREE_BYTES = 50_000_000
"""Less free space than this in Ray's directory may be why it cannot start."""

SERVERS = ("raylet", "gcs_server")
"""Ray's processes without which it does not start."""

_LOG_LINE = re.compile(r"\[[^\]]* [ECF] \d+ \d+\] (?:\(\w+\) )?[\w.]+:\d+:\s*(.*)")


def no_ray(address: str | None, reason: str) -> InputError:
    """Return the error of a Ray that does not start or cannot be reached."""
    reason = " ".join(reason.split()).rstrip(".")
    if len(reason) > LONGEST:
        reason = f"{reason[: LONGEST - 1]}…"
    if address is None:
        return InputError(
            f"Ray cannot start on this machine ({reason}); add executor=local to run without Ray"
        )
    return InputError(f"ray.address={address}: {reason}")


def no_cluster(address: str, reason: str) -> InputError:
    """Return the error of an address where no Ray cluster answers."""
    return no_ray(
        address,
        f"no Ray cluster answers there ({reason}); start one with 'ray start --head', or leave "
        "ray.address out to run on this machine",
    )


def check(address: str | None) -> None:
    """Fail at once where Ray itself would try for minutes.

    Raises
    ------
    InputError
        Nothing listens at the address, or this machine allows no connection to itself.
    """
    if address is None:
        try:
            with socket.create_server(("127.0.0.1", 0)) as server:
                socket.create_connection(server.getsockname(), timeout=5).close()
        except OSError as error:
            reason = f"no connection to 127.0.0.1: {error.strerror or error}"
            raise no_ray(None, reason) from error
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
        except (OSError, OverflowError) as error:
            raise no_cluster(address, str(error)) from error


def start(address: str | None, num_cpus: int | None, authentication: Authentication) -> None:
    """Start a local Ray, or connect to a cluster.

    Raises
    ------
    InputError
        Ray has failed.
    """
    import ray

    arguments: dict[str, Any] = {
        "num_cpus": num_cpus,
        "include_dashboard": False,
        # Workers are ready when the first points come, and after a death before they get any.
        "_system_config": {"preload_python_modules": ["numba", "sweep.execution.worker"]},
    }
    try:
        if address is None:
            authentication.for_local()
        else:
            arguments = {"runtime_env": _travelling_code()}
            if not address.startswith("ray://"):
                authentication.for_cluster(_bootstrap(address))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(
                address=address or "local",
                logging_level=logging.ERROR,
                log_to_driver=False,
                **arguments,
            )
    except InputError as error:
        raise no_ray(address, str(error)) from error
    except Exception as error:  # Ray raises many kinds, also the root of all
        if address is None:
            reason = failure(os.getpid()) or reason_of(error)
            raise no_ray(None, reason) from error
        if "ersion mismatch" in str(error):
            text = f"{reason_of(error)}; install the cluster's versions here"
            raise no_ray(address, text) from error
        raise no_cluster(address, reason_of(error)) from error


def _bootstrap(address: str) -> str:
    """Return the address of a Ray cluster's control store; ``auto`` is looked up."""
    from ray._private.services import canonicalize_bootstrap_address

    resolved = None
    with contextlib.suppress(ConnectionError):
        resolved = canonicalize_bootstrap_address(address)
    if not resolved:
        raise InputError(
            "no Ray cluster runs on this machine; start one with 'ray start --head', or leave "
            "ray.address out"
        )
    return str(resolved)


def reason_of(error: BaseException) -> str:
    """Return the message of an exception in one line, without advice on Ray itself.

    >>> reason_of(OSError(30, "Read-only file system", "/tmp/ray"))
    'Read-only file system: /tmp/ray'
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {error.filename}"
    text = " ".join(str(error).split()) or type(error).__name__
    return re.split(r"\. (?:This could|Ensure that|Note: )", text)[0]


# -- why a local Ray does not start ---------------------------------------------------------------


def ended_servers(parent: int) -> dict[int, str]:
    """Return how the processes of Ray ended that this process has started, by process."""
    ended = {}
    for pid, name, state, ppid, code in _processes():
        if (ppid, state) == (parent, "Z") and name in SERVERS:
            how = f"by signal {code & 127}" if code & 127 else f"with exit code {code >> 8}"
            ended[pid] = f"its process {name} ended {how}"
    return ended


def failure(driver: int) -> str | None:
    """Return why the Ray that a process has started ended, by its log or its disk."""
    for log in _logs(driver):
        with contextlib.suppress(OSError):
            for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
                if (match := _LOG_LINE.match(line)) and match[1]:
                    return f"{log.stem}: {_short(match[1])}"
    directory = _ray_directory()
    while not directory.exists() and directory != directory.parent:
        directory = directory.parent
    with contextlib.suppress(OSError):
        if shutil.disk_usage(directory).free < FREE_BYTES:
            return f"the disk of {directory} is full; RAY_TMPDIR names another directory"
    return None


def _short(message: str) -> str:
    """Return a line of a log without names of C++ and addresses in a program.

    >>> _short("Unhandled exception: N5boost. what(): Too many open files [system:24] /a(+0x1)")
    'Too many open files'
    """
    message = re.sub(r"^Unhandled exception: .*?what\(\): ", "", message)
    return re.sub(r"( \[\w+:\d+\])?( /\S+\(\+0x\w+\).*)?$", "", message)


def _logs(driver: int) -> Iterator[Path]:
    """Yield the error logs of a driver's Ray: it names a session after the time and the driver."""
    for session in sorted(_ray_directory().glob(f"session_*_{driver}"), reverse=True)[:1]:
        for name in SERVERS:
            yield session / "logs" / f"{name}.err"


def _ray_directory() -> Path:
    """Return where Ray keeps its sessions."""
    return Path(os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp", "ray")


def _processes() -> Iterator[tuple[int, str, str, int, int]]:
    """Yield process, name, state, parent and wait status, where the system shows them."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            head, _, tail = stat.read_text(errors="replace").rpartition(")")
            pid, _, name = head.partition(" (")
            state, ppid, *_, status = tail.split()
            yield int(pid), name, state, int(ppid), int(status)


def _travelling_code() -> dict[str, Any]:
    """Return the runtime environment: these packages travel, what they need is on the machines."""
    packages = [str(Path(str(package.__file__)).parent) for package in (conf, core, sweep)]
    return {"py_modules": packages, "excludes": ["**/__pycache__"]}
