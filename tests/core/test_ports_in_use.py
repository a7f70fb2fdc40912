"""Hosts that no flow uses cost nothing: neither memory nor another result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.parameters import defaults
from core.registry import reads, simulate
from core.schedulers import schedulers
from core.trace import Trace, from_flows
from sweep import load
from tests.paths import ROOT

ENGINES = ("fluid", "coflowsim")
MOST_BYTES = 0.4e9
COFLOWS = 2000
PEAK = """\
import re, sys
from pathlib import Path
from sweep.cli.main import main

code = main(sys.argv[1:])
print(*re.findall(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text()))
sys.exit(code)
"""
"""A sweep that prints its peak memory [kB] last; the usage of a child would count its parent's."""


def able(engine: str) -> list[str]:
    return [name for name, record in schedulers().items() if engine in record.rules]


def spread(ports: int, hosts: list[int]) -> Trace:
    """Three coflows on three hosts, wherever these lie among the ports."""
    a, b, c = hosts
    flows = [(a, b, 3e6), (b, c, 2e6), (a, c, 5e6), (c, c, 1e6)]
    return from_flows(
        "spread", ports, [(1, 0.0, flows), (2, 0.004, flows[:2]), (3, 0.01, flows[1:3])]
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_hosts_without_flows_change_no_result(engine: str) -> None:
    for name in able(engine):
        values = defaults(reads(name, engine, "trace"))
        small = simulate(spread(3, [0, 1, 2]), engine, name, values)
        large = simulate(spread(1000, [7, 64, 999]), engine, name, values)
        np.testing.assert_array_equal(large.finish_s, small.finish_s, err_msg=name)
        np.testing.assert_array_equal(large.gamma_s, small.gamma_s, err_msg=name)
        assert (large.bound_s, large.events) == (small.bound_s, small.events)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
@pytest.mark.parametrize("engine", ENGINES)
def test_memory_goes_by_hosts_in_use(engine: str, tmp_path: Path) -> None:
    """A flow of 1 MB every 20 s on one of ten pairs of hosts, of 100 000: 8 ms each, alone.

    One array of hosts × hosts would take 80 GB, one of coflows × hosts 1.6 GB.
    """
    lines = [f"{k} {20_000 * k} 1 {k % 10} 1 {99_999 - k % 10}:1" for k in range(COFLOWS)]
    path = tmp_path / "wide.txt"
    path.write_text("\n".join([f"100000 {COFLOWS}", *lines, ""]))
    words = f"workload=trace workload.path={path} engine={engine} executor=local"
    command = [sys.executable, "-c", PEAK, f"scheduler={','.join(able(engine))}"]
    done = subprocess.run(
        [*command, *words.split(), f"output.dir={tmp_path / 'run'}"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kilobytes = int(done.stdout.split()[-1])
    assert 50_000 < kilobytes <= MOST_BYTES / 1024
    points = load(tmp_path / "run")
    assert len(points) == len(able(engine))
    assert points["mean_cct_s"].to_list() == pytest.approx([0.008] * len(points), rel=1e-6)
