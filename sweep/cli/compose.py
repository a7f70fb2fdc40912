"""Configuration files, composed by Hydra."""

from __future__ import annotations

from typing import Any

from hydra import compose, initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from core.errors import GridError
from sweep.cli.overrides import GROUPS, SINGLE, check_key


class hydra_ready:  # noqa: N801
    """Hydra, initialised for the time of the composition."""

    def __enter__(self) -> None:
        GlobalHydra.instance().clear()
        initialize_config_module("conf", job_name="sweep", version_base="1.3").__enter__()

    def __exit__(self, *_: object) -> None:
        GlobalHydra.instance().clear()


def composed(config_name: str, overrides: list[str]) -> DictConfig:
    """Return a configuration; whatever a file breaks is a `GridError`."""
    try:
        config = compose(config_name, overrides=overrides, return_hydra_config=True)
        OmegaConf.resolve(config.get("grid", OmegaConf.create()))
    except Exception as error:  # a file can break Hydra, OmegaConf and YAML in any way
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        said = " ".join(lines) or type(error).__name__
        raise GridError(f"configuration: {said[:500]}") from error
    return config


def grid_of_files(config: DictConfig) -> dict[str, list[Any]]:
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
                check_key(name)
                grid[name] = value if isinstance(value, list) else [value]
                if name in SINGLE:
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


def base_values(config: DictConfig) -> dict[str, Any]:
    """Return every value of a composed configuration by key; unknown keys are errors."""
    found: dict[str, Any] = {}

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
                found[name] = value

    names = [str(k) for k in config if k not in ("hydra", "grid")]
    walk(_plain(OmegaConf.masked_copy(config, names)), "")
    return found
