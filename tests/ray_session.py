"""One Ray of two CPUs for all tests of a process that need one and not its start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sweep.execution.ray_executor import RayExecutor

_STARTED: list[RayExecutor] = []


@pytest.fixture
def shared_ray(_ends_shared_ray) -> None:
    """Let this process have a Ray, which a `RayExecutor` without an address uses."""
    import ray

    if not ray.is_initialized():
        end_shared_ray()
        _STARTED.append(RayExecutor(num_cpus=2))


def end_shared_ray() -> None:
    """End the Ray that tests share: a test wants to start one, and a process has one at a time."""
    import ray

    while _STARTED:
        _STARTED.pop().__exit__()
    ray.shutdown()


@pytest.fixture(scope="session")
def _ends_shared_ray() -> Iterator[None]:
    yield
    end_shared_ray()
