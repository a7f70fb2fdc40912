"""A table of keys and counts from a user's CSV or Parquet file."""

from __future__ import annotations

import hashlib
import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.errors import ShuffleError, nearest
from core.workloads._files import read_bytes

if TYPE_CHECKING:
    import pandas as pd

_PARQUET = b"PAR1"


@dataclass(frozen=True, eq=False)
class KeyTable:
    """Keys (text or whole numbers) and their counts, shapes (K,), with the file's hash."""

    name: str
    sha256: str
    keys: npt.NDArray[Any]
    counts: npt.NDArray[Any]


def read_key_table(path: str) -> KeyTable:
    """Read the columns ``key`` and ``count``; other columns are not looked at.

    Keys of a CSV file are texts, those of a Parquet file what their type says.

    Raises
    ------
    TraceError
        A file that cannot be read.
    ShuffleError
        Another format, a missing column, a null.
    """
    data = read_bytes(path)
    import pandas as pd  # slow to import, and few need it

    frame = _frame(path, data)
    for column in ("key", "count"):
        if column not in frame:
            columns = [str(name) for name in frame.columns]
            raise ShuffleError(
                f"{path}: no column {column!r}{nearest(column, columns)}; a key table has the "
                f"columns key and count, this one has {', '.join(columns) or 'none'}"
            )
        if frame[column].isna().any():
            row = int(np.argmax(frame[column].isna().to_numpy())) + 1
            raise ShuffleError(f"{path} row {row}: {column} is null; every row needs one")
    counts = pd.to_numeric(frame["count"], errors="coerce")
    if counts.isna().any():
        row = int(np.argmax(counts.isna().to_numpy()))
        raise ShuffleError(
            f"{path} row {row + 1}: count {frame['count'].iloc[row]!r}; whole numbers are allowed"
        )
    keys = frame["key"].to_numpy()
    if keys.dtype.kind not in "iuOU":
        keys = frame["key"].astype(str).to_numpy()
    return KeyTable(path, hashlib.sha256(data).hexdigest(), keys, counts.to_numpy())


def _frame(path: str, data: bytes) -> pd.DataFrame:
    import pandas as pd  # slow to import, and few need it

    try:
        if data.startswith(_PARQUET):
            return pd.read_parquet(io.BytesIO(data))
        # Texts like "NA" and "007" are keys; only an empty field is a null.
        with warnings.catch_warnings():  # rows longer than the header are no table
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                io.BytesIO(data),
                keep_default_na=False,
                na_values=[""],
                index_col=False,
                dtype={"key": str},
            )
    except Exception as error:  # whatever a reader makes of a broken file
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ShuffleError(f"{path}: neither CSV nor Parquet ({reason})") from None
