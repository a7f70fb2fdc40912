"""Numbers of shipped code change only together with a version.

Versions are part of the ids of points, so that a dataset never holds numbers of two versions as if
they were one. ``tests/golden/versions.json`` has the versions of everything that is shipped beside
a fingerprint of what it computes on small inputs. When numbers are meant to change, raise the
version of what changes them and run ``python -m tests.core.test_versions``, which writes the file.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from core import registry
from core.parameters import completed
from core.schedulers import schedulers
from core.shipped import SHIPPED
from core.shuffle import KeyCounts, draw
from core.shuffle.partitioners import partitioners
from core.trace import Trace
from core.workloads import workloads
from tests.paths import ROOT
from tests.values import by_key

GOLDEN = ROOT / "tests" / "golden" / "versions.json"
TRACE = ROOT / "tests" / "data" / "traces" / "rand-8x200.txt"
VALUES: dict[str, tuple[dict[str, Any], ...]] = {
    "custom": ({"workload.coflows": 12},),
    "fb_like": ({"workload.coflows": 25, "workload.ports": 12},),
    "shuffle_jobs": (
        {"workload.jobs": 4, "workload.records": 3000, "workload.maps": 5, "shuffle.keys": 200},
        {"workload.classes": "3:1000:4:4 1:5000:6:5:100:1.2", "workload.jobs": 5},
    ),
    "toy": ({},),
    "trace": ({"workload.path": str(TRACE)},),
}
"""Inputs by workload; `facebook`, which has no numbers of its own, reads files as `trace` does."""


def fingerprint(arrays: Iterable[npt.ArrayLike]) -> str:
    """Hash numbers to 9 digits: fewer than the last bits that machines may disagree on."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(" ".join(f"{x:.9g}" for x in np.ravel(array)).encode() + b"\n")
    return digest.hexdigest()[:16]


def built(name: str, values: dict[str, Any], **shuffle: Any) -> Trace:
    workload = workloads()[name]
    values = values | {"shuffle.partitioner": workload.partitioner} | by_key(**shuffle)
    seed = np.random.SeedSequence(5)
    return workload.trace(values, np.random.default_rng(5), seed)


@cache
def traces() -> tuple[Trace, ...]:
    return tuple(built(name, v) for name in ("toy", "fb_like", "trace") for v in VALUES[name])


def of_trace(trace: Trace) -> list[npt.ArrayLike]:
    return [trace.arrival_s, trace.first_flow, trace.src, trace.dst, trace.size_bytes]


def of_scheduler(name: str, engine: str) -> list[npt.ArrayLike]:
    values = completed(registry.reads(name, engine, "toy"), {"engine.bound": "none"})
    return [registry.simulate(trace, engine, name, values).cct_s for trace in traces()]


def jobs() -> Iterator[tuple[KeyCounts, int]]:
    for k, (source, keys) in enumerate((("zipf", 300), ("word_count", 50), ("sort", 1))):
        values = {"shuffle.keys": keys, "shuffle.zipf": 1.1, "shuffle.record_bytes": 100.0}
        values |= {"shuffle.value_spread": 0.5, "shuffle.combine": None}
        yield draw(values, 4000, 6, np.random.default_rng(k), source), 7


def of_partitioner(name: str) -> list[npt.ArrayLike]:
    """Loads with the defaults, and what a trace's coflows become."""
    partitioner = partitioners()[name]
    values = {"shuffle.sampling_rate": 0.05, "shuffle.skew_threshold_mib": 0.0}
    parts = [
        partitioner.partition(data, buckets, values, np.random.default_rng(9))
        for data, buckets in jobs()
    ]
    drawn = built("toy", {}, shuffle__partitioner=name)
    loads = [a for part in parts for a in (part.loads, part.load_bytes, part.per_split()[1])]
    return [*loads, *of_trace(drawn)]


def current() -> dict[str, dict[str, Any]]:
    """Return versions and fingerprint of everything shipped, by name."""
    by_name: dict[str, dict[str, Any]] = {}
    for name, scheduler in schedulers().items():
        for engine in scheduler.rules if name in SHIPPED["core.schedulers"] else ():
            versions = [scheduler.version, registry.engines()[engine].version]
            numbers = fingerprint(of_scheduler(name, engine))
            by_name[f"scheduler={name} engine={engine}"] = {
                "versions": versions,
                "numbers": numbers,
            }
    for name in VALUES:
        workload = workloads()[name]
        content = {workload.content(completed(workload.all_parameters, v)) for v in VALUES[name]}
        numbers = fingerprint(a for v in VALUES[name] for a in of_trace(built(name, v)))
        versions = [workload.version, *sorted(content)]
        by_name[f"workload={name}"] = {"versions": versions, "numbers": numbers}
    for name, partitioner in partitioners().items():
        if name in SHIPPED["core.shuffle.partitioners"]:
            numbers = fingerprint(of_partitioner(name))
            entry = {"versions": [partitioner.version], "numbers": numbers}
            by_name[f"shuffle.partitioner={name}"] = entry
    return by_name


def unversioned(golden: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return the names whose numbers have changed and whose versions have not."""
    return [
        name
        for name, entry in now.items()
        if name in golden
        and entry["numbers"] != golden[name]["numbers"]
        and entry["versions"] == golden[name]["versions"]
    ]


@pytest.fixture(scope="module")
def now() -> dict[str, Any]:
    return current()


def test_numbers_change_only_with_a_version(now: dict[str, Any]) -> None:
    golden = json.loads(GOLDEN.read_text())
    changed = unversioned(golden, now)
    assert not changed, f"other numbers: raise the version of {', '.join(changed)}"
    assert now == golden, "run python -m tests.core.test_versions, and note it in CHANGELOG.md"


def test_everything_shipped_has_a_version(now: dict[str, Any]) -> None:
    names = {name.split("=")[1].split()[0] for name in now}
    parts = ("core.schedulers", "core.workloads", "core.shuffle.partitioners")
    shipped = {n for package in parts for n in SHIPPED[package] if n[0] != "_"}
    assert names == shipped - {"facebook"}


def test_a_changed_number_is_noticed() -> None:
    """The ninth digit counts, a last bit does not."""
    first = fingerprint([[1.0, 2.0]])
    assert fingerprint([[1.0, 2.0 + 1e-8]]) != first
    assert fingerprint([[1.0, np.nextafter(2.0, 3.0)]]) == first
    golden = {"a": {"versions": [1], "numbers": first}}
    assert unversioned(golden, {"a": {"versions": [1], "numbers": "other"}}) == ["a"]
    assert unversioned(golden, {"a": {"versions": [2], "numbers": "other"}}) == []


def main() -> int:
    """Write the golden file unless numbers have changed without a version."""
    now = current()
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if changed := unversioned(golden, now):
        print(f"other numbers: raise the version of {', '.join(changed)}", file=sys.stderr)
        return 1
    GOLDEN.write_text(json.dumps(now, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
