"""The dataset: its columns, its writer and its reader. The only importer of pyarrow.

========================  =====================================================================
`sweep.store.schema`      columns of every table
`sweep.store.tables`      rows to Arrow
`sweep.store.files`       `Folder`: whole files on any filesystem that pyarrow knows
`sweep.store.moves`       files that appear whole or not at all, alone or together
`sweep.store.recover`     what a dataset holds; repairs what is broken
`sweep.store.compact`     few large parts instead of many small ones
`sweep.store.writer`      `DatasetWriter`: buffers rows, writes parts, resumes
`sweep.store.plan_files`  ``points.parquet`` and ``manifest.json``
`sweep.store.reader`      `load`: the grid joined with its results
`sweep.store.row_values`  parameters and values of rows, as the command line has them
========================  =====================================================================
"""

from sweep.store.reader import load, read_manifest, read_results
from sweep.store.schema import (
    SCHEMA_VERSION,
    detail_schemas,
    points_schema,
    results_schema,
)
from sweep.store.writer import DatasetWriter, Limits

__all__ = [
    "SCHEMA_VERSION",
    "DatasetWriter",
    "Limits",
    "detail_schemas",
    "load",
    "points_schema",
    "read_manifest",
    "read_results",
    "results_schema",
]
