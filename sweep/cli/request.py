"""A request: what the command line and configuration files ask for together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from core.errors import GridError
from core.keys import KIND
from core.parameters import Value
from sweep.cli.compose import base_values, check_experiments, composed, grid_of_files, hydra_ready
from sweep.cli.options import FILTER, METHOD, OPTIONS, SAMPLE, ZIP
from sweep.cli.overrides import GROUPS, SINGLE, filter_of, names_in, one, read_overrides, zip_text
from sweep.grid.axes import Shape
from sweep.grid.grid import Grid, declarations


def read_request(
    words: Sequence[str], config_name: str = "config", config_dir: str | None = None
) -> tuple[Grid, dict[str, Value]]:
    """Return the grid and the checked options that a command line asks for.

    Parameters
    ----------
    words : sequence of str
        Overrides ``key=value``.
    config_name : str
        File that is composed.
    config_dir : str, optional
        Directory of the user's own configuration files.

    Raises
    ------
    InputError
        A word or a file that cannot be read, an unknown key or name, an option that is not
        allowed.
    """
    filters, others = filter_of(words)
    experiments, overrides = read_overrides(others)
    overrides |= filters
    with hydra_ready(config_dir):
        check_experiments(experiments, config_dir)
        added = [f"+experiment={name}" for name in experiments]
        chosen = [f"{g}={next(names_in(g, overrides))}" for g in GROUPS if g in overrides]
        first = composed(config_name, [*added, *chosen])
        file_axes = grid_of_files(first)
        axes = {k: v for k, v in file_axes.items() if k not in overrides} | overrides
        for name in KIND:
            axes.setdefault(name, [first.hydra.runtime.choices.get(name, "asebf")])
        bases = {
            (engine, workload): base_values(
                composed(config_name, [*added, f"engine={engine}", f"workload={workload}"])
            )
            for engine, workload in product(names_in("engine", axes), names_in("workload", axes))
        }
    base = dict(next(iter(bases.values())))
    if isinstance(base.get(ZIP.key), list):  # of a file
        base[ZIP.key] = zip_text(base[ZIP.key]) or None
    options = {key: p.check(one(key, overrides, base.get(key))) for key, p in SINGLE.items()}
    _check_options(options, overrides)
    requested = {*overrides} - {p.key for p in OPTIONS} | {*file_axes} | _changed(bases.values())
    grid = Grid(
        axes={key: values for key, values in axes.items() if key not in SINGLE},
        bases=bases,
        requested=frozenset(requested),
        seed=base.get("seed"),
        replicates=options.pop("replicates"),
        shape=_shape(options),
    )
    return grid, options


def _check_options(options: dict[str, Value], overrides: Mapping[str, Any]) -> None:
    """Check options beside each other, and expand ``~`` in the output directory."""
    for key in overrides:
        if key.startswith("ray.") and options["executor"] == "local":
            raise GridError(f"{key}: executor=local does not read it; leave one of the two out")
    directory = options["output.dir"]
    if isinstance(directory, str) and directory.startswith("~"):
        try:
            options["output.dir"] = str(Path(directory).expanduser())
        except RuntimeError as error:
            raise GridError(f"output.dir={directory}: {error}; give the whole path") from error


def _shape(options: Mapping[str, Any]) -> Shape:
    text = options[ZIP.key]
    zipped = tuple(tuple(group.split(",")) for group in text.split(";")) if text else ()
    if options[SAMPLE.key] is None and options[METHOD.key] != METHOD.default:
        raise GridError(
            f"{METHOD.key}={options[METHOD.key]} needs {SAMPLE.key}; add {SAMPLE.key}=<draws>"
        )
    return Shape(zipped, options[FILTER.key], options[SAMPLE.key], options[METHOD.key])


def _changed(bases: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the keys that configuration files set to something else than any default."""
    declared = declarations()
    return {
        key
        for base in bases
        for key, value in base.items()
        if key in declared and value not in (None, *(p.default for p in declared[key]))
    }
