"""Tables with several rows a point (coflows, reducers, rates), read part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from core.errors import StoreError
from sweep.store.files import Folder

_ATTEMPTS = 5


def read_details(
    path: str, name: str, columns: Sequence[str], wanted: pd.Index[str]
) -> pd.DataFrame:
    """Return some columns of a table of details, part by part, so that little is held at a time.

    Raises
    ------
    StoreError
        The dataset has no such table, or a file cannot be read.
    """
    folder = Folder.at(path)
    for attempt in range(_ATTEMPTS):
        try:
            frames = list(_parts(folder, name, ["point_id", *columns], wanted))
        except FileNotFoundError as error:  # merged between listing and reading
            if attempt == _ATTEMPTS - 1:
                raise StoreError(f"{folder.shown}: files vanish while it is read") from error
        else:
            break
    if not frames:
        setting = "output.coflows" if name == "coflows" else "output.reducers"
        raise StoreError(f"{folder.shown} has no {name}: run it with {setting}=true")
    return pd.concat(frames, ignore_index=True)


def _parts(
    folder: Folder, name: str, columns: list[str], wanted: pd.Index[str]
) -> Iterator[pd.DataFrame]:
    for part in folder.settled_parts(name):
        ids = folder.read_table(part, ["point_id"]).to_pandas()["point_id"]
        codes, unique = pd.factorize(ids)
        kept = unique.isin(wanted)[codes]
        if kept.any():
            yield folder.read_table(part, columns).to_pandas()[kept]
        else:
            yield pd.DataFrame(columns=columns).astype({"point_id": str})
