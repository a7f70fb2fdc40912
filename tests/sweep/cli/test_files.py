"""Grid files: a byte order mark, a missing first line, numbers in quotes, errors with a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import GridError
from sweep.cli.request import read_request
from sweep.grid.plan import Plan, make_plan

HEADER = "# @package _global_\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "experiment").mkdir()
    return tmp_path / "experiment"


def plan(folder: Path, content: bytes | str, *words: str) -> Plan:
    data = content.encode() if isinstance(content, str) else content
    (folder / "e.yaml").write_bytes(data)
    return make_plan(read_request(["+experiment=e", *words], config_dir=str(folder.parent))[0])


def test_a_byte_order_mark_is_passed_over(folder: Path) -> None:
    text = HEADER + "grid: {scheduler: [aalo], workload: [toy], queue.base: [2, 4]}\n"
    p = plan(folder, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert [r["queue_base"] for r in p.rows] == [2, 4]


@pytest.mark.parametrize("first", ["", "# my grid\n", "\n\n# @package other\n"])
def test_the_missing_line_is_named(folder: Path, first: str) -> None:
    text = first + "grid: {scheduler: [varys], workload: [toy]}\n"
    with pytest.raises(GridError, match=r"e\.yaml: the line '# @package _global_' is missing"):
        plan(folder, text)
    with pytest.raises(GridError, match="is missing"):
        plan(folder, b"\xef\xbb\xbf" + text.encode())


def test_numbers_in_quotes_and_keys_in_keys(folder: Path) -> None:
    text = "grid:\n  scheduler: [aalo]\n  workload: [toy]\n"
    text += '  queue: {base: [2, "4"], first_threshold_mb: [5, 5.0, "5"]}\n'
    p = plan(folder, HEADER + text)
    assert [(r["queue_base"], r["queue_first_threshold_mb"]) for r in p.rows] == [(2, 5), (4, 5)]
    assert p.repeated == {"queue.first_threshold_mb": 2}
    fixed = plan(folder, HEADER + 'queue: {base: "4"}\ngrid: {scheduler: [aalo]}\n')
    assert {q.values["queue.base"] for q in fixed.points.values()} == {4.0}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\x00g", r"e\.yaml cannot be read .* save it as UTF-8 text"),
        (HEADER + "grid: [1\n", r"e\.yaml is not valid YAML .*line 3"),
        (HEADER + "a: 1\na: 2\n", r"e\.yaml is not valid YAML .*duplicate"),
        (HEADER + "just a text\n", r"e\.yaml: 'just a text' is not a mapping"),
        (HEADER + "grid: {queue.base: []}\n", "queue.base: .*an empty list makes no grid"),
        (HEADER + "grid: {queue.base: [[2]]}\n", r"write queue\.base: \[a, b\]"),
        (HEADER + "queue.bse: 2\n", r"queue\.bse: no such key \(did you mean 'queue\.base'"),
    ],
)
def test_a_broken_file_says_what_to_correct(folder: Path, content, message) -> None:
    with pytest.raises(GridError, match=message):
        plan(folder, content)


def test_the_packages_own_files_are_read_whatever_lies_in_the_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory conf of the user, also as a package, does not take their place."""
    own = folder.parent / "conf"
    own.mkdir()
    (own / "__init__.py").write_text("")
    (own / "config.yaml").write_text("grid: {scheduler: [varys]}\n")
    monkeypatch.chdir(folder.parent)
    monkeypatch.syspath_prepend(str(folder.parent))
    p = make_plan(read_request(["workload=toy"])[0])
    assert list(p.axes["scheduler"]) == ["asebf", "aalo"]


def test_the_plan_shows_what_a_file_sets(folder: Path) -> None:
    import io

    from rich.console import Console

    from sweep.console.plan_text import describe

    text = HEADER + "queue: {base: 2}\nreplicates: 3\nfabric: {gbps: 10}\n"
    p = plan(folder, text + "grid: {scheduler: [aalo]}\n", "queue.count=3")
    console = Console(file=io.StringIO(), width=500)
    describe(p, console)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    for word in ("queue.base=2", "replicates=3", "fabric.gbps=10", "queue.count=3"):
        assert word in shown.split()
