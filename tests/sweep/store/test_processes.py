"""Writers that are killed at random instants, and memory of a writer of millions of rows."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

from tests.paths import ROOT
from tests.sweep.store.rows import (
    check,
    glob_ids,
    opened,
    statuses,
)

WRITER = """
import sys
from tests.sweep.store.rows import coflows, opened, row
from sweep.store import Limits
with opened(sys.argv[1], limits=Limits(rows=5, seconds=1e9)) as dataset:
    for k in range(10**6):
        if f"p{k}" not in dataset.finished():
            dataset.add(row(f"p{k}", "error" if k % 4 == 3 else "ok"), coflows())
        if k % 4 == 0 and k:
            dataset.add(row(f"p{k - 1}"), coflows())
        if k % 10 == 9:
            dataset.flush()
            print(k, flush=True)
"""


MANY = """
import resource, sys
from tests.sweep.store.rows import coflows, opened, row
from sweep.store import Limits
table, peaks = coflows(526), []
with opened(sys.argv[1], limits=Limits()) as dataset:
    for k in range(int(sys.argv[2])):
        dataset.add(row(f"p{k:06d}"), table)
        if k % 1000 == 999:
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
    dataset.compact()
print(*peaks)
"""


@pytest.mark.slow
def test_five_million_coflows_in_flat_memory(tmp_path):
    root = ROOT
    command = [sys.executable, "-c", MANY, str(tmp_path / "d"), "10000"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    peaks = [float(word) for word in done.stdout.split()]
    assert len(peaks) == 10
    assert peaks[-1] < peaks[1] + 100, peaks  # MB
    files = sorted((tmp_path / "d" / "coflows").iterdir())
    assert sum(pq.read_metadata(file).num_rows for file in files) == 5_260_000
    assert 5 <= len(files) <= 60
    assert sorted(f.name for f in (tmp_path / "d" / "results").iterdir()) == [f.name for f in files]


def test_kill_9_at_random_instants(tmp_path):
    path, root, durable = tmp_path / "d", ROOT, -1
    pause = random.Random(1)
    for _ in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        assert child.stderr is not None
        printed = [child.stdout.readline()]
        assert printed != [""], child.stderr.read()  # it has ended by itself
        time.sleep(pause.uniform(0.0, 0.3))
        child.send_signal(signal.SIGKILL)
        printed += child.stdout.read().split("\n")[:-1]
        child.stdout.close()
        child.stderr.close()
        assert child.wait() == -signal.SIGKILL
        durable = max([durable, *(int(line) for line in printed if line.strip())])
        ids = glob_ids(path)
        assert len(ids) == len(set(ids))
        opened(path).close()
        check(path)
        status_of = statuses(path)
        done = [k for k in range(durable + 1) if k % 4 != 3 or k < durable]
        assert {status_of.get(f"p{k}") for k in done} == {"ok"}
    assert durable > 0
