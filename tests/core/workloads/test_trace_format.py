"""The coflow-benchmark format: what is read, what is refused with which words, and writing."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import ParameterError, TraceError
from core.trace import Trace, from_flows, from_records, make_records
from core.workloads import _files
from core.workloads._format import load_trace, parse_trace, read_trace
from core.workloads._format_write import write_trace
from core.workloads.trace import WORKLOAD
from tests.paths import FACEBOOK, ROOT
from tests.profiles import examples

TRACES = ROOT / "tests" / "data" / "traces"
ARRAYS = ("coflow_id", "arrival_s", "first_flow", "src", "dst", "size_bytes")
RECORDS = ("first_mapper", "mapper", "first_reducer", "reducer", "reducer_mb")

GOOD = b"4 2\n7 10 2 0 3 1 1:6.0\n5 20.5 1 2 2 0:1.5 3:0\n"


def parse(text: str | bytes, mb_bytes: float = 1e6) -> Trace:
    return parse_trace(text if isinstance(text, bytes) else text.encode(), "fb.txt", mb_bytes)


def assert_equal(one: Trace, other: Trace, records: bool = True) -> None:
    assert one.ports == other.ports
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in RECORDS if records else ():
        np.testing.assert_array_equal(
            getattr(one.records, name), getattr(other.records, name), err_msg=name
        )


def test_by_hand() -> None:
    """6 MB for reducer 1 from two mappers: 3 MB each. 0 and 1.5 MB from the only mapper 2."""
    trace = parse(GOOD)
    assert (trace.name, trace.ports, trace.mb_bytes) == ("fb.txt", 4, 1e6)
    assert trace.coflow_id.tolist() == [7, 5]
    assert trace.arrival_s.tolist() == [0.01, 0.0205]
    assert trace.first_flow.tolist() == [0, 2, 4]
    assert trace.src.tolist() == [0, 3, 2, 2]
    assert trace.dst.tolist() == [1, 1, 0, 3]
    assert trace.size_bytes.tolist() == [3e6, 3e6, 1.5e6, 0]
    assert parse(GOOD, mb_bytes=2**20).size_bytes[0] == 3 * 2**20


@pytest.mark.parametrize(
    "same",
    [
        pytest.param(GOOD.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(b"\xef\xbb\xbf" + GOOD, id="BOM"),
        pytest.param(GOOD.replace(b"\n", b" \t \n"), id="trailing blanks"),
        pytest.param(GOOD + b"\n \n\r\n", id="blank lines at the end"),
        pytest.param(GOOD.rstrip(), id="no newline at the end"),
        pytest.param(GOOD.replace(b" ", b" \t "), id="wide blanks"),
        pytest.param(GOOD.replace(b" 10 ", b" 1e1 ").replace(b"1.5", b"1.5E+0"), id="exponents"),
        pytest.param(GOOD.replace(b"6.0", b"6").replace(b"7 10", b"07 0010"), id="leading zeros"),
        pytest.param(GOOD.replace(b"1.5", b"15e-1").replace(b":0", b":.0"), id="bare fraction"),
    ],
)
def test_accepted_variants(same: bytes) -> None:
    assert_equal(parse(same), parse(GOOD))


def test_unsorted_arrivals_are_sorted_and_ties_keep_the_order_of_the_file() -> None:
    trace = parse("2 3\n1 9 1 0 1 1:1\n2 5 1 0 1 1:2\n3 5 1 1 1 0:3\n")
    assert trace.coflow_id.tolist() == [2, 3, 1]
    assert trace.records is not None
    assert trace.records.reducer_mb.tolist() == [2, 3, 1]


def test_duplicate_locations_are_merged_in_flows_and_kept_in_records() -> None:
    """Mappers 0, 0, 1 are two senders; reducer 2 has 4 + 2 = 6 MB, 3 from each."""
    trace = parse("3 1\n1 0 3 0 0 1 2 2:4 2:2\n")
    assert trace.src.tolist() == [0, 1]
    assert trace.size_bytes.tolist() == [3e6, 3e6]
    assert trace.records is not None
    assert trace.records.mapper.tolist() == [0, 0, 1]
    assert trace.records.reducer_mb.tolist() == [4, 2]


def test_arrivals_are_the_nearest_seconds() -> None:
    trace = parse("2 3\n1 0.1 1 0 1 1:1\n2 10833 1 0 1 1:1\n3 1.5e5 1 0 1 1:1\n")
    assert trace.arrival_s.tolist() == [0.0001, 10.833, 150.0]


HEAD = "150 1\n"
NUMBER = "allowed is a finite number ≥ 0 like 65.0, 18.2 or 1e3"
DIGITS = "is not a whole number ≥ 0 in plain digits"
HEADER = "is no header; allowed is <ports> <coflows>, two whole numbers ≥ 1"
FIELDS = "allowed is <id> <arrival ms> <m> <mapper>*m <r> <reducer:MB>*r"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # header
        ("", "fb.txt: is empty; line 1 has to be <ports> <coflows>"),
        (" \n\n", "fb.txt: is empty; line 1 has to be <ports> <coflows>"),
        ("150\n", f"line 1: 150 {HEADER}"),
        ("150 x\n", f"line 1: '150 x' {HEADER}"),
        ("0 1\n", f"line 1: '0 1' {HEADER}"),
        ("4 0\n", f"line 1: '4 0' {HEADER}"),
        ("-4 1\n", f"line 1: '-4 1' {HEADER}"),
        ("1.5 1\n", f"line 1: '1.5 1' {HEADER}"),
        ("1_0 1\n", f"line 1: '1_0 1' {HEADER}"),
        ("4 1 2\n", f"line 1: '4 1 2' {HEADER}"),
        ("\n4 1\n1 0 1 0 1 1:1\n", f"line 1: '' {HEADER}"),
        ("2000000 1\n", "line 1: 2000000 ports; allowed is 1…1000000"),
        ("150 2\n1 0 1 0 1 1:1\n",
         "line 1: the header announces 2 coflows, but 1 follow (the last is line 2)"),
        ("150 1\n1 0 1 0 1 1:1\n2 0 1 0 1 1:1\n",
         "line 1: the header announces 1 coflows, but 2 follow (the last is line 3)"),
        ("150 1\n", "line 1: the header announces 1 coflows, but 0 follow (the last is line 1)"),
        # ids
        (HEAD + "x 0 1 0 1 1:1\n", f"line 2: id 'x' {DIGITS}"),
        (HEAD + "1.0 0 1 0 1 1:1\n", f"line 2: id 1.0 {DIGITS}"),
        (HEAD + "-1 0 1 0 1 1:1\n", f"line 2: id -1 {DIGITS}"),
        (HEAD + "9223372036854775808 0 1 0 1 1:1\n",
         "line 2: id 9223372036854775808 is outside 0…2^63 − 1"),
        (HEAD + "9" * 5000 + " 0 1 0 1 1:1\n", f"line 2: id {'9' * 39 + '…'!r} {DIGITS}"),
        ("150 3\n4 0 1 0 1 1:1\n5 0 1 0 1 1:1\n4 0 1 0 1 1:1\n",
         "line 4: id 4 is taken by line 2"),
        # arrivals
        (HEAD + "1 -5 1 0 1 1:1\n", f"line 2: arrival -5 ms; {NUMBER}"),
        (HEAD + "1 soon 1 0 1 1:1\n", f"line 2: arrival 'soon' ms; {NUMBER}"),
        (HEAD + "1 nan 1 0 1 1:1\n", f"line 2: arrival 'nan' ms; {NUMBER}"),
        (HEAD + "1 inf 1 0 1 1:1\n", f"line 2: arrival 'inf' ms; {NUMBER}"),
        (HEAD + "1 1e400 1 0 1 1:1\n", f"line 2: arrival '1e400' ms; {NUMBER}"),
        (HEAD + "1 1_000 1 0 1 1:1\n", f"line 2: arrival '1_000' ms; {NUMBER}"),
        # ports
        (HEAD + "1 0 1 0 1 150:1\n", "line 2: reducer 150 is outside 0…149 (150 ports)"),
        (HEAD + "1 0 2 1 150 1 1:1\n", "line 2: mapper 150 is outside 0…149 (150 ports)"),
        (HEAD + "1 0 1 -1 1 1:1\n", f"line 2: mapper -1 {DIGITS}"),
        (HEAD + "1 0 1 0 1 -1:1\n", f"line 2: reducer -1 {DIGITS}"),
        (HEAD + "1 0 1 +5 1 1:1\n", f"line 2: mapper '+5' {DIGITS}"),
        (HEAD + "1 0 1 1_0 1 1:1\n", f"line 2: mapper '1_0' {DIGITS}"),
        (HEAD + "1 0 1 1e1 1 1:1\n", f"line 2: mapper '1e1' {DIGITS}"),
        (HEAD + "1 0 1 0 1 rack:1\n", f"line 2: reducer 'rack' {DIGITS}"),
        # sizes
        (HEAD + "1 0 1 0 1 1:-2.5\n", f"line 2: reducer 1 has -2.5 MB; {NUMBER}"),
        (HEAD + "1 0 1 0 1 1:big\n", f"line 2: reducer 1 has 'big' MB; {NUMBER}"),
        (HEAD + "1 0 1 0 1 1:nan\n", f"line 2: reducer 1 has 'nan' MB; {NUMBER}"),
        (HEAD + "1 0 1 0 1 1:inf\n", f"line 2: reducer 1 has 'inf' MB; {NUMBER}"),
        (HEAD + "1 0 1 0 1 1:1e400\n", f"line 2: reducer 1 has '1e400' MB; {NUMBER}"),
        (HEAD + "1 0 1 0 1 1:1_0\n", f"line 2: reducer 1 has '1_0' MB; {NUMBER}"),
        (HEAD + "1 0 1 0 1 1:+5\n", f"line 2: reducer 1 has '+5' MB; {NUMBER}"),
        (HEAD + "1 0 1 0 1 1:0x1p3\n", f"line 2: reducer 1 has '0x1p3' MB; {NUMBER}"),
        (HEAD + "1 0 1 0 1 1:\n", f"line 2: reducer 1 has '' MB; {NUMBER}"),
        (HEAD + "1 0 1 0 1 1:2:3\n", f"line 2: reducer 1 has '2:3' MB; {NUMBER}"),
        (HEAD + "1 0 1 0 2 1 2:3\n",
         "line 2: reducer 1 has no colon; allowed is <port>:<MB>"),
        (HEAD + "1 0 1 0 1 1\n", "line 2: reducer 1 has no colon; allowed is <port>:<MB>"),
        ("4 2\n1 0 1 0 1 1:9e293\n2 0 1 0 1 1:9e293\n",
         "line 3: the sizes up to here are more than 1e+300 B"),
        # counts
        (HEAD + "1 0 0 1 1:1\n", "line 2: m = 0 mappers; a coflow has at least one"),
        (HEAD + "1 0 1 7 0\n", "line 2: r = 0 reducers; a coflow has at least one"),
        (HEAD + "1 0 3 7 8 1 1:1\n",
         "line 2: m = 3 mappers, but 2 stand before the number of reducers"),
        (HEAD + "1 0 1 7 8 1 1:1\n",
         "line 2: m = 1 mappers, but 2 stand before the number of reducers"),
        (HEAD + "1 0 9 7 8 1 1:1\n",
         "line 2: m = 9 mappers, but 2 stand before the number of reducers"),
        (HEAD + "1 0 1 7 2 1:1\n", "line 2: r = 2 reducers, but 1 fields follow it"),
        (HEAD + "1 0 1 7 1 1:1 2:2\n", "line 2: r = 1 reducers, but 2 fields follow it"),
        (HEAD + "1 0 1 7 1 1:1 2\n", "line 2: r = 1 reducers, but 2 fields follow it"),
        (HEAD + "1 0 -1 7 1 1:1\n", f"line 2: number of mappers -1 {DIGITS}"),
        (HEAD + "1 0 1 7 x 1:1\n", f"line 2: number of reducers 'x' {DIGITS}"),
        (HEAD + "1 0 5\n", "line 2: m = 5 mappers, but the line has 3 fields and no <reducer:MB>"),
        (HEAD + "1 0\n", f"line 2: 2 fields; {FIELDS}"),
        ("150 2\n1 0 1 7 1 1:1\n\n2 0 1 7 1 1:1\n",
         f"line 3: a blank line between coflows; {FIELDS}"),
        # cut off
        (HEAD + "1 0 1 7 2 1:1 2:", f"line 2: reducer 2 has '' MB; {NUMBER} "
         "(the file ends inside this line: is it cut off?)"),
        (HEAD + "1 0 1 7 2 1:1 2:6.", f"line 2: reducer 2 has 6. MB; {NUMBER} "
         "(the file ends inside this line: is it cut off?)"),
        (HEAD + "1 0 1 7 2 1:1", "line 2: r = 2 reducers, but 1 fields follow it "
         "(the file ends inside this line: is it cut off?)"),
        # no text
        (HEAD + "1 0 1 ７ 1 1:1\n",
         "line 2: byte 0xef (U+FF17) is not plain ASCII text, as a trace has to be"),
        (b"4 1\n1 0 1 7 1 1:1\xff\n",
         "line 2: byte 0xff is not plain ASCII text, as a trace has to be"),
        (b"\x89PNG\r\n\x1a\n\0\0",
         "line 1: byte 0x89 is not plain ASCII text, as a trace has to be"),
        ("4 1\n1 0 1 7 1 1:1\n".encode("utf-16"),
         "line 1: byte 0xff is not plain ASCII text, as a trace has to be"),
        (b"4 1\n\0", "line 2: byte 0x00 is not plain ASCII text, as a trace has to be"),
    ],
)  # fmt: skip
def test_refused_with_line_value_and_rule(text: str | bytes, message: str) -> None:
    expected = message if message.startswith("fb.txt") else f"fb.txt {message}"
    with pytest.raises(TraceError, match=f"^{re.escape(expected)}$"):
        parse(text)


@pytest.mark.parametrize("mb_bytes", [0, -1, float("nan"), float("inf")])
def test_a_megabyte_is_more_than_nothing(mb_bytes: float) -> None:
    with pytest.raises(ParameterError, match=r"workload.mb_bytes=.*allowed is a number > 0"):
        parse(GOOD, mb_bytes)


def refusal(path: str | Path) -> str:
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    return str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "facebook.txt").write_bytes(GOOD)
    missing = tmp_path / "facebok.txt"
    assert refusal(missing) == f"{missing}: no such file (did you mean 'facebook.txt'?)"
    deep = tmp_path / "no" / "fb.txt"
    assert refusal(deep) == f"{deep}: no such file; there is no directory {tmp_path / 'no'}"
    assert refusal(tmp_path) == f"{tmp_path}: is a directory; a trace is a file"
    assert refusal(os.devnull) == f"{os.devnull}: is not a regular file"
    below = tmp_path / "facebook.txt" / "x"
    assert refusal(below) == f"{below}: cannot be read (Not a directory)"
    assert "cannot be read (embedded null byte)" in refusal("a\0b")
    assert "cannot be read (File name too long)" in refusal("x" * 5000)

    def denied(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    def unlisted(path: Path) -> list[Path]:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", unlisted)
        assert refusal(missing) == f"{missing}: no such file"
    monkeypatch.setattr(Path, "read_bytes", denied)
    path = tmp_path / "facebook.txt"
    assert refusal(path) == f"{path}: cannot be read (Permission denied)"


def test_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "named.txt"
    path.write_bytes(gzip.compress(GOOD))
    assert_equal(read_trace(path), parse(GOOD))
    for damaged in (
        gzip.compress(GOOD)[:-9],
        gzip.compress(GOOD)[:20] + b"\xff" * 20,
        gzip.compress(GOOD) + b"more",
        b"\x1f\x8b",
    ):
        path.write_bytes(damaged)
        assert refusal(path).startswith(f"{path}: corrupt gzip data (")


# Writing


def test_written_as_published_traces_are(tmp_path: Path) -> None:
    write_trace(parse(GOOD), tmp_path / "t.txt")
    text = (tmp_path / "t.txt").read_text()
    assert text == "4 2\n7 10 2 0 3 1 1:6.0\n5 20.5 1 2 2 0:1.5 3:0.0\n"


@pytest.mark.parametrize("path", sorted(TRACES.glob("*.txt")), ids=lambda p: p.stem)
def test_committed_traces_round_trip_to_the_byte(path: Path, tmp_path: Path) -> None:
    trace = read_trace(path)
    write_trace(trace, tmp_path / "again.txt")
    write_trace(trace, tmp_path / "again.txt.gz")
    assert (tmp_path / "again.txt").read_bytes() == path.read_bytes()
    assert_equal(read_trace(tmp_path / "again.txt.gz"), trace)
    assert (tmp_path / "again.txt.gz").read_bytes().startswith(b"\x1f\x8b")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.txt", "again.txt.gz"]


number = st.one_of(
    st.integers(0, 10**6).map(str),
    st.floats(0, 1e12).map(repr),
    st.decimals(0, 10**6, places=3).map(str),
)
port = st.integers(0, 5)
side = st.lists(port, min_size=1, max_size=4)
coflow = st.tuples(number, side, st.lists(st.tuples(port, number), min_size=1, max_size=4))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(coflows=st.lists(coflow, min_size=1, max_size=6), mb_bytes=st.sampled_from([1e6, 2.0**20]))
def test_any_trace_round_trips(
    coflows: list[tuple[str, list[int], list[tuple[int, str]]]], mb_bytes: float, tmp_path: Path
) -> None:
    lines = [f"6 {len(coflows)}"]
    for k, (arrival, mappers, reducers) in enumerate(coflows):
        left = f"{k} {arrival} {len(mappers)} {' '.join(map(str, mappers))}"
        lines.append(f"{left} {len(reducers)} " + " ".join(f"{p}:{mb}" for p, mb in reducers))
    trace = parse("\n".join(lines), mb_bytes)
    write_trace(trace, tmp_path / "t.txt")
    assert_equal(read_trace(tmp_path / "t.txt", mb_bytes), trace)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arrivals=st.lists(st.floats(0, 1e9), min_size=1, max_size=5))
def test_any_arrival_in_seconds_can_be_written(arrivals: list[float], tmp_path: Path) -> None:
    n = len(arrivals)
    records = make_records([[0]] * n, [[1]] * n, [[1.0]] * n)
    trace = from_records("drawn", 2, range(n), arrivals, records)
    write_trace(trace, tmp_path / "t.txt")
    assert_equal(read_trace(tmp_path / "t.txt"), trace)


def test_flows_without_records_are_written_if_they_are_a_mesh(tmp_path: Path) -> None:
    """65 MB over three mappers are 21 666 666.67 B each: MB is 65.0 again."""
    third = 65e6 / 3
    mesh = [(s, d, size) for d, size in ((3, third), (4, 7e6)) for s in (0, 1, 2)]
    trace = from_flows("toy", 5, [(1, 0.25, mesh), (2, 0.5, [(0, 0, 1.0)])])
    write_trace(trace, tmp_path / "t.txt")
    expected = "5 2\n1 250 3 0 1 2 2 3:65.0 4:21.0\n2 500 1 0 1 0:1e-06\n"
    assert (tmp_path / "t.txt").read_text() == expected
    assert_equal(read_trace(tmp_path / "t.txt"), trace, records=False)


@pytest.mark.parametrize(
    ("flows", "message"),
    [
        ([(0, 1, 1.0), (2, 3, 1.0)],
         "toy coflow 8: 2 flows between 2 senders and 2 receivers; the format has all 4 of them"),
        ([(0, 1, 1.0), (2, 1, 2.0)],
         "toy coflow 8: the flows into receiver 1 differ in size; the format has equal ones only"),
    ],
)  # fmt: skip
def test_other_flows_cannot_be_written(
    flows: list[tuple[int, int, float]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(TraceError, match=re.escape(message)):
        write_trace(from_flows("toy", 4, [(8, 0.0, flows)]), tmp_path / "t.txt")
    assert not list(tmp_path.iterdir())


def test_a_trace_that_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    twice = from_flows("toy", 2, [(1, 0.0, [(0, 1, 1.0)]), (1, 0.0, [(0, 1, 1.0)])])
    with pytest.raises(TraceError, match="line 3: id 1 is taken by line 2"):
        write_trace(twice, tmp_path / "t.txt")
    good = parse(GOOD)
    fields = {name: getattr(good, name) for name in (*ARRAYS, "name", "ports", "records")}
    changed = Trace(**{**fields, "size_bytes": good.size_bytes * 2})
    with pytest.raises(TraceError, match="its flows are not those of its mappers and reducers"):
        write_trace(changed, tmp_path / "t.txt")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.txt"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(_files.os, "fsync", full)
        with pytest.raises(TraceError, match=r"t.txt: cannot be written \(No space left"):
            write_trace(parse(GOOD), path)
    assert [p.name for p in tmp_path.iterdir()] == ["t.txt"]
    assert path.read_text() == "old"
    with pytest.raises(TraceError, match=r"cannot be written \(No such file or directory\)"):
        write_trace(parse(GOOD), tmp_path / "no" / "t.txt")


# Any damage is either harmless or named

TOKENS = (
    b"-1 +5 1_000 1e3 1e400 nan inf 0 1 2 4 5 : 1: :1 1:1 9:9 1.5 99999999999999999999 0x1 . e "
    b"1e-400 00 -0 \r \n \n\n"
).split(b" ")
BYTES = b"\xff \xef\xbc\x91 \xef\xbb\xbf \0 \x1f\x8b \x0c \xc2\xa0".split(b" ")
NASTY = st.sampled_from(TOKENS) | st.sampled_from(TOKENS) | st.sampled_from(TOKENS + BYTES)
WIDER = b"8 3\n1 679 5 5 4 3 6 0 1 0:264.0\n2 2262 5 3 5 7 4 6 1 6:75.0\n3 4e3 1 1 2 0:1 0:2.5\n"


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    data = draw(st.sampled_from((GOOD, WIDER)))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 8)))
        data = data[:start] + draw(st.just(b"") | NASTY) + data[end:]
        tokens = data.split(b" ")
        if draw(st.booleans()):
            tokens[draw(st.integers(0, len(tokens) - 1))] = draw(NASTY)
        data = b" ".join(tokens)
    return data


@examples(600)
@given(damaged())
def test_damage_reads_or_is_named_with_its_line(data: bytes) -> None:
    try:
        trace = parse(data)
    except TraceError as error:
        assert re.match(r"fb\.txt( line \d+: |: is empty)", str(error)), error  # noqa: PT017
    else:
        assert np.isfinite(trace.size_bytes).all()
        assert np.isfinite(trace.arrival_s).all()


@examples(100)
@given(st.binary(max_size=200))
def test_noise_is_named_with_its_line(data: bytes) -> None:
    with pytest.raises(TraceError, match=r"fb\.txt( line \d+: |: is empty)"):
        parse(data)


# The workload


def values(path: object, mb_bytes: float = 1e6) -> dict[str, object]:
    given = {"workload.path": path, "workload.mb_bytes": mb_bytes}
    return {p.key: p.check(given[p.key]) for p in WORKLOAD.parameters}


def build(path: Path, mb_bytes: float = 1e6) -> Trace:
    return WORKLOAD.build(values(str(path), mb_bytes), np.random.default_rng(0))


def test_workload_is_identified_by_bytes_and_unit(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.txt", tmp_path / "b.gz"
    plain.write_bytes(GOOD)
    packed.write_bytes(gzip.compress(GOOD))
    content = WORKLOAD.content(values(str(plain)))
    assert content == f"sha256:{hashlib.sha256(GOOD).hexdigest()} mb_bytes=1000000.0"
    assert WORKLOAD.content(values(str(packed))) == content
    assert WORKLOAD.content(values(str(plain), 2**20)) != content
    assert_equal(build(packed, 2**20), parse(GOOD, 2**20))
    assert WORKLOAD.identified_by_content
    assert not WORKLOAD.seeded


def test_workload_reads_an_unchanged_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(GOOD)
    assert build(path) is build(path)
    before = WORKLOAD.content(values(str(path)))
    path.write_bytes(GOOD.replace(b"6.0", b"8.0"))
    os.utime(path, ns=(1, 1))
    assert build(path).size_bytes[0] == 4e6
    assert WORKLOAD.content(values(str(path))) != before
    monkeypatch.setenv("HOME", str(tmp_path))
    assert len(load_trace("~/a.txt")[1]) == 2
    with pytest.raises(TraceError, match="~nobody-of-that-name/x: no such file"):
        load_trace("~nobody-of-that-name/x")


def test_workload_checks_the_file_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(TraceError, match="no such file"):
        WORKLOAD.content(values(str(path)))
    path.write_text("4 1\n1 0 1 4 1 1:1\n")
    with pytest.raises(TraceError, match=r"a.txt line 2: mapper 4 is outside 0…3 \(4 ports\)"):
        WORKLOAD.content(values(str(path)))
    with pytest.raises(ParameterError, match=r"workload\.path is missing"):
        values(None)


@pytest.mark.skipif(not FACEBOOK.is_file(), reason="the Facebook trace is not beside the checkout")
def test_facts_about_the_facebook_trace(tmp_path: Path) -> None:
    trace = read_trace(FACEBOOK)
    assert (trace.ports, len(trace), len(trace.src)) == (150, 526, 706_397)
    assert trace.total_bytes().sum() == 35_533_534e6
    assert (trace.src == trace.dst).sum() == 4911
    assert trace.arrival_s[[0, -1]].tolist() == [0, 3629.235]
    assert (np.diff(trace.arrival_s) > 0).all()
    assert trace.coflow_id.tolist() == list(range(1, 527))
    bins, counts = np.unique(trace.bins(), return_counts=True)
    assert dict(zip(bins, np.round(100 * counts / 526, 1), strict=True)) == {
        "LN": 16.0, "LW": 12.2, "SN": 59.9, "SW": 12.0,
    }  # fmt: skip
    write_trace(trace, tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == FACEBOOK.read_bytes()
