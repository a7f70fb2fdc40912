"""Values of text keys stay as typed: ``1.10`` is another file than ``1.1``."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.parameters import Parameter
from sweep.cli.main import main
from sweep.cli.overrides import read_overrides, text_keys
from sweep.cli.request import read_request
from sweep.grid.plan import make_plan

ODD = ["1.10", "1.1", "1_000", "123E456", "true", "007", "1e3", "0x10", "1.", "-0", "inf", "nan"]


def paths(*words: str) -> list[str]:
    axes = read_overrides(words)[1]
    return list(axes["workload.path"])  # type: ignore[arg-type]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Traces whose names look like numbers; their coflows differ in size."""
    monkeypatch.chdir(tmp_path)
    for size, name in enumerate([*ODD, "null"], start=1):
        (tmp_path / name).write_text(f"2 1\n1 0 1 0 1 1:{size}\n")
    return tmp_path


def sizes(*words: str, **more: str) -> list[float]:
    """Return the sizes of the coflows of the traces that a grid reads [MB]."""
    from sweep.grid.point import build_trace

    plan = make_plan(read_request(["scheduler=aalo", "workload=trace", *words], **more)[0])
    return [float(build_trace(p).size_bytes.sum()) / 1e6 for p in plan.points.values()]


def test_every_text_without_choices_is_one_of_the_keys() -> None:
    assert {"workload.path", "output.dir", "ray.address", "workload.classes"} <= text_keys()
    assert not {"queue.base", "scheduler", "width", "sweep.zip"} & text_keys()


@pytest.mark.parametrize("name", ODD)
def test_a_text_is_read_as_typed(name: str) -> None:
    for value in (name, f"'{name}'", f'"{name}"', f" {name} ", f"choice({name})"):
        assert paths(f"workload.path={value}") == [name]
    assert paths(f"+workload.path={name}") == [name]


def test_lists_and_functions_keep_texts() -> None:
    everything = ",".join(ODD)
    assert paths(f"workload.path={everything}") == ODD
    assert paths(f"workload.path=choice({everything})") == ODD
    assert paths("workload.path=1.10,'1.1',choice_of") == ["1.10", "1.1", "choice_of"]
    assert paths("workload.path=tag(t,choice(1.10,1_0))") == ["1.10", "1_0"]
    assert paths("workload.path=sort(b,1.10,a,reverse=true)") == ["b", "a", "1.10"]
    assert paths("workload.path=range(1,3)") == [1, 2]


def test_null_is_no_text() -> None:
    assert paths("workload.path=null") == [None]
    assert paths("workload.path=a,null,'null'") == ["a", None, "null"]


@given(st.text(st.characters(exclude_characters="()[]{}'\"\\$,", exclude_categories=["C", "Z"])))
def test_any_text_without_special_characters_needs_no_quotes(text: str) -> None:
    if text and text.lower() != "null":
        assert paths(f"workload.path={text}") == [text]


@given(st.from_regex(r"\A[+-]?[0-9][0-9_]*(\.[0-9]*)?([eE][+-]?[0-9]+)?\Z"))
def test_numbers_in_the_grammar_keep_their_digits(text: str) -> None:
    assert paths(f"workload.path=choice({text},x)") == [text, "x"]


def test_each_file_is_read_by_its_own_name(files: Path) -> None:
    assert sizes(f"workload.path={','.join(ODD)}") == list(range(1, len(ODD) + 1))
    assert sizes("workload.path='null'") == [len(ODD) + 1]


def test_files_keep_texts_as_written(files: Path) -> None:
    folder = files / "experiment"
    folder.mkdir()
    listed = f"grid: {{workload.path: [{', '.join(ODD)}]}}"
    nested = f"grid:\n  workload:\n    path: [{', '.join(ODD)}]"
    for text in (listed, nested):
        (folder / "e.yaml").write_text(f"# @package _global_\n{text}\n")
        assert sizes("+experiment=e", config_dir=str(files)) == list(range(1, len(ODD) + 1))
    for k, name in enumerate(ODD, start=1):
        (folder / "e.yaml").write_text(f"# @package _global_\nworkload:\n  path: {name}\n")
        assert sizes("+experiment=e", config_dir=str(files)) == [k]
    (folder / "e.yaml").write_text("# @package _global_\nworkload: {path: null}\n")
    with pytest.raises(InputError, match=r"workload\.path is missing"):
        sizes("+experiment=e", config_dir=str(files))


def test_options_of_a_file_keep_texts(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    text = "# @package _global_\noutput: {dir: 2024_01}\nexecutor: local\n"
    (tmp_path / "experiment" / "e.yaml").write_text(text)
    _, options = read_request(["+experiment=e"], config_dir=str(tmp_path))
    assert options["output.dir"] == "2024_01"
    assert read_request(["output.dir=1_0"])[1]["output.dir"] == "1_0"


# ---- numbers in quotes ---------------------------------------------------------------------------


def test_a_number_in_quotes_is_a_number_for_a_number_and_text_for_a_text() -> None:
    number = Parameter("a", float, 1.0, "")
    whole = Parameter("a", int, 1, "")
    flag = Parameter("a", bool, False, "")
    text = Parameter("a", str, None, "")
    assert [number.check(v) for v in ("5", "5.0", "1e3", "-.5", " 5 ")] == [5, 5, 1000, -0.5, 5]
    assert whole.check("5") == 5
    assert isinstance(whole.check("5.0"), int)
    assert (flag.check("true"), flag.check("FALSE")) == (True, False)
    assert [text.check(v) for v in ("5", "5.0", "true")] == ["5", "5.0", "true"]
    for bad in ("five", "0x10", "1_000", "inf", "nan", "", "5 5", "٥", "true"):
        with pytest.raises(InputError):
            number.check(bad)
    for bad in ("1", "yes", ""):
        with pytest.raises(InputError):
            flag.check(bad)


def test_only_log_is_a_tag_of_an_interval(capsys) -> None:
    assert (
        main(["queue.base=tag(Log,interval(1.5,5))", "sweep.sample=2", "sweep.dry_run=true"]) == 2
    )
    assert "tag(Log,interval(…)): the only tag is log" in capsys.readouterr().err
