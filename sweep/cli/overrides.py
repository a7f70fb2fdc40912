"""Words ``key=value`` of the command line: keys and their values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from hydra.core.override_parser.types import (
    ChoiceSweep,
    Glob,
    IntervalSweep,
    Override,
    OverrideType,
    QuotedString,
    RangeSweep,
    Transformer,
)
from hydra.errors import HydraException

from core.errors import GridError, ParameterError, nearest
from core.keys import KIND
from sweep.cli.grammar import parse_override, plain_texts
from sweep.cli.options import FILTER, OPTIONS, REPLICATES, ZIP
from sweep.grid.axes import Axes, Interval
from sweep.grid.grid import check_member, declarations, members_of, no_values

GROUPS = ("engine", "workload")
MOST_VALUES = 1_000_000
"""Values of an axis."""
SINGLE = {p.key: p for p in (*OPTIONS, REPLICATES)}
"""Keys that take one value a run."""

_PLAIN_KEY = re.compile(r"\s*\+{0,2}([\w.]+)=(.*)", re.DOTALL)


@cache
def text_keys() -> frozenset[str]:
    """Return the keys whose values are text, kept as typed: ``1.10`` is not ``1.1``."""
    parameters = [*SINGLE.values(), *(p for of_key in declarations().values() for p in of_key)]
    texts = {p.key for p in parameters if p.kind is str and not p.choices}
    return frozenset(texts - {ZIP.key})


def filter_of(words: Sequence[str]) -> tuple[dict[str, list[Any]], list[str]]:
    """Return ``sweep.filter``, which is not in Hydra's grammar, and the other words."""
    filters: dict[str, list[Any]] = {}
    others = []
    for word in words:
        key, _, value = word.partition("=")
        if key.strip().lstrip("+") != FILTER.key:
            others.append(word)
        elif filters:
            raise GridError(f"{FILTER.key} is set twice; join the two conditions by 'and'")
        else:
            value = value.strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
            inside = value[1:-1] if quoted else ""
            text = inside if quoted and value[0] not in inside else value
            filters[FILTER.key] = [None if text in ("", "null") else text]
    return filters, others


def read_overrides(words: Sequence[str]) -> tuple[list[str], dict[str, list[Any] | Interval]]:
    """Return the names of experiments, and the values of every other key.

    Raises
    ------
    GridError
        A word that cannot be read, a key that nothing declares, or a key that is set twice.
    """
    experiments: list[str] = []
    axes: dict[str, list[Any] | Interval] = {}
    for k, word in enumerate(words):
        key: str
        values: list[Any] | Interval
        match = _PLAIN_KEY.fullmatch(word)
        if match and match[1] in text_keys() and (texts := plain_texts(match[2])) is not None:
            key, values = match[1], _checked(match[1], texts, word)
        else:
            key, values = _read(word, next(iter(words[k + 1 :]), ""))
        if key == "experiment":
            experiments.append(_name(one(key, {key: values}, None)))
            continue
        if key in axes:
            raise GridError(f"{key} is set twice; write all its values once: {key}=a,b")
        axes[key] = values
    return experiments, axes


def _read(word: str, following: str) -> tuple[str, list[Any] | Interval]:
    """Return the key and the values of a word in Hydra's grammar."""
    try:
        override = parse_override(word, text_keys())
    except (HydraException, ValueError, RecursionError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise GridError(_unreadable(word, following, reason)) from error
    key = override.key_or_group
    if key.split(".")[0] == "hydra":
        raise GridError(f"{word}: Hydra's own settings have no effect here; see output.dir")
    if override.type == OverrideType.DEL or override.package is not None:
        raise GridError(f"{word}: only key=value is understood here")
    if key != "experiment":
        check_key(key)
    interval = None if key in SINGLE else _interval(override.value())
    return key, _values(override) if interval is None else interval


def _unreadable(word: str, following: str, reason: str) -> str:
    """Say what is most likely wrong with a word that is not an override."""
    shown = repr(word if len(word) <= 80 else word[:80] + "…")
    key, equals, value = word.partition("=")
    if not equals:
        return f"{shown} is not key=value; write key=value or key=a,b, without blanks"
    if value.rstrip().endswith(",") and following and "=" not in following:
        return f"{shown} ends with a comma before a blank; write {word}{following} without blanks"
    if value.rstrip().endswith(",") or re.search(r",\s*,|^\s*,", value):
        return f"{shown} has a comma without a value; write {key}=a,b"
    if any(value.count(a) != value.count(b) for a, b in ("()", "[]", "{}")):
        return f"{shown} has an unpaired bracket; close it, or quote the text: '{key}=\"…\"'"
    return f"cannot read {shown} ({reason}); quote text with special characters: '{key}=\"…\"'"


@cache
def all_keys() -> frozenset[str]:
    """Return every key that can be set."""
    return frozenset({*declarations(), *SINGLE, *KIND})


def check_key(key: str) -> None:
    """Raise `GridError` for a key that nothing declares."""
    keys = all_keys()
    if key not in keys:
        if key.split(".")[0] == "grid":
            raise GridError(f"{key}: set the key itself, as in scheduler=asebf,aalo")
        last = {k.rsplit(".", 1)[-1]: k for k in sorted(keys)}
        hint = nearest(key, keys) or (f" (did you mean {last[key]!r}?)" if key in last else "")
        raise GridError(f"{key}: no such key{hint}; --help lists all keys")


def _interval(value: Any) -> Interval | None:
    """Return an ``interval()``, tagged ``log`` or not, of Hydra's grammar."""
    if not isinstance(value, IntervalSweep) or value.start is None or value.end is None:
        return None
    if unknown := sorted(map(str, value.tags - {"log"})):
        raise GridError(
            f"tag({unknown[0]},interval(…)): the only tag is log, as in tag(log,interval(1,100))"
        )
    return Interval(float(value.start), float(value.end), log="log" in value.tags)


def zip_text(value: Any) -> str:
    """Return the keys of ``sweep.zip``, a list or a list of lists, as one text."""
    if isinstance(value, ChoiceSweep):  # a,b without brackets
        value = list(value.list)
    groups = value if isinstance(value, list) else str(getattr(value, "text", value)).split(";")
    if groups and not isinstance(groups[0], list) and isinstance(value, list):
        groups = [groups]
    texts = []
    for group in groups:
        keys = group if isinstance(group, list) else group.strip("[] ").split(",")
        texts.append(",".join(str(getattr(key, "text", key)).strip() for key in keys))
    return ";".join(texts)


def _values(override: Override) -> list[Any]:
    key, word = override.key_or_group, str(override.input_line)
    value: Any = override.value()
    if key == ZIP.key:
        return [zip_text(value) if value not in (None, []) else None]
    if isinstance(value, IntervalSweep):
        raise GridError(f"{word}: {key} takes one value a run")
    if isinstance(value, Glob):
        return _matching(key, value, word)
    if override.is_sweep_override():
        _check_length(word, value)
        values = list(override.sweep_iterator(transformer=Transformer.identity))
    else:
        values = [value]
    return _checked(key, [v.text if isinstance(v, QuotedString) else v for v in values], word)


def _checked(key: str, values: list[Any], word: str) -> list[Any]:
    """Return values that are none of them empty, lists or mappings."""
    if not values or values in ([[]], [""]):
        raise no_values(word)
    for value in values:
        if value == "":
            raise GridError(f"{word!r} has a comma without a value; write {key}=a,b")
        if isinstance(value, list | dict):
            raise GridError(
                f"{word}: a list is not a value of {key}; for several values write {key}=a,b"
            )
    return values


def _matching(key: str, glob: Glob, word: str) -> list[Any]:
    """Return the names that ``glob(…)`` matches."""
    names = members_of(key) or [c for p in declarations().get(key, ()) for c in p.choices]
    if not names:
        raise GridError(f"{word}: glob() chooses among names, and {key} has none; write {key}=a,b")
    values = list(glob.filter(sorted({*names})))
    if not values:
        raise GridError(f"{word}: no name matches; allowed are {', '.join(sorted({*names}))}")
    return values


def _check_length(word: str, value: Any) -> None:
    """Refuse ranges that are endless or would fill the memory, before they are listed."""
    if isinstance(value, RangeSweep):
        start, stop, step = (float(v or 0) for v in (value.start, value.stop, value.step))
        if not all(map(math.isfinite, (start, stop, step))):
            raise GridError(f"{word}: a range has a finite start, stop and step")
        if not step:
            raise GridError(f"{word}: a range with step 0 never ends; give another step")
        if (stop - start) / step > MOST_VALUES:
            raise GridError(f"{word}: more than {MOST_VALUES} values; give a larger step")


def _name(value: Any) -> str:
    """Return the name of an experiment, which is a plain word."""
    text = str(value)
    if not text.replace("_", "").replace("-", "").replace("/", "").isalnum():
        raise GridError(f"experiment={text}: {text!r} is not a name; write +experiment=<name>")
    return text


def names_in(group: str, axes: Axes) -> Iterator[str]:
    """Yield the names of a group that an axis has; `GridError` for an unknown one."""
    values = axes[group]
    for name in [values] if isinstance(values, Interval) else values:
        check_member(group, name)
        yield str(name)


def one(key: str, axes: Axes, default: Any) -> Any:
    """Return the only value of a key; `ParameterError` where there are several."""
    values = axes.get(key, [default])
    if isinstance(values, Interval) or len(values) != 1:
        text = values if isinstance(values, Interval) else ",".join(map(str, values))
        raise ParameterError(f"{key}={text}: {key} takes one value a run; choose one")
    return values[0]
