"""The pages form one whole: every page is listed, and every link leads somewhere."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tests.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")


def targets(page: Path) -> list[str]:
    """Return the links of a page within the project, code blocks left out."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [link for link in LINK.findall(text) if not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for link in targets(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_index_lists_every_page() -> None:
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in targets(DOCS / "index.md")}
    assert set(PAGES) - {DOCS / "index.md"} <= linked


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    made = set(re.findall(r"<!-- file: (\S+) -->", text))  # the page's own example
    rooms = "core|sweep|conf|docs|tests|benchmarks"
    named = re.findall(rf"(?<![\w/.-])(?:{rooms})/[\w/.-]*\w", text)
    assert [name for name in {*named} - made if not (ROOT / name).exists()] == []


def test_the_picture_of_the_architecture_is_up_to_date() -> None:
    """Redraw with ``python docs/make/architecture.py``."""
    names = runpy.run_path(str(DOCS / "make" / "architecture.py"))
    assert names["PATH"].read_text("utf-8") == names["picture"]()
    assert [file for file in names["files"]() if not (ROOT / file).exists()] == []


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 180
