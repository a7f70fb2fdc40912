"""Configuration files, composed by Hydra."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra import compose, version
from hydra._internal.hydra import Hydra
from hydra._internal.sources_registry import SourcesRegistry
from hydra._internal.utils import create_config_search_path
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from core.errors import GridError, nearest
from core.keys import parameters
from core.parameters import Parameter, Value
from sweep.cli.files import CONF, SCHEME, YamlFiles
from sweep.cli.options import OPTIONS, REPLICATES, SEED
from sweep.cli.overrides import GROUPS, SINGLE, check_key
from sweep.grid.grid import declarations, members_of, no_values


def register() -> None:
    """Tell Hydra of every parameter, engine and workload, as declared."""
    store = ConfigStore.instance()
    top: dict[str, Any] = {}
    for parameter in (SEED, REPLICATES, *OPTIONS, *parameters().values()):
        if not parameter.key.startswith(tuple(f"{g}." for g in GROUPS)):
            _set(top, parameter.key, _default(parameter))
    store.store(name="parameters", node=OmegaConf.create(top))
    for group in GROUPS:
        for name, record in members_of(group).items():
            node: dict[str, Any] = {}
            for parameter in record.parameters:
                if parameter.key.startswith(f"{group}."):
                    _set(node, parameter.key.removeprefix(f"{group}."), parameter.default)
            store.store(group=group, name=name, node=OmegaConf.create(node))


def _default(parameter: Parameter) -> Value:
    """Return the default of a key; None, which is each reader's own, where they differ."""
    declared = declarations().get(parameter.key, [parameter])
    return parameter.default if len({p.default for p in declared}) == 1 else None


def _set(tree: dict[str, Any], key: str, value: Any) -> None:
    *parents, leaf = key.split(".")
    for parent in parents:
        tree = tree.setdefault(parent, {})
    tree[leaf] = value


@contextmanager
def hydra_ready(config_dir: str | None = None) -> Iterator[None]:
    """Initialise Hydra for the time of the composition.

    Parameters
    ----------
    config_dir : str, optional
        Directory of the user's own files, searched after those of the package.
    """
    if config_dir is not None and not Path(config_dir).is_dir():
        raise GridError(f"--config-dir {config_dir}: no such directory; give one that exists")
    register()
    Plugins.instance()
    SourcesRegistry.instance().register(YamlFiles)
    search_path = create_config_search_path(f"{SCHEME}://{CONF}")
    if config_dir is not None:
        own_files = f"{SCHEME}://{Path(config_dir).resolve()}"
        search_path.prepend("--config-dir", own_files, anchor="schema")  # which has to be last
    version.setbase("1.3")
    GlobalHydra.instance().clear()
    Hydra.create_main_hydra2("sweep", search_path)
    try:
        yield
    finally:
        GlobalHydra.instance().clear()


def check_experiments(names: Sequence[str], config_dir: str | None) -> None:
    """Raise `GridError` for an experiment without a file."""
    roots = [CONF / "experiment", *([Path(config_dir) / "experiment"] if config_dir else [])]
    files = {
        str(path.relative_to(root).with_suffix(""))
        for root in roots
        for path in root.rglob("*.yaml")
    }
    for name in names:
        if name not in files:
            raise GridError(
                f"experiment={name}: no such file{nearest(name, files)}; allowed are "
                f"{', '.join(sorted(files))}, and NAME of DIR/experiment/NAME.yaml with "
                "--config-dir DIR"
            )


def composed(config_name: str, overrides: list[str]) -> DictConfig:
    """Return a configuration; whatever a file breaks is a `GridError`."""
    try:
        config = compose(config_name, overrides=overrides, return_hydra_config=True)
        OmegaConf.resolve(config.get("grid", OmegaConf.create()))
    except GridError:
        raise
    except Exception as error:  # a file can break Hydra, OmegaConf and YAML in any way
        raise _broken(error) from error
    return config


def _broken(error: Exception) -> GridError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = " ".join(lines) or type(error).__name__
    return GridError(f"the configuration files cannot be combined: {reason[:500]}")


def grid_of_files(config: DictConfig) -> dict[str, list[Any]]:
    """Return the axes of the configuration files: ``grid:`` maps a key to its values."""
    grid: dict[str, list[Any]] = {}

    def walk(node: Any, prefix: str) -> None:
        for key, value in node.items():
            name = f"{prefix}{key}"
            if isinstance(value, dict):
                walk(value, f"{name}.")
            elif name in grid:
                raise GridError(f"grid: {name} is set twice; keep one of the two")
            else:
                check_key(name)
                grid[name] = value if isinstance(value, list) else [value]
                if name in SINGLE:
                    raise GridError(f"grid: {name} takes one value a run; set it outside the grid")
                if not grid[name]:
                    raise no_values(f"grid: {name}: []")
                if any(isinstance(v, list | dict) for v in grid[name]):
                    raise GridError(
                        f"grid: {name}: {value} has a list as a value; write {name}: [a, b]"
                    )

    tree = _plain(config.get("grid") or OmegaConf.create())
    if not isinstance(tree, dict):
        raise GridError(
            f"grid: {tree} is not a mapping; write a key and its values, as base: [2, 4]"
        )
    walk(tree, "")
    return grid


def _plain(node: Any) -> Any:
    """Return a configuration as dicts and lists, every reference in it resolved."""
    try:
        return OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else node
    except (OmegaConfBaseException, RecursionError) as error:
        raise _broken(error) from error


def base_values(config: DictConfig) -> dict[str, Any]:
    """Return every value of a composed configuration by key; unknown keys are errors."""
    values: dict[str, Any] = {}

    def walk(node: Any, prefix: str) -> None:
        for key, value in node.items():
            name = f"{prefix}{key}"
            if isinstance(value, dict):
                walk(value, f"{name}.")
            else:
                check_key(name)
                if name in ("scheduler", *GROUPS):
                    raise GridError(
                        f"{name}: {value} in a configuration file has no effect; put it under "
                        f"grid: as {name}: [{value}]"
                    )
                values[name] = value

    names = [str(k) for k in config if k not in ("hydra", "grid")]
    walk(_plain(OmegaConf.masked_copy(config, names)), "")
    return values
