"""The columns of a dataset: one schema, whatever the grid.

``python -m tests.sweep.store.test_schema --regenerate`` rewrites ``tests/golden/schema.json``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from core.parameters import Parameter
from sweep.store import (
    SCHEMA_VERSION,
    detail_schemas,
    points_schema,
    results_schema,
)
from tests.paths import ROOT
from tests.sweep.store.rows import PARAMETERS, coflows, opened, row

GOLDEN = ROOT / "tests" / "golden" / "schema.json"


def shipped_schema() -> dict[str, Any]:
    def listed(schema: pa.Schema) -> list[list[str]]:
        return [[f.name, str(f.type), f.metadata[b"unit"].decode()] for f in schema]

    tables = {"results": results_schema(), "points": points_schema(), **detail_schemas()}
    return {"schema_version": SCHEMA_VERSION} | {
        name: listed(schema) for name, schema in tables.items()
    }


def written(schema: dict[str, Any]) -> str:
    lines = [f' "schema_version": {schema["schema_version"]}']
    for name in ("results", "points", "coflows", "reducers", "rates"):
        columns = ",\n".join(f"  {json.dumps(c, ensure_ascii=False)}" for c in schema[name])
        lines.append(f' "{name}": [\n{columns}\n ]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def test_schema_is_the_golden_one():
    advice = "run  python -m tests.sweep.store.test_schema --regenerate  and read the difference"
    assert GOLDEN.exists(), advice
    golden = json.loads(GOLDEN.read_text("utf-8"))
    assert shipped_schema() == golden, (
        f"the dataset's columns changed; if that is meant, {advice}: a column that goes, or "
        "changes its type or unit, needs another SCHEMA_VERSION"
    )


def test_schema_has_types_units_help_and_version(tmp_path):
    with opened(tmp_path / "d") as dataset:
        dataset.add(row("a"), coflows())
    schema = pq.read_schema(next((tmp_path / "d" / "results").iterdir()))
    assert schema.equals(results_schema(PARAMETERS), check_metadata=True)
    assert schema.metadata[b"schema_version"] == b"1"
    assert schema.field("fabric_gbps").metadata == {
        b"unit": b"Gbit/s",
        b"help": b"bandwidth of a port",
    }
    types = {name: str(schema.field(name).type) for name in schema.names}
    assert (types["queue_count"], types["queue_base"]) == ("int64", "double")
    assert (types["engine_backfill"], types["workload_path"]) == ("bool", "string")
    assert (types["replicate"], types["seed"], types["coflows"]) == ("int64",) * 3


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(TypeError, match="two columns of one name: status"):
        results_schema({"status": Parameter("status", str, "", "")})


def test_every_part_has_the_schema_whatever_is_null(tmp_path):
    path = tmp_path / "d"
    for name, values in {"a": {}, "b": {"workload_path": "x"}, "c": {"queue_count": None}}.items():
        with opened(path) as dataset:
            dataset.add(row(name, **values))
    files = sorted((path / "results").iterdir())
    assert len(files) == 3
    assert {str(pq.read_schema(f)) for f in files} == {str(results_schema(PARAMETERS))}


def test_values_of_another_type_and_unknown_columns_are_refused(tmp_path):
    dataset = opened(tmp_path / "d")
    with pytest.raises(KeyError, match="point a: no such columns: colour"):
        dataset.add(row("a", colour="red"))
    dataset.add(row("a", queue_count="ten"))
    with pytest.raises(TypeError, match=r"column queue_count \(int64\)"):
        dataset.close()


if __name__ == "__main__" and "--regenerate" in sys.argv:
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(written(shipped_schema()), "utf-8")
    print(f"wrote {GOLDEN}")
