"""Commands with files of the user's own beside those of the packages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT

_LAUNCH = """\
import importlib, os, runpy, sys
top = sys.argv.pop(1)
for folder, _, files in os.walk(top):
    package = os.path.relpath(folder, top).replace(os.sep, ".")
    if any(name.endswith(".py") for name in files):
        importlib.import_module(package).__path__.append(folder)
module = sys.argv[1]
del sys.argv[0]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""

HEAD = "from core.fluid import Ordered\nfrom core.schedulers import Scheduler\n"
KEYED = (
    "from core.parameters import Parameter\n"
    + HEAD
    + "K = Parameter({})\n"
    + "SCHEDULER = Scheduler(name='mine', summary='', source='', info='clairvoyant',\n"
    + "    rules={{'fluid': Ordered(lambda view, values: view.gamma_s, parameters=(K,))}})\n"
)
"""A scheduler with one parameter, whose arguments are to be filled in."""

DEADLINE = """\
from core.fluid import Ordered
from core.parameters import Parameter
from core.schedulers import Scheduler

SLACK = Parameter("deadline.slack", float, 1.0, "how late a coflow may be", unit="s", minimum=0.0)

def key(view, values):
    return view.arrival_s + values["deadline.slack"] * view.gamma_s

SCHEDULER = Scheduler(
    name="deadline",
    summary="earliest deadline first",
    source="",
    info="clairvoyant",
    rules={"fluid": Ordered(key, parameters=(SLACK,))},
)
"""
"""A scheduler whose key is in a group that no shipped key is in."""


def drop(top: Path, **files: str) -> None:
    """Write files below a folder; ``core__schedulers__mine`` is core/schedulers/mine.py."""
    for name, text in files.items():
        path = top / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def command(top: Path, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m module`` as if the files below `top` lay in the packages."""
    return subprocess.run(
        [sys.executable, "-c", _LAUNCH, str(top), module, *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "300"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
