"""The docstring of each package is its table of contents: all its modules, and no others."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re

import pytest

import conf
import core
import sweep

PACKAGES = [
    name
    for root in (core, sweep, conf)
    for name in (
        root.__name__,
        *(m.name for m in pkgutil.walk_packages(root.__path__, f"{root.__name__}.") if m.ispkg),
    )
]
OF_RECORDS = {
    "core.schedulers",
    "core.workloads",
    "core.shuffle.partitioners",
    "sweep.report.figures",
}
"""Each file adds a record and need not be named anywhere; the modules behind them are."""


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_names_its_modules_and_no_others(package: str) -> None:
    module = importlib.import_module(package)
    names = set(re.findall(r"(?<!`)`((?:core|sweep|conf)(?:\.\w+)*)`(?!`)", module.__doc__ or ""))
    present = {f"{package}.{m.name}" for m in pkgutil.iter_modules(module.__path__)}
    named = {name for name in names if name.rpartition(".")[0] == package}
    of_record = {name for name in present if not name.rpartition(".")[2].startswith("_")}
    assert named - present == set()
    assert present - named - (of_record if package in OF_RECORDS else set()) == set()
    assert [name for name in names if importlib.util.find_spec(name) is None] == []
