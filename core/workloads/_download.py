"""Fetch one file into a cache, within a time limit, without leaving anything half done."""

from __future__ import annotations

import io
import logging
import threading
from pathlib import Path
from typing import Any

SECONDS = 12.0
"""Limit of one download, name look-up and every address of the server included."""


def download(url: str, target: Path, sha256: str) -> str | None:
    """Fetch a file to `target` unless it is there; return what went wrong, in a few words.

    The data goes to a temporary file beside the target and is moved there only if its sha256
    is right, so readers in other processes see the whole file or none.
    """
    import pooch  # takes a while, and is needed once per machine

    pooch.get_logger().setLevel(logging.WARNING)

    def downloader(url: str, file: str, _: Any) -> None:
        Path(file).write_bytes(_fetched(url))

    try:
        pooch.retrieve(
            url,
            known_hash=f"sha256:{sha256}",
            fname=target.name,
            path=target.parent,
            downloader=downloader,
        )
    except (OSError, ValueError) as error:  # requests' exceptions are OSError
        return _reason(error)
    return None


def _fetched(url: str) -> bytes:
    """Return what is at the URL.

    A time-out of `requests` counts for each address and each read: a network that swallows
    packets, or a server that drips, would take minutes. So a thread asks, and is left behind if
    it does not answer in time; it touches no file.
    """
    import pooch

    buffer = io.BytesIO()
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            # Not streamed: a refused answer is read to its end, which closes the connection.
            pooch.HTTPDownloader(timeout=SECONDS, stream=False)(url, buffer, None)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(SECONDS)
    if thread.is_alive():
        raise TimeoutError
    if failed:
        raise failed[0]
    return buffer.getvalue()


def _reason(error: BaseException) -> str:
    """Dig the cause out of the layers around it."""
    if isinstance(error, ValueError) and "hash of downloaded file" in str(error):
        return "what arrived is another file or a damaged one (its sha256 is wrong)"
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answers {response.status_code} {response.reason}"
    reason = ""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, TimeoutError):
            return f"no answer within {SECONDS:g} s"
        reason = getattr(cause, "strerror", None) or str(cause) or reason
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return reason
