"""Words of the command line, in Hydra's grammar."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
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

from core import registry
from core.engine import Engine
from core.errors import GridError, ParameterError, nearest
from core.schedulers import schedulers
from core.workloads import Workload, workloads
from sweep.cli.options import FILTER, OPTIONS, REPLICATES, ZIP
from sweep.grid.axes import Axes, Interval
from sweep.grid.grid import declarations

GROUPS = ("engine", "workload")
MOST_VALUES = 1_000_000
"""Values of an axis."""
SINGLE = {p.key: p for p in (*OPTIONS, REPLICATES)}


def filter_words(overrides: Sequence[str]) -> tuple[dict[str, list[Any]], list[str]]:
    """Return ``sweep.filter`` as it stands, which is not in Hydra's grammar, and the rest."""
    given: dict[str, list[Any]] = {}
    others = []
    for text in overrides:
        key, _, value = text.partition("=")
        if key.strip().lstrip("+") != FILTER.key:
            others.append(text)
        elif given:
            raise GridError(f"{FILTER.key} is given twice; join the conditions by 'and'")
        else:
            value = value.strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
            inside = value[1:-1] if quoted else ""
            text = inside if quoted and value[0] not in inside else value
            given[FILTER.key] = [None if text in ("", "null") else text]
    return given, others


def parsed(overrides: Sequence[str]) -> list[Override]:
    """Return what Hydra's grammar makes of words; a word that it cannot read is a `GridError`."""
    parser = OverridesParser.create()
    parsed = []
    for text in overrides:
        try:
            parsed.append(parser.parse_override(text))
        except (HydraException, ValueError, RecursionError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
            raise GridError(f"cannot read {text[:80]!r}: {_hint(text)} ({reason})") from error
    return parsed


def _hint(text: str) -> str:
    """Say what is most likely wrong with text that is not an override."""
    if "=" not in text:
        return "write key=value or key=a,b, without blanks around = and commas"
    if text.endswith(",") or ",," in text or "=," in text:
        return "a comma without a value; write key=a,b without blanks"
    return "quote text with special characters, as in 'key=\"…\"'"


def split(overrides: Sequence[Override]) -> tuple[list[str], dict[str, list[Any] | Interval]]:
    """Return the experiments as Hydra wants them, and the values of every other key."""
    experiments: list[str] = []
    given: dict[str, list[Any] | Interval] = {}
    for override in overrides:
        key = override.key_or_group
        text = override.input_line or key
        if key.split(".")[0] == "hydra":
            raise GridError(f"{text}: Hydra's own settings have no effect here; see output.dir")
        if override.type == OverrideType.DEL or override.package is not None:
            raise GridError(f"{text}: only key=value is understood here")
        if key == "experiment":
            experiments.append(f"+experiment={_name(one(key, {key: _values(override)}, None))}")
            continue
        check_key(key)
        if key in given:
            raise GridError(f"{key} is given twice; write all its values once: {key}=a,b")
        interval = None if key in SINGLE else _interval(override.value())
        given[key] = _values(override) if interval is None else interval
    return experiments, given


def check_key(key: str) -> None:
    """Raise `GridError` for a key that nobody knows."""
    known = {*declarations(), *SINGLE, "scheduler", *GROUPS}
    if key not in known:
        if key.split(".")[0] == "grid":
            raise GridError(f"{key}: set the key itself, as in scheduler=asebf,aalo")
        last = {k.rsplit(".", 1)[-1]: k for k in sorted(known)}
        hint = nearest(key, known) or (f" (did you mean {last[key]!r}?)" if key in last else "")
        raise GridError(f"{key}: no such key{hint}; --help lists all keys")


def _interval(value: Any) -> Interval | None:
    """Return an ``interval()``, tagged ``log`` or not, of Hydra's grammar."""
    if not isinstance(value, IntervalSweep) or value.start is None or value.end is None:
        return None
    return Interval(float(value.start), float(value.end), log="log" in value.tags)


def zip_text(value: Any) -> str:
    """Return the keys of ``sweep.zip``, a list or a list of lists, as one text."""
    if isinstance(value, ChoiceSweep):  # a,b without brackets
        value = list(value.list)
    groups = value if isinstance(value, list) else str(getattr(value, "text", value)).split(";")
    if groups and not isinstance(groups[0], list) and isinstance(value, list):
        groups = [groups]
    found = []
    for group in groups:
        keys = group if isinstance(group, list) else group.strip("[] ").split(",")
        found.append(",".join(str(getattr(key, "text", key)).strip() for key in keys))
    return ";".join(found)


def _values(override: Override) -> list[Any]:
    key = override.key_or_group
    value = override.value()
    if key == ZIP.key:
        return [zip_text(value) if value not in (None, []) else None]
    if isinstance(value, IntervalSweep):
        raise GridError(f"{override.input_line}: takes one value a run")
    if isinstance(value, Glob):
        names = {"scheduler": list(schedulers()), **{g: list(members_of(g)) for g in GROUPS}}
        values: list[Any] = value.filter(sorted(names.get(key, [])))
    elif override.is_sweep_override():
        _check_length(override, value)
        values = list(override.sweep_iterator(transformer=Transformer.identity))
    else:
        values = [value]
    plain = [v.text if isinstance(v, QuotedString) else v for v in values]
    if key in SINGLE and SINGLE[key].kind is str and type(value) in (bool, int, float):
        plain = [str(override.input_line).partition("=")[2]]  # a name as it was typed: 1.10
    if not plain or plain == [[]] or plain == [""]:
        raise GridError(
            f"{override.input_line}: an empty list makes no grid; give at least one value"
        )
    for v in plain:
        if isinstance(v, list | dict):
            raise GridError(
                f"{override.input_line}: a list is not a value of {key}; for several values "
                f"write {key}=a,b"
            )
    return plain


def _check_length(override: Override, value: Any) -> None:
    """Refuse ranges that are endless or would fill the memory, before they are listed."""
    if isinstance(value, RangeSweep):
        start, stop, step = (float(v or 0) for v in (value.start, value.stop, value.step))
        if not all(map(math.isfinite, (start, stop, step))):
            raise GridError(f"{override.input_line}: a range has a start, a stop and a step")
        if not step:
            raise GridError(f"{override.input_line}: a range with step 0 never ends")
        if (stop - start) / step > MOST_VALUES:
            raise GridError(f"{override.input_line}: more than {MOST_VALUES} values")


def _name(value: Any) -> str:
    """Quote a name for Hydra's grammar unless it is a plain word."""
    text = str(value)
    if not text.replace("_", "").replace("-", "").replace("/", "").isalnum():
        raise GridError(f"{text!r} is not a name")
    return text


def members_of(group: str) -> Mapping[str, Engine | Workload]:
    """Return the engines or the workloads by name."""
    return registry.engines() if group == "engine" else workloads()


def known_names(group: str, axes: Axes) -> Iterator[str]:
    """Yield the names of a group that an axis has; `GridError` for an unknown one."""
    members = members_of(group)
    values = axes[group]
    names: Sequence[Any] = [values] if isinstance(values, Interval) else values
    for name in names:
        if name not in members:
            raise GridError(
                f"{group}={name}: unknown{nearest(str(name), members)}; allowed is one of "
                + ", ".join(sorted(members))
            )
        yield name


def one(key: str, given: Axes, default: Any) -> Any:
    """Return the only value of a key; `ParameterError` where there are several."""
    values = given.get(key, [default])
    if isinstance(values, Interval) or len(values) != 1:
        text = values if isinstance(values, Interval) else ",".join(map(str, values))
        raise ParameterError(f"{key}={text}: takes one value a run")
    return values[0]
