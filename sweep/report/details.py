"""Tables with several rows a point (coflows, reducers, rates), read part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from sweep.store.files import Folder
from sweep.store.moves import settled_parts
from sweep.store.reader import no_details, read_settled


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
    frames = read_settled(
        folder, lambda: list(_parts(folder, name, ["point_id", *columns], wanted))
    )
    if not frames:
        raise no_details(folder, name)
    return pd.concat(frames, ignore_index=True)


def _parts(
    folder: Folder, name: str, columns: list[str], wanted: pd.Index[str]
) -> Iterator[pd.DataFrame]:
    for part in settled_parts(folder, name):
        ids = folder.read_table(part, ["point_id"]).to_pandas()["point_id"]
        codes, unique = pd.factorize(ids)
        kept = unique.isin(wanted)[codes]
        if kept.any():
            yield folder.read_table(part, columns).to_pandas()[kept]
        else:
            yield pd.DataFrame(columns=columns).astype({"point_id": str})
