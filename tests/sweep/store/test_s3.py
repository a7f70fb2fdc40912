"""A dataset in an object store: a server with S3's interface on this machine."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pyarrow.fs as pafs
import pytest

from core.errors import StoreError
from sweep.store import Limits, load, read_manifest
from sweep.store.files import Folder
from tests.commands import here
from tests.sweep.execution.test_command_line import SMALL
from tests.sweep.store.rows import coflows, grid, opened, row

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("moto") is None, reason="moto is not installed"
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start the server; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                request = urllib.request.Request(f"http://{address}/bucket", method="PUT")
                urllib.request.urlopen(request, timeout=5).close()
                break
            except OSError:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def uri(server, monkeypatch, request) -> str:
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(key, "testing")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    name = request.node.name.replace("_", "-")
    return f"s3://bucket/{name}?endpoint_override={server}&scheme=http&region=us-east-1"


def names(uri: str, folder: str) -> list[str]:
    fs, root = pafs.FileSystem.from_uri(uri)
    selector = pafs.FileSelector(f"{root}/{folder}", allow_not_found=True)
    return sorted(info.base_name for info in fs.get_file_info(selector))


def test_write_resume_merge_and_load(uri) -> None:
    ids = [f"p{k}" for k in range(6)]
    for k, name in enumerate(ids):
        with opened(uri, details=("coflows",)) as dataset:
            assert dataset.finished() == {*ids[:k]} - {"p2"}
            dataset.write_points(grid(*ids))
            dataset.add(row(name, "error" if name == "p2" else "ok"), coflows())
            dataset.write_manifest({"command": "x"})
    assert names(uri, "results") == [f"part-{k:06d}.parquet" for k in range(1, 7)]
    with opened(uri, details=("coflows",), limits=Limits(rows=100, seconds=1e9)) as dataset:
        dataset.compact()
        dataset.add(row("p2"), coflows())
    assert names(uri, "results") == ["part-000001.parquet", "part-000008.parquet"]
    assert names(uri, ".tmp") == []
    assert load(uri)["status"].tolist() == ["ok"] * 6
    table = load(uri, coflows=True)
    assert sorted(table["point_id"]) == sorted(3 * ids)
    assert read_manifest(uri)["command"] == "x"


def test_a_damaged_part_is_set_aside(uri) -> None:
    with opened(uri) as dataset:
        dataset.add(row("a"))
    fs, root = pafs.FileSystem.from_uri(uri)
    with fs.open_output_stream(f"{root}/results/part-000001.parquet") as stream:
        stream.write(b"x" * 99)
    with opened(uri) as dataset:
        assert not dataset.finished()
        assert len(dataset.set_aside) == 1
    assert names(uri, "damaged") == ["results-part-000001.parquet"]


def test_no_bucket_and_nothing_there(uri) -> None:
    with pytest.raises(StoreError, match="does not exist or is empty"):
        load(uri)
    with pytest.raises(StoreError, match=r"cannot create .*nobucket"):
        opened(uri.replace("bucket", "nobucket", 1))


def test_messages_name_the_file_and_no_secret(uri) -> None:
    folder = Folder.at(uri.replace("s3://", "s3://me:hidden@", 1))
    assert "hidden" not in folder.shown
    place, options = folder.show("results/part-000001.parquet").split("?")
    assert place.endswith("no-secret/results/part-000001.parquet")
    assert "scheme=http" in options


def test_a_sweep_and_the_same_command_again(uri, tmp_path) -> None:
    words = ("scheduler=aalo,varys", "executor=local", "output.coflows=true", *SMALL)
    where = f'output.dir="{uri}"'
    first = here(*words, where, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert os.listdir(tmp_path) == []  # noqa: PTH208
    assert len(load(uri, coflows=True)) == 60
    second = here(*words, where, cwd=tmp_path)
    assert "2 points finished" in second.stdout
    assert Path(tmp_path).exists()
