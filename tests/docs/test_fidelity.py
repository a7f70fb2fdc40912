"""docs/make/fidelity.py writes docs/fidelity.md, and its text agrees with its tables."""

from __future__ import annotations

import importlib.util
import re
import sys
from types import ModuleType

import pytest

from tests.paths import ROOT


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fidelity", ROOT / "docs/make/fidelity.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fidelity = _module()
PAGE = fidelity.PATH.read_text(encoding="utf-8")
SECTIONS = {"facebook": fidelity.WIDTHS, "fb_like": fidelity.WIDTHS[:3]}


def section(name: str) -> str:
    (text,) = re.findall(f"<!-- {name} -->\n(.*?)<!-- end of {name} -->", PAGE, re.DOTALL)
    return str(text)


def tables(text: str) -> list[list[list[str]]]:
    """Return the rows of each table, the line below the head left out."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [[c.strip() for c in line.strip("|").split("|")] for line in table.splitlines()]
        found.append([rows[0], *rows[2:]])
    return found


def layout(text: str) -> list[list[list[str]]]:
    """Return the heads, and of every row the cells that say what it is."""
    first, *others = tables(text)
    named = [[rows[0], *(row[:3] for row in rows[1:])] for rows in others]
    return [[first[0], *(row[:2] for row in first[1:])], *named]


@pytest.mark.parametrize("name", SECTIONS)
def test_the_page_has_the_lines_that_the_command_writes(name: str) -> None:
    claims, *blocks = layout(section(name))
    assert claims[1:] == [[claim.text, claim.published] for claim in fidelity.CLAIMS]
    for block, rows in zip(fidelity.BLOCKS, blocks, strict=True):
        expected = [
            [f"`{line.scheduler}`", line.width or "–", str(line.threshold_mb or "–")]
            for line in fidelity.lines(block, SECTIONS[name])
        ]
        assert rows[1:] == expected


def test_the_command_writes_such_tables() -> None:
    """On a few coflows: the same heads and lines, a number in every cell that has one."""
    words = ["workload=fb_like", "workload.coflows=12", "workload.ports=6", "replicates=2"]
    made = fidelity.section([*words, "executor=local"], SECTIONS["fb_like"])
    assert layout(made) == layout(section("fb_like"))
    for ours, theirs in zip(tables(made), tables(section("fb_like")), strict=True):
        for row, shown in zip(ours, theirs, strict=True):
            assert [c == "–" for c in row] == [c == "–" for c in shown]


def test_without_the_trace_its_half_stays(tmp_path, monkeypatch, capsys) -> None:
    page = tmp_path / "fidelity.md"
    page.write_text(PAGE)
    monkeypatch.setattr(fidelity, "PATH", page)
    monkeypatch.setattr(fidelity, "section", lambda workload, widths: "| new |\n")
    monkeypatch.setattr(sys, "argv", ["fidelity.py", "--trace", str(tmp_path / "none.txt")])
    fidelity.main()
    assert page.read_text() == fidelity.replaced(PAGE, "fb_like", "| new |\n")
    assert section("facebook") in page.read_text()
    assert "no Facebook trace" in capsys.readouterr().out
    with pytest.raises(ValueError, match="needs <!-- other -->"):
        fidelity.replaced(PAGE, "other", "")


def test_claims_follow_from_the_means_shown() -> None:
    """Of the Facebook trace, where every line is one run; up to the rounding of the means."""
    claims, *blocks = tables(section("facebook"))
    compared = 0
    for number, rows in enumerate(blocks):
        cells = {tuple(row[:3]): row for row in rows[1:]}
        for claim, row in zip(fidelity.CLAIMS, claims[1:], strict=True):
            column = {"mean_cct_s": 3, "p95_cct_s": 5}[claim.metric]
            slow, fast = (
                float(cells[f"`{x.scheduler}`", x.width or "–", str(x.threshold_mb or "–")][column])
                for x in (claim.slow, claim.fast)
            )
            expected = slow / fast if claim.is_ratio else 100 * (slow - fast) / max(slow, fast)
            assert float(row[2 + number].split()[0]) == pytest.approx(expected, abs=0.11)
            compared += 1
    assert compared == len(fidelity.BLOCKS) * len(fidelity.CLAIMS)


def test_numbers_in_the_text_stand_in_the_tables() -> None:
    (text,) = re.findall(r"## Which published claims survive\n(.*?)\n## ", PAGE, re.DOTALL)
    said = set(re.findall(r"(\d+(?:\.\d+)?) (%|×|s\b)", text))
    shown = set()
    for claims, *blocks in (tables(section(name)) for name in SECTIONS):
        cells = [c for rows in (claims, *blocks) for row in rows[1:] for c in row]
        shown |= {(n, u) for c in cells for u in "%×" if u in c for n in re.findall(r"[\d.]+", c)}
        shown |= {(c, "s") for rows in blocks for row in rows[1:] for c in row[3:6]}
    assert len(said) >= 20
    assert said - shown == set()


@pytest.mark.slow
@pytest.mark.skipif(not fidelity.TRACE.is_file(), reason=f"no {fidelity.TRACE.name} here")
@pytest.mark.parametrize("number", range(3))
def test_the_real_trace_gives_the_numbers_shown(number: int) -> None:
    """Aalo, and A-SEBF with receivers and 10 MB, in each engine."""
    lines = [fidelity.AALO, fidelity.AALO_15, fidelity.Line("asebf", "receiver", 10)]
    words = ["workload=facebook", f"workload.path='{fidelity.TRACE}'", "executor=local"]
    found = fidelity.simulate(fidelity.BLOCKS[number], words, lines)
    (made,) = tables(fidelity.block_table(found))
    shown = tables(section("facebook"))[1 + number]
    assert len(made) == 4
    assert [row for row in made if row not in shown] == []
