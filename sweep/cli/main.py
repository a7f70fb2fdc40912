"""The command line: Hydra's grammar and configuration, without its composition per point.

The only importer of Hydra. A configuration is composed once per combination of groups; values
are set in memory by `sweep.grid.plan`.

=====================  ============================================
`sweep.cli.overrides`  words of the command line: keys and values
`sweep.cli.compose`    configuration files, by Hydra
`sweep.cli.request`    the grid and the settings that both ask for
=====================  ============================================
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from core.errors import GridError, InputError
from core.keys import parameters
from core.parameters import Parameter, Value
from sweep import __version__
from sweep.cli.help import help_text
from sweep.cli.options import OPTIONS, REPLICATES, SEED
from sweep.cli.overrides import GROUPS, members_of
from sweep.cli.request import read_request
from sweep.grid.grid import declarations

__all__ = ["main", "read_request", "register"]

_ASKS_HYDRA = ("help", "hydra_help", "cfg", "info", "shell_completion")


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
        from sweep.execution.driver import run_sweep

        return run_sweep(*request, command=["python", "-m", "sweep", *words])
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


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
