"""Nothing that a local Ray has started outlives the sweep, however that ends.

A driver that is killed while Ray starts can leave some of Ray's own processes behind for minutes.
A small process waits for the driver's end, gives Ray some time, and ends what is left. It finds
that by a mark in the environment, which everything that the driver starts inherits.
"""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import IO

MARK = "COFLOW_SWEEP_GUARD"

_CODE = """
import os, sys, time
from pathlib import Path
mark = sys.argv[1].encode()
sys.stdin.buffer.read()  # until the driver is gone
time.sleep(3)
for _ in range(20):
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (place / "environ").read_bytes():
                os.kill(int(place.name), 9)
        except OSError:
            pass
    time.sleep(0.2)
"""


def guard() -> IO[bytes] | None:
    """Mark what this process starts until `MARK` leaves the environment.

    Returns
    -------
    file or None
        What is marked ends some seconds after this is closed, which the end of the process does
        too. None where there is no ``/proc``.
    """
    if not Path("/proc/self/environ").exists():
        return None
    value = uuid.uuid4().hex
    environment = dict(os.environ)
    environment.pop(MARK, None)
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _CODE, f"{MARK}={value}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    os.environ[MARK] = value
    process.returncode = 0  # nobody waits for it
    return process.stdin
