"""The engine against CoflowSim's own output and against published means."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from core.coflowsim.engine import java_doubles
from core.coflowsim.sizes import demand
from core.errors import SimulationError
from core.registry import simulate
from core.trace import from_flows, from_records, make_records
from core.workloads._format import read_trace
from tests.paths import ROOT

DATA = ROOT / "tests" / "data"
SHARED = ROOT.parent / "shared" / "data"
pytestmark = pytest.mark.compiled
FACEBOOK = "FB2010-1Hr-150-0"
SCHEDULER = {
    "DARK": "aalo",
    "FAIR": "fair",
    "FIFO": "fifo",
    "LCF": "lcf",
    "NCF": "ncf",
    "PFP": "pfp",
    "SCF": "scf",
    "SEBF": "varys",
}
VALUES = {
    "queue.first_threshold_mb": 10.0,
    "queue.base": 10.0,
    "queue.count": 10,
    "width": "receiver",
}
MB = 1048576.0


def reference_files():
    own = sorted((DATA / "coflowsim").glob("*.csv"))
    shared = [
        SHARED / "coflowsim" / f"{trace}.{algorithm}.csv"
        for trace, algorithms in (("fb-first100", SCHEDULER), (FACEBOOK, ("DARK", "SEBF")))
        for algorithm in algorithms
    ]
    return [pytest.param(path, id=path.stem) for path in own + shared]


def load(name):
    for folder in (DATA, SHARED):
        path = folder / "traces" / f"{name}.txt"
        if path.is_file():
            return read_trace(path)
    return pytest.skip(f"{name}.txt is not in ../shared/data/traces")


def cct_ms(outcome):
    return np.round((outcome.finish_s - outcome.start_s) * 1e3, 6)


@pytest.mark.parametrize("path", reference_files())
def test_every_row_is_coflowsims(path):
    if not path.is_file():
        pytest.skip(f"{path.name} is not in ../shared/data/coflowsim")
    name, algorithm, _ = path.name.rsplit(".", 2)
    trace = load(name)
    with path.open() as file:
        rows = {int(row["coflow_id"]): row for row in csv.DictReader(file)}
    assert sorted(rows) == sorted(trace.coflow_id.tolist())
    expected = [rows[i] for i in trace.coflow_id.tolist()]
    outcome = simulate(trace, "coflowsim", SCHEDULER[algorithm], VALUES)
    sizes = demand(trace)
    largest = np.maximum.reduceat(sizes.reducer_bytes, sizes.first_reducer[:-1])
    columns = {
        "start_ms": np.round(outcome.start_s * 1e3, 6),
        "finish_ms": np.round(outcome.finish_s * 1e3, 6),
        "cct_ms": cct_ms(outcome),
        "mappers": sizes.senders,
        "reducers": sizes.receivers,
        "total_bytes": outcome.size_bytes,
        "max_reducer_bytes": largest,
    }
    for column, values in columns.items():
        assert values.tolist() == [float(row[column]) for row in expected], column


@pytest.mark.parametrize(
    ("scheduler", "changed", "mean_ms", "digits"),
    [
        ("aalo", {}, 46097.70, 2),
        ("varys", {}, 28528.46, 2),
        ("asebf", {}, 40769.2, 1),
        ("asebf", {"width": "max"}, 39208.2, 1),
        ("asebf", {"width": "sender"}, 41340.4, 1),
        ("asebf", {"width": "flows"}, 41138.8, 1),
        ("asebf", {"width": "max", "queue.first_threshold_mb": 15.0}, 30723, 0),
        ("asebf", {"queue.first_threshold_mb": 17.0}, 31221, 0),
    ],
)
def test_means_on_the_facebook_trace(scheduler, changed, mean_ms, digits):
    """Aalo's and Varys' are those of the A-SEBF paper to the millisecond."""
    outcome = simulate(load(FACEBOOK), "coflowsim", scheduler, VALUES | changed)
    assert round(float(cct_ms(outcome).mean()), digits) == mean_ms


def test_share_of_short_coflows_on_the_facebook_trace():
    """With W = max and 15 MB, the 99.24 % below 1000 s that the A-SEBF paper reports."""
    changed = {"width": "max", "queue.first_threshold_mb": 15.0}
    outcome = simulate(load(FACEBOOK), "coflowsim", "asebf", VALUES | changed)
    assert round(100 * float(np.mean(cct_ms(outcome) < 1e6)), 2) == 99.24


def test_java_random():
    """First values of ``new java.util.Random(seed).nextDouble()``."""
    assert java_doubles(0, 2).tolist() == [0.730967787376657, 0.24053641567148587]
    assert java_doubles(42, 2).tolist() == [0.7275636800328681, 0.6832234717598454]


@pytest.mark.parametrize("scheduler", SCHEDULER.values())
@pytest.mark.parametrize("name", ["rand-8x200", "rand-20x60-a", "rand-50x80-frac"])
def test_no_coflow_beats_its_bottleneck(name, scheduler):
    """CCT ≥ Γ in whole quanta: a port carries one MB a quantum, up to ZERO and rounding.

    The sum of ports' busy quanta cannot exceed the makespan either: bytes are conserved.
    """
    trace = load(name)
    outcome = simulate(trace, "coflowsim", scheduler, VALUES)
    cct = cct_ms(outcome)
    assert np.all(cct % 8 == 0)
    assert np.all(cct >= np.round(outcome.gamma_s * 1e3, 6))
    received = np.bincount(demand(trace).rack, weights=demand(trace).reducer_bytes)
    assert outcome.finish_s.max() - outcome.start_s.min() >= received.max() / MB * 0.008


@pytest.mark.parametrize("scheduler", [*SCHEDULER.values(), "asebf"])
def test_runs_are_independent(scheduler):
    """A run leaves nothing behind: the same trace gives the same times again."""
    trace = load("rand-8x200")
    first, again = (simulate(trace, "coflowsim", scheduler, VALUES) for _ in range(2))
    assert first.finish_s.tolist() == again.finish_s.tolist()


def test_flows_without_records():
    """A mesh of whole MB is the same trace whether it came as records or as flows."""
    flows = [(src, dst, 4 * MB) for src in (0, 1) for dst in (2, 3)]
    meshes = [(1, 0.0, flows), (2, 0.3, flows[:2]), (3, 11.0, flows[2:3])]
    as_flows = from_flows("flows", 4, meshes, mb_bytes=MB)
    records = make_records([[0, 1], [0, 0], [1]], [[2, 3], [2, 3], [2]], [[8, 8], [4, 4], [4]])
    as_records = from_records("records", 4, [1, 2, 3], [0.0, 0.3, 11.0], records, mb_bytes=MB)
    for scheduler in SCHEDULER.values():
        one = simulate(as_flows, "coflowsim", scheduler, VALUES)
        other = simulate(as_records, "coflowsim", scheduler, VALUES)
        assert one.finish_s.tolist() == other.finish_s.tolist()


def test_flows_of_different_sizes():
    """Flows of one reducer that end at different times, by hand.

    Port 2 receives 1 MB and 3 MB from two senders, half its capacity each: after 2 quanta the
    small flow has ended, but rates stand until a coflow completes, so the other takes 6.
    """
    trace = from_flows("uneven", 3, [(1, 0.0, [(0, 2, MB), (1, 2, 3 * MB)])], mb_bytes=MB)
    assert cct_ms(simulate(trace, "coflowsim", "aalo", VALUES)).tolist() == [48.0]
    assert cct_ms(simulate(trace, "coflowsim", "fair", VALUES)).tolist() == [32.0]


def test_a_size_beyond_counting():
    trace = from_flows("huge", 2, [(1, 0.0, [(0, 1, 1e19)])])
    with pytest.raises(SimulationError, match="huge: a reducer of"):
        simulate(trace, "coflowsim", "aalo", VALUES)
