"""Flags of the command line: Hydra's, as far as they make sense for a sweep."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import GridError, nearest
from sweep.cli.overrides import all_keys

_SWITCHES = {
    "--help": "help",
    "-h": "help",
    "--version": "version",
    "--multirun": "",  # every command is one
    "-m": "",
}
_WITH_VALUE = {
    "--config-dir": "config_dir",
    "-cd": "config_dir",
    "--config-name": "config_name",
    "-cn": "config_name",
}
_PLAN = "sweep.dry_run=true prints the plan: axes, values from files, grid rows and points"
_REFUSED = {
    **dict.fromkeys(("--cfg", "-c", "--info", "-i", "--resolve", "--package", "-p"), _PLAN),
    **dict.fromkeys(("--hydra-help",), "--help lists all keys and flags"),
    **dict.fromkeys(("--run", "-r"), "leave it out; a grid of one point is one run"),
    **dict.fromkeys(
        ("--config-path", "-cp"), "your own experiments are found with --config-dir DIR"
    ),
    **dict.fromkeys(
        ("--experimental-rerun",),
        "give the sweep's command again with its output.dir; manifest.json holds the command",
    ),
    **dict.fromkeys(("--shell-completion", "-sc"), "--help lists all keys"),
}


@dataclass
class Arguments:
    """A command line: flags, and the words that set keys."""

    help: bool = False
    version: bool = False
    config_dir: str | None = None
    config_name: str = "config"
    overrides: list[str] = field(default_factory=list)


def read_arguments(words: Sequence[str]) -> Arguments:
    """Return the flags and the other words of a command line.

    Raises
    ------
    GridError
        A flag that is unknown, lacks its value, or has no use in a sweep.
    """
    arguments = Arguments()
    remaining = iter(words)
    for word in remaining:
        if not word.startswith("-"):
            arguments.overrides.append(word)
            continue
        flag, equals, value = word.partition("=")
        if flag in _WITH_VALUE:
            value = value if equals else next(remaining, "")
            if not value:
                raise GridError(f"{flag} needs a value; write {flag} {flag.strip('-')}")
            setattr(arguments, _WITH_VALUE[flag], value)
        elif flag in _SWITCHES and not equals:
            if _SWITCHES[flag]:
                setattr(arguments, _SWITCHES[flag], True)
        elif flag in _REFUSED:
            raise GridError(f"{flag} has no use in a sweep; {_REFUSED[flag]}")
        else:
            raise GridError(_unknown(word, next(remaining, "")))
    return arguments


def _unknown(word: str, following: str) -> str:
    flag, equals, value = word.partition("=")
    key = flag.lstrip("-")
    if not equals:
        value = "VALUE" if following.startswith("-") or "=" in following else following or "VALUE"
    close = difflib.get_close_matches(key, all_keys(), n=1)
    if not close and (hint := nearest(flag, (*_SWITCHES, *_WITH_VALUE))):
        return f"{flag}: no such flag{hint}; --help lists all flags"
    key = close[0] if close else key
    return f"{flag}: no such flag; keys are set without dashes, as in {key}={value}"
