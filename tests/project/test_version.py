"""The version has one home, `sweep.__version__`; packaging and citation follow it."""

from __future__ import annotations

import re
import tomllib

import yaml

import sweep
from tests.paths import ROOT


def test_the_distribution_takes_its_version_from_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    source = (ROOT / project["tool"]["hatch"]["version"]["path"]).read_text("utf-8")
    assert re.findall(r'^__version__ = "(.*)"$', source, re.MULTILINE) == [sweep.__version__]


def test_the_changelog_has_the_version_and_its_date() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ – \d{4}-\d\d-\d\d", head) for head in heads[1:])
    assert heads[1].split(" – ")[0] == sweep.__version__


def test_the_citation_names_the_version_and_its_date() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    head = f"## {citation['version']} – {citation['date-released']}"
    assert citation["version"] == sweep.__version__
    assert head in (ROOT / "CHANGELOG.md").read_text("utf-8")
