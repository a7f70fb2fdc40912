"""The grid and the settings that a command line and configuration files ask for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from core.errors import GridError
from sweep.cli.compose import base_values, composed, grid_of_files, hydra_ready
from sweep.cli.options import FILTER, METHOD, OPTIONS, SAMPLE, ZIP
from sweep.cli.overrides import (
    GROUPS,
    SINGLE,
    filter_words,
    known_names,
    one,
    parsed,
    split,
    zip_text,
)
from sweep.grid.axes import Shape
from sweep.grid.grid import Grid, declarations


def read_request(
    overrides: Sequence[str], config_name: str = "config", config_dir: str | None = None
) -> tuple[Grid, dict[str, Any]]:
    """Return the grid and the checked settings that a command line asks for.

    Raises
    ------
    InputError
        Anything that cannot be read, is not known or has no place.
    """
    conditions, others = filter_words(overrides)
    experiments, given = split(parsed(others))
    given |= conditions
    search = []
    if config_dir is not None:
        if not os.path.isdir(config_dir):  # noqa: PTH112
            raise GridError(f"--config-dir {config_dir}: no such directory")
        search = [f"hydra.searchpath=['file://{os.path.abspath(config_dir)}']"]  # noqa: PTH100
    chosen = [f"{g}={next(known_names(g, given))}" for g in GROUPS if g in given]
    with hydra_ready():
        first = composed(config_name, [*experiments, *search, *chosen])
        file_axes = grid_of_files(first)
        axes = {k: v for k, v in file_axes.items() if k not in given} | given
        for name in ("scheduler", *GROUPS):
            axes.setdefault(name, [first.hydra.runtime.choices.get(name, "asebf")])
        bases = {
            (engine, workload): base_values(
                composed(
                    config_name,
                    [
                        *experiments,
                        *search,
                        f"engine={engine}",
                        f"workload={workload}",
                    ],
                )
            )
            for engine, workload in product(
                known_names("engine", axes), known_names("workload", axes)
            )
        }
    base = next(iter(bases.values()))
    for key in given:
        if key.startswith("ray.") and one("executor", given, base.get("executor")) == "local":
            raise GridError(f"{key}: executor=local does not read it; leave one of the two out")
    if isinstance(base.get(ZIP.key), list):  # of a file
        base[ZIP.key] = zip_text(base[ZIP.key]) or None
    settings = {key: p.check(one(key, given, base.get(key))) for key, p in SINGLE.items()}
    requested = set(given) - {p.key for p in OPTIONS} | set(file_axes) | _changed(bases.values())
    grid = Grid(
        axes={key: values for key, values in axes.items() if key not in SINGLE},
        bases=bases,
        requested=frozenset(requested),
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
