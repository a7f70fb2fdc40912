"""The token with which the processes of a Ray cluster know each other, from Ray 2.52 on.

Ray reads ``RAY_AUTH_MODE`` (``token`` or ``disabled``) and looks for the token in
``RAY_AUTH_TOKEN``, in the file that ``RAY_AUTH_TOKEN_PATH`` names and in ``~/.ray/auth_token``.
Unless a mode is set, a local Ray of 2.59 or later uses a token, and a driver that connects to
``host:port`` sends none. Here such a driver asks the cluster: both sides must agree, or the
cluster refuses the driver, or the driver refuses the results.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from core.errors import InputError

MODE, TOKEN, TOKEN_PATH = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"


def source() -> str | None:
    """Return where Ray finds a token, as a user would write it; None where it finds none."""
    if os.environ.get(TOKEN):
        return TOKEN
    if TOKEN_PATH in os.environ:
        return TOKEN_PATH if _holds_text(Path(os.environ[TOKEN_PATH])) else None
    return "~/.ray/auth_token" if _holds_text(Path("~/.ray/auth_token").expanduser()) else None


def _holds_text(path: Path) -> bool:
    try:
        return bool(path.read_text(encoding="utf-8").strip())
    except (OSError, ValueError):
        return False


class Authentication:
    """What this process sets for Ray, until `restore`."""

    def __init__(self) -> None:
        self._before = {name: os.environ.get(name) for name in (MODE, TOKEN)}

    def for_local(self) -> None:
        """Give a local Ray a token of its own, unless the user has one or wants none.

        Ray itself would write one to the home directory, where it switches authentication on for
        every later ``ray start`` on this machine.
        """
        if os.environ.get(MODE, "token").lower() == "token" and source() is None:
            if path := os.environ.get(TOKEN_PATH):
                raise InputError(f"{TOKEN_PATH}={path}: this file cannot be read or is empty")
            os.environ[TOKEN] = secrets.token_hex(32)
        _reread()

    def for_cluster(self, address: str) -> None:
        """Send a token if the Ray cluster asks for one.

        Raises
        ------
        InputError
            No token is there, or not that of the cluster; the message names the variable.
        """
        wanted = os.environ.get(MODE)
        if not _reread():
            return
        os.environ[MODE] = "disabled"
        open_to_all = _accepted(address)
        if wanted is not None and open_to_all != (wanted.lower() != "token"):
            raise InputError(
                f"{MODE}={wanted}, but this Ray cluster "
                + ("takes no token" if open_to_all else "asks for a token")
                + f"; unset {MODE}, or set it to {'disabled' if open_to_all else 'token'}"
            )
        if open_to_all:
            return
        token = source()
        hint = f"set {TOKEN} to what 'ray get-auth-token' prints on the head"
        if token is None:
            raise InputError(f"this Ray cluster asks for a token, and none is here; {hint}")
        os.environ[MODE] = "token"
        if not _accepted(address):
            raise InputError(f"this Ray cluster does not accept the token of {token}; {hint}")

    def restore(self) -> None:
        """Set the variables to what they were."""
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _reread()


def _reread() -> bool:
    """Let Ray's library read the variables again; return whether it knows of tokens."""
    try:
        from ray._raylet import AuthenticationTokenLoader, Config  # type: ignore[attr-defined]
    except ImportError:  # before Ray 2.52
        return False
    Config.initialize("")
    AuthenticationTokenLoader.instance().reset_cache()
    return True


def _accepted(address: str) -> bool:
    """Whether a Ray cluster answers this process as the variables are."""
    from ray._raylet import GcsClient  # type: ignore[attr-defined]
    from ray.exceptions import AuthenticationError

    _reread()
    try:
        GcsClient(address=address).internal_kv_get(b"", namespace=b"coflow-sweep")
    except AuthenticationError:
        return False
    return True
