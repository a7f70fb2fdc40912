"""`load`: the grid joined with its results, as a pandas table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from core.errors import StoreError
from sweep.store.files import MANIFEST, POINTS, RESULTS, Folder
from sweep.store.moves import settled_parts
from sweep.store.schema import OUTCOME, check_version, check_version_number

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

_ATTEMPTS = 5


def load(
    path: str | os.PathLike[str] = "outputs/latest",
    *,
    coflows: bool = False,
    reducers: bool = False,
    rates: bool = False,
) -> pd.DataFrame:
    """Return a dataset as a pandas table, also while a sweep is writing it.

    Parameters
    ----------
    path : str or path-like
        The directory of the dataset, or a URI of a filesystem that pyarrow knows.
    coflows, reducers, rates : bool
        One row per point and coflow instead, per point, job and bucket, or per point, job and
        sampling rate, with the parameters that the point has read.

    Returns
    -------
    pandas.DataFrame
        One row per row of the grid, in its order: the parameters as requested, then the results
        of the point; those are missing where the point has not run yet. Whole numbers stay whole
        numbers: a column of them that lacks a value has the type Int64.

    Raises
    ------
    StoreError
        No dataset, no results yet, no such rows, another schema version, a damaged file.
    ValueError
        More than one of the three.

    Examples
    --------
    >>> table = load("outputs/latest")  # doctest: +SKIP
    >>> table.groupby("scheduler")["mean_cct_s"].min()  # doctest: +SKIP
    """
    flags = {"coflows": coflows, "reducers": reducers, "rates": rates}
    details = [table for table, flag in flags.items() if flag]
    if len(details) > 1:
        raise ValueError(f"load() returns one table: {' or '.join(details)}")
    folder = Folder.at(path)
    if MANIFEST not in (names := folder.names()) and POINTS not in names and RESULTS not in names:
        problem = "is not a dataset" if names else "does not exist or is empty"
        raise StoreError(
            f"{folder.shown} {problem}: it has no {MANIFEST}; pass the output.dir of a sweep"
        )
    if MANIFEST in names:
        parse_manifest(folder)
    return _pandas(
        read_settled(
            folder,
            lambda: _details(folder, details[0]) if details else _grid(folder, POINTS in names),
        )
    )


def read_settled(folder: Folder, read: Callable[[], T]) -> T:
    """Return what `read` returns, trying again while a sweep replaces the files that it reads.

    Raises
    ------
    StoreError
        The files kept changing.
    """
    for _ in range(_ATTEMPTS):
        try:
            return read()
        except FileNotFoundError:  # a part was replaced between listing and reading
            continue
    raise StoreError(
        f"{folder.shown}: its files kept changing while being read; wait for the sweep that "
        "writes it, then try again"
    )


def no_details(folder: Folder, table: str) -> StoreError:
    """Return the error of a dataset without a table of details."""
    option = "output.coflows" if table == "coflows" else "output.reducers"
    return StoreError(f"{folder.shown} has no {table}: run its sweep with {option}=true")


def read_results(
    path: str | os.PathLike[str],
    *,
    columns: list[str] | None = None,
    ids: Collection[str] | None = None,
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of results, some thousand at a time, the newest first.

    Parameters
    ----------
    path : str or path-like
    columns : list of str, optional
        By default all.
    ids : collection of str, optional
        Rows of these points only.

    Raises
    ------
    StoreError
        A part is damaged or of another schema version.
    """
    folder = Folder.at(path)
    for part in reversed(folder.parts(RESULTS).values()):
        table = folder.read_table(part, columns)
        check_version(table.schema, folder.show(part))
        if ids is not None:
            wanted = pa.array(ids, pa.string())
            table = table.filter(pc.is_in(table["point_id"], value_set=wanted))
        for batch in table.to_batches(max_chunksize=2000):
            yield batch.to_pylist()


def read_manifest(path: str | os.PathLike[str] = "outputs/latest") -> dict[str, Any]:
    """Return ``manifest.json`` of a dataset."""
    return parse_manifest(Folder.at(path))


def parse_manifest(folder: Folder) -> dict[str, Any]:
    """Return ``manifest.json`` of a folder.

    Raises
    ------
    StoreError
        It is missing, not a dataset's, or of another schema version.
    """
    shown = folder.show(MANIFEST)
    try:
        manifest = json.loads(folder.read(MANIFEST))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{shown} is not JSON ({error}): it is not a dataset's") from error
    version = manifest.get("schema_version") if isinstance(manifest, dict) else None
    check_version_number(version, shown)
    return dict(manifest)


def _grid(folder: Folder, planned: bool) -> pa.Table:
    if not planned:
        raise StoreError(f"{folder.shown} has no {POINTS} yet: the sweep has only begun")
    results = _results(folder)
    points = folder.read_table(POINTS)
    check_version(points.schema, folder.show(POINTS))
    joined = results.take(pc.index_in(points["point_id"], value_set=results["point_id"]))
    for field in joined.schema:
        if field.name not in points.schema.names:
            points = points.append_column(field, joined[field.name])
    return points


def _details(folder: Folder, table: str) -> pa.Table:
    results = _results(folder).filter(pc.field("status") == "ok")
    if POINTS in folder.names():  # not those that an edited file has replaced
        points = folder.read_table(POINTS, ["point_id"])["point_id"]
        results = results.filter(pc.is_in(results["point_id"], value_set=points))
    details = _all(folder, table)
    if details is None:
        raise no_details(folder, table)
    which = pc.index_in(details["point_id"], value_set=results["point_id"])
    details, which = details.filter(pc.is_valid(which)), which.drop_null()
    names = details.schema.names[1:]
    parameters = [n for n in results.schema.names if n not in ("point_id", *OUTCOME, *names)]
    columns = [details["point_id"], *results.select(parameters).take(which).columns]
    return pa.Table.from_arrays([*columns, *details.columns[1:]], ["point_id", *parameters, *names])


def _results(folder: Folder) -> pa.Table:
    results = _all(folder, RESULTS)
    if results is None:
        raise StoreError(f"{folder.shown} has no results yet: no point is finished")
    return results


def _all(folder: Folder, name: str) -> pa.Table | None:
    """Return all parts as one table, the newest first."""
    tables = []
    names = settled_parts(folder, name)
    for part in reversed(names):
        tables.append(folder.read_table(part))
        check_version(tables[-1].schema, folder.show(part))
    if not set(names) <= set(settled_parts(folder, name)):
        raise FileNotFoundError  # merged meanwhile: what was read may hold rows twice
    return pa.concat_tables(tables, promote_options="default") if tables else None


def _pandas(table: pa.Table) -> pd.DataFrame:
    import pandas as pd

    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    names = table.schema.names
    lacking = [n for n in names if table[n].type in nullable and table[n].null_count]
    whole = table.drop_columns(lacking).to_pandas(ignore_metadata=True)
    rest = table.select(lacking).to_pandas(ignore_metadata=True, types_mapper=nullable.get)
    frame: pd.DataFrame = pd.concat([whole, rest], axis=1)[names]
    return frame
