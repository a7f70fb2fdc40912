"""The command line: Hydra's grammar and configuration, without its composition per point.

The only importer of Hydra. A configuration is composed once per combination of groups; values
are set in memory by `sweep.plan`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import hydra
from hydra import compose, initialize_config_module
from hydra._internal.utils import get_args_parser
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import (
    Glob,
    IntervalSweep,
    Override,
    OverrideType,
    QuotedString,
    RangeSweep,
    Transformer,
)
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from core import registry
from core.engine import Engine
from core.errors import GridError, InputError, ParameterError, nearest
from core.parameters import Parameter, Value
from core.schedulers import schedulers
from core.workloads import Workload, workloads
from sweep import __version__
from sweep.grid import Grid, declarations
from sweep.help import help_text
from sweep.rows import Axes, Interval, Shape
from sweep.settings import FILTER, METHOD, REPLICATES, SAMPLE, SEED, SETTINGS, ZIP

GROUPS = ("engine", "workload")
MOST_VALUES = 1_000_000
"""Values of an axis, and rows of a grid."""
_ASKS_HYDRA = ("help", "hydra_help", "cfg", "info", "shell_completion")
_SINGLE = {p.key: p for p in (*SETTINGS, REPLICATES)}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, 1 (points failed), 2 (bad input) or 130 (interrupted)."""
    words = list(sys.argv[1:] if argv is None else argv)
    register()
    if "--version" in words:
        print(f"coflow-sweep {__version__} (Hydra {hydra.__version__})")
        return 0
    arguments = get_args_parser().parse_args(words)
    if any(getattr(arguments, name, None) for name in _ASKS_HYDRA):
        return _ask_hydra(words, arguments.overrides)
    try:
        if arguments.config_path or arguments.experimental_rerun:
            raise GridError(
                "--config-path and --experimental-rerun have no place here; your own "
                "experiments are found with --config-dir"
            )
        request = read_request(
            arguments.overrides,
            config_name=arguments.config_name or "config",
            config_dir=arguments.config_dir,
        )
        from sweep.run import run

        return run(*request, command=["python", "-m", "sweep", *words])
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def register() -> None:
    """Tell Hydra of every parameter, engine and workload, as declared."""
    store = ConfigStore.instance()
    top: dict[str, Any] = {}
    for parameter in (SEED, REPLICATES, *SETTINGS, *registry.parameters().values()):
        if not parameter.key.startswith(tuple(f"{g}." for g in GROUPS)):
            _set(top, parameter.key, _default(parameter))
    store.store(name="parameters", node=OmegaConf.create(top))
    for group in GROUPS:
        for name, record in _members(group).items():
            node: dict[str, Any] = {}
            for parameter in record.parameters:
                if parameter.key.startswith(f"{group}."):
                    _set(node, parameter.key.removeprefix(f"{group}."), parameter.default)
            store.store(group=group, name=name, node=OmegaConf.create(node))
    OmegaConf.register_new_resolver("coflow_sweep_help", help_text, replace=True)


def _default(parameter: Parameter) -> Value:
    """Return the default of a key; None, which is each reader's own, where they differ."""
    declared = declarations().get(parameter.key, [parameter])
    return parameter.default if len({p.default for p in declared}) == 1 else None


def _set(tree: dict[str, Any], key: str, value: Any) -> None:
    *parents, leaf = key.split(".")
    for parent in parents:
        tree = tree.setdefault(parent, {})
    tree[leaf] = value


def _ask_hydra(words: list[str], overrides: Sequence[str]) -> int:
    """Let Hydra answer --help, --cfg, --info and the like; a grid is shown by its first point."""
    shown = {o: _first(o) for o in overrides}
    shown |= {o: f"+{f}" for o, f in shown.items() if f.startswith("scheduler=")}
    if "--help" in words or "-h" in words:
        words = ["--help"]  # Hydra would compose what is asked for first
    sys.argv = [sys.argv[0], *(shown.get(w, w) for w in words)]

    @hydra.main(version_base="1.3", config_path="pkg://conf", config_name="config")
    def answer(_: DictConfig) -> None:
        """Never reached: Hydra answers and leaves."""

    answer()
    return 0


def _first(text: str) -> str:
    try:
        override = OverridesParser.create().parse_override(text)
        if override.is_sweep_override():
            return f"{text.split('=', 1)[0]}={next(override.sweep_string_iterator())}"
    except (HydraException, StopIteration):
        pass
    return text


def read_request(
    overrides: Sequence[str], config_name: str = "config", config_dir: str | None = None
) -> tuple[Grid, dict[str, Any]]:
    """Return the grid and the checked settings that a command line asks for.

    Raises
    ------
    InputError
        Anything that cannot be read, is not known or has no place.
    """
    conditions, others = _conditions(overrides)
    experiments, given = _split(_parsed(others))
    given |= conditions
    search = []
    if config_dir is not None:
        if not os.path.isdir(config_dir):  # noqa: PTH112
            raise GridError(f"--config-dir {config_dir}: no such directory")
        search = [f"hydra.searchpath=['file://{os.path.abspath(config_dir)}']"]  # noqa: PTH100
    chosen = [f"{g}={next(_known(g, given))}" for g in GROUPS if g in given]
    with _hydra():
        first = _compose(config_name, [*experiments, *search, *chosen])
        file_grid = _file_grid(first)
        axes = {k: v for k, v in file_grid.items() if k not in given} | given
        for name in ("scheduler", *GROUPS):
            axes.setdefault(name, [first.hydra.runtime.choices.get(name, "asebf")])
        bases = {
            (engine, workload): _base(
                _compose(
                    config_name,
                    [
                        *experiments,
                        *search,
                        f"engine={engine}",
                        f"workload={workload}",
                    ],
                )
            )
            for engine, workload in product(_known("engine", axes), _known("workload", axes))
        }
    base = next(iter(bases.values()))
    for key in given:
        if key.startswith("ray.") and _one("executor", given, base.get("executor")) == "local":
            raise GridError(f"{key}: executor=local does not read it; leave one of the two out")
    if isinstance(base.get(ZIP.key), list):  # of a file
        base[ZIP.key] = _zip_text(base[ZIP.key])
    settings = {key: p.check(_one(key, given, base.get(key))) for key, p in _SINGLE.items()}
    asked = set(given) - {p.key for p in SETTINGS} | set(file_grid) | _changed(bases.values())
    grid = Grid(
        axes={key: values for key, values in axes.items() if key not in _SINGLE},
        bases=bases,
        given=frozenset(asked),
        seed=base.get("seed"),
        replicates=settings.pop("replicates"),
        shape=_shape(settings),
    )
    return grid, settings


def _shape(settings: Mapping[str, Any]) -> Shape:
    text = settings[ZIP.key]
    zipped = tuple(tuple(group.split(",")) for group in text.split(";")) if text else ()
    if settings[SAMPLE.key] is None and settings[METHOD.key] != METHOD.default:
        raise GridError(f"{METHOD.key}={settings[METHOD.key]} needs {SAMPLE.key}=<rows>")
    return Shape(zipped, settings[FILTER.key], settings[SAMPLE.key], settings[METHOD.key])


def _changed(bases: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the keys that configuration files set to something else than any default."""
    known = declarations()
    return {
        key
        for base in bases
        for key, value in base.items()
        if key in known and value not in (None, *(p.default for p in known[key]))
    }


def _conditions(overrides: Sequence[str]) -> tuple[dict[str, list[Any]], list[str]]:
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
            given[FILTER.key] = [inside if quoted and value[0] not in inside else value]
    return given, others


def _parsed(overrides: Sequence[str]) -> list[Override]:
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


def _split(overrides: Sequence[Override]) -> tuple[list[str], dict[str, list[Any] | Interval]]:
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
            experiments.append(f"+experiment={_name(_one(key, {key: _values(override)}, None))}")
            continue
        _check_key(key)
        if key in given:
            raise GridError(f"{key} is given twice; write all its values once: {key}=a,b")
        interval = None if key in _SINGLE else _interval(override.value())
        given[key] = _values(override) if interval is None else interval
    return experiments, given


def _check_key(key: str) -> None:
    known = {*declarations(), *_SINGLE, "scheduler", *GROUPS}
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


def _zip_text(value: Any) -> str:
    """Return the keys of ``sweep.zip``, a list or a list of lists, as one text."""
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
        return [_zip_text(value)]
    if isinstance(value, IntervalSweep):
        raise GridError(f"{override.input_line}: takes one value a run")
    if isinstance(value, Glob):
        names = {"scheduler": list(schedulers()), **{g: list(_members(g)) for g in GROUPS}}
        values: list[Any] = value.filter(sorted(names.get(key, [])))
    elif override.is_sweep_override():
        _check_length(override, value)
        values = list(override.sweep_iterator(transformer=Transformer.identity))
    else:
        values = [value]
    plain = [v.text if isinstance(v, QuotedString) else v for v in values]
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


def _members(group: str) -> Mapping[str, Engine | Workload]:
    return registry.engines() if group == "engine" else workloads()


def _known(group: str, axes: Axes) -> Iterator[str]:
    members = _members(group)
    values = axes[group]
    names: Sequence[Any] = [values] if isinstance(values, Interval) else values
    for name in names:
        if name not in members:
            raise GridError(
                f"{group}={name}: unknown{nearest(str(name), members)}; allowed is one of "
                + ", ".join(sorted(members))
            )
        yield name


def _one(key: str, given: Axes, default: Any) -> Any:
    values = given.get(key, [default])
    if isinstance(values, Interval) or len(values) != 1:
        text = values if isinstance(values, Interval) else ",".join(map(str, values))
        raise ParameterError(f"{key}={text}: takes one value a run")
    return values[0]


class _hydra:  # noqa: N801
    """Hydra, initialised for the time of the composition."""

    def __enter__(self) -> None:
        GlobalHydra.instance().clear()
        initialize_config_module("conf", job_name="sweep", version_base="1.3").__enter__()

    def __exit__(self, *_: object) -> None:
        GlobalHydra.instance().clear()


def _compose(config_name: str, overrides: list[str]) -> DictConfig:
    try:
        config = compose(config_name, overrides=overrides, return_hydra_config=True)
        OmegaConf.resolve(config.get("grid", OmegaConf.create()))
    except Exception as error:  # a file can break Hydra, OmegaConf and YAML in any way
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = " ".join(lines) or type(error).__name__
        raise GridError(f"configuration: {said[:500]}") from error
    return config


def _file_grid(config: DictConfig) -> dict[str, list[Any]]:
    """Return the axes of the configuration files: ``grid:`` maps a key to its values."""
    grid: dict[str, list[Any]] = {}

    def walk(node: Any, prefix: str) -> None:
        for key, value in node.items():
            name = f"{prefix}{key}"
            if isinstance(value, dict):
                walk(value, f"{name}.")
            elif name in grid:
                raise GridError(f"grid: {name} is given twice")
            else:
                _check_key(name)
                grid[name] = value if isinstance(value, list) else [value]
                if name in _SINGLE:
                    raise GridError(f"grid: {name} takes one value a run; set it outside the grid")
                if any(isinstance(v, list | dict) for v in grid[name]):
                    raise GridError(f"grid: {name}: a list is not a value; {value}")

    tree = _plain(config.get("grid") or OmegaConf.create())
    if not isinstance(tree, dict):
        raise GridError(f"grid: {tree} is not a mapping of keys to lists of values")
    walk(tree, "")
    return grid


def _plain(node: Any) -> Any:
    """Return a configuration as dicts and lists, every reference in it resolved."""
    try:
        return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node
    except (OmegaConfBaseException, RecursionError) as error:
        said = str(error).splitlines() or [type(error).__name__]
        raise GridError(f"configuration: {said[0][:500]}") from error


def _base(config: DictConfig) -> dict[str, Any]:
    """Return every value of a composed configuration by key; unknown keys are errors."""
    found: dict[str, Any] = {}

    def walk(node: Any, prefix: str) -> None:
        for key, value in node.items():
            name = f"{prefix}{key}"
            if isinstance(value, dict):
                walk(value, f"{name}.")
            else:
                _check_key(name)
                if name in ("scheduler", *GROUPS):
                    raise GridError(
                        f"{name}: {value} in a configuration file has no effect; put it under "
                        f"grid: as {name}: [{value}]"
                    )
                found[name] = value

    names = [str(k) for k in config if k not in ("hydra", "grid")]
    walk(_plain(OmegaConf.masked_copy(config, names)), "")
    return found
