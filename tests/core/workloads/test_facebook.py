"""`workload=facebook`: given, cached or fetched from a server on this machine; never anything else.

The tests serve a small trace of their own and hand its sha256 in.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import re
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError, TraceError
from core.trace import Trace
from core.workloads import _download, facebook
from tests.paths import ROOT

REAL = ROOT.parent / "shared" / "data" / "traces" / facebook.FILE
SMALL = b"4 2\n7 10 2 0 3 1 1:6.0\n5 20.5 1 2 2 0:1.5 3:0\n"
SMALL_SHA256 = hashlib.sha256(SMALL).hexdigest()


class Server(ThreadingHTTPServer):
    """Answers every request alike and counts them."""

    daemon_threads = True
    status = 200
    body = SMALL
    announced: int | None = None
    asked = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.silent = threading.Event()
        self.silent.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/{facebook.FILE}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked += 1
        self.server.silent.wait(10)
        self.send_response(self.server.status)
        length = self.server.announced or len(self.server.body)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COFLOW_SWEEP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def server(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server = Server()
    monkeypatch.setenv("COFLOW_SWEEP_FACEBOOK_URL", server.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.silent.set()
    server.shutdown()
    thread.join()
    server.server_close()


def load(path: Path | None = None) -> Trace:
    sha256, trace = facebook.load_facebook(path and str(path), sha256=SMALL_SHA256)
    assert sha256 == SMALL_SHA256
    return trace


def refusal(path: Path | None = None) -> str:
    with pytest.raises(TraceError) as caught:
        load(path)
    assert isinstance(caught.value, InputError)  # exit code 2
    return str(caught.value)


def assert_says_what_to_do(message: str, url: str, why: str) -> None:
    target = facebook.cached_file()
    assert message == (
        f"FB2010-1Hr-150-0.txt cannot be fetched from {url}: {why}. Without a network, put the "
        f"file (sha256 {SMALL_SHA256}) at {target}, or say where it is with workload.path=<file>"
    )
    assert target.is_absolute()


def files(directory: Path) -> list[str]:
    return [p.name for p in directory.rglob("*") if not p.is_dir()]


def test_fetched_once_then_read_from_the_cache(
    server: Server, cache: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        assert load().coflow_id.tolist() == [7, 5]
        assert load().coflow_id.tolist() == [7, 5]
    assert server.asked == 1
    assert files(cache) == [facebook.FILE]
    assert facebook.cached_file().read_bytes() == SMALL
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_the_cache_of_the_user_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COFLOW_SWEEP_CACHE", raising=False)
    monkeypatch.setattr(facebook.platformdirs, "user_cache_dir", lambda name: f"/caches/{name}")
    assert facebook.cached_file() == Path("/caches/coflow-sweep/traces/FB2010-1Hr-150-0.txt")


def test_a_damaged_file_in_the_cache_is_fetched_again(server: Server, cache: Path) -> None:
    for damaged in (SMALL[:-3], SMALL.replace(b"6.0", b"7.0"), b""):
        facebook.cached_file().parent.mkdir(parents=True, exist_ok=True)
        facebook.cached_file().write_bytes(damaged)
        assert load().coflow_id.tolist() == [7, 5]
    assert server.asked == 3
    assert facebook.cached_file().read_bytes() == SMALL
    server.status = 503
    facebook.cached_file().write_bytes(b"")
    target = facebook.cached_file()
    assert "the server answers 503 Service Unavailable" in refusal()
    assert f"(the file that lies there cannot be used: {target}: is empty" in refusal()


WRONG_FILE = "what arrived is another file or a damaged one (its sha256 is wrong)"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"status": 404, "body": b"gone"}, "the server answers 404 Not Found"),
        ({"body": SMALL.replace(b"6.0", b"7.0")}, WRONG_FILE),
        ({"body": b""}, WRONG_FILE),
        ({"body": SMALL[:-9]}, WRONG_FILE),
        ({"body": SMALL[:-9], "announced": len(SMALL)},
         f"IncompleteRead({len(SMALL) - 9} bytes read, 9 more expected)"),
    ],
    ids=["404", "other content", "nothing", "short", "cut off"],
)  # fmt: skip
def test_a_bad_answer_leaves_no_file(
    server: Server, cache: Path, answer: dict[str, object], why: str
) -> None:
    for name, value in answer.items():
        setattr(server, name, value)
    assert_says_what_to_do(refusal(), server.url, why)
    assert files(cache) == []
    assert server.asked == 1


def test_a_server_that_refuses_the_connection(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:  # bound but not listening: refused
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/x"
        monkeypatch.setenv("COFLOW_SWEEP_FACEBOOK_URL", url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        assert_says_what_to_do(refusal(), url, "Connection refused")
    assert files(cache) == []


def test_a_silent_server_is_given_up_in_time(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _download.SECONDS < 15
    monkeypatch.setattr(_download, "SECONDS", 0.2)
    server.silent.clear()
    start = time.monotonic()
    assert_says_what_to_do(refusal(), server.url, "no answer within 0.2 s")
    assert time.monotonic() - start < 3
    assert files(cache) == []


@pytest.mark.parametrize("url", ["file:///tmp/x", "nonsense", "http://"])
def test_a_mirror_that_is_no_web_address(
    url: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COFLOW_SWEEP_FACEBOOK_URL", url)
    assert re.match(f"{facebook.FILE} cannot be fetched from {re.escape(url)}: .+", refusal())
    assert files(cache) == []


def test_a_cache_that_cannot_be_used(server: Server, cache: Path) -> None:
    cache.write_text("a file, not a directory")
    assert_says_what_to_do(refusal(), server.url, "Not a directory")
    cache.unlink()
    facebook.cached_file().mkdir(parents=True)
    assert f"{facebook.FILE} cannot be fetched from {server.url}: Is a directory" in refusal()


def test_a_path_given_is_used_without_a_request(server: Server, tmp_path: Path) -> None:
    given = tmp_path / "mine.gz"
    given.write_bytes(gzip.compress(SMALL))
    assert load(given).coflow_id.tolist() == [7, 5]
    other = SMALL.replace(b"6.0", b"7.0")
    given.write_bytes(other)
    assert refusal(given) == (
        f"{given} is not the published FB2010-1Hr-150-0.txt: its sha256 is "
        f"{hashlib.sha256(other).hexdigest()}, not {SMALL_SHA256}; "
        f"for another trace use workload=trace workload.path={given}"
    )
    given.unlink()
    assert refusal(given) == f"{given}: no such file"
    assert server.asked == 0


def values(path: str | None) -> dict[str, object]:
    given = {"workload.path": path, "workload.mb_bytes": 1e6}
    return {p.key: p.check(given[p.key]) for p in facebook.WORKLOAD.parameters}


def test_workload(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facebook, "SHA256", SMALL_SHA256)
    workload = facebook.WORKLOAD
    assert workload.content(values(None)) == f"sha256:{SMALL_SHA256} mb_bytes=1000000.0"
    assert len(workload.build(values(None), np.random.default_rng(0))) == 2
    assert server.asked == 1
    assert workload.identified_by_content
    assert not workload.seeded


@pytest.mark.skipif(not REAL.is_file(), reason="the Facebook trace is not beside the checkout")
def test_the_real_trace_given_and_fetched(server: Server) -> None:
    given = facebook.WORKLOAD.content(values(str(REAL)))
    assert given == f"sha256:{facebook.SHA256} mb_bytes=1000000.0"
    assert server.asked == 0
    server.body = REAL.read_bytes()
    assert facebook.WORKLOAD.content(values(None)) == given
    trace = facebook.WORKLOAD.build(values(None), np.random.default_rng(0))
    assert (trace.ports, len(trace), len(trace.src)) == (150, 526, 706_397)
    assert server.asked == 1
