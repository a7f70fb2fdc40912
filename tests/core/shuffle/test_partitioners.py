"""What every partitioner has to keep, found by listing them."""

from __future__ import annotations

import importlib
import math
import re
from typing import Any

import numpy as np
import pytest

import core.shuffle.keys
from core.errors import InputError, ParameterError, ShuffleError
from core.shuffle import (
    fos,
)
from tests.core.shuffle.cases import ALL, SAMPLING, job, run

JOBS = {
    "zipf": (job, {}, 8),
    "uniform": (job, {"zipf": 0.0}, 8),
    "one key": (job, {"keys": 1}, 8),
    "one bucket": (job, {}, 1),
    "one record": (job, {"records": 1, "splits": 3}, 4),
    "more buckets than keys": (job, {"keys": 3}, 40),
    "more splits than records": (job, {"records": 7, "splits": 20}, 3),
    "combined": (job, {"combine": True}, 6),
    "hot": (job, {"zipf": 3.0}, 8),
}


@pytest.fixture(params=["dense", "lazy"])
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "lazy":
        monkeypatch.setattr(core.shuffle.keys, "DENSE_CELLS", 0)


# conformance


def test_the_ones_that_are_promised_are_there() -> None:
    promised = "hash range scid scid_robust lpt lpt_split krhp salt pkg aqe_skew"
    assert set(promised.split()) <= set(ALL)


@pytest.mark.parametrize("record", ALL.values(), ids=ALL.keys())
def test_a_partitioner_is_named_after_its_file_and_says_what_it_is(record: Any) -> None:
    assert importlib.import_module(f"core.shuffle.partitioners.{record.name}").__doc__
    assert record.summary
    assert record.source
    assert re.fullmatch(r"[a-z][a-z0-9_]*", record.name)
    assert all(p.key.startswith("shuffle.") for p in record.parameters)
    assert len({p.key for p in record.parameters}) == len(record.parameters)


PARAMETERS = {(p.key, p.default): p for r in ALL.values() for p in r.parameters}


@pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=lambda p: p.key)
def test_a_parameter_has_help_and_an_allowed_default(parameter: Any) -> None:
    assert parameter.help
    assert parameter.check(parameter.default) == parameter.default
    if parameter.minimum > -math.inf:
        with pytest.raises(ParameterError, match=re.escape(parameter.key)):
            parameter.check(parameter.minimum - 1)


def test_declarations_of_one_key_agree_in_type_and_unit() -> None:
    kinds: dict[str, set[Any]] = {}
    for p in PARAMETERS.values():
        kinds.setdefault(p.key, set()).add((p.kind, p.unit, p.choices))
    assert all(len(k) == 1 for k in kinds.values())


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("case", JOBS)
@pytest.mark.parametrize("name", ALL)
def test_every_record_is_placed_once(name: str, case: str) -> None:
    make, changes, buckets = JOBS[case]
    data = make(**changes)
    before = data.total.copy()
    found = run(name, data, buckets, sampling_rate=0.05, skew_threshold_mib=0.01)
    assert found.buckets >= buckets  # aqe_skew adds some
    assert found.loads.shape == found.load_bytes.shape == (found.buckets,)
    assert found.loads.sum() == data.records
    by_key = np.bincount(found.key, found.records, data.keys.count)
    np.testing.assert_array_equal(by_key, before)
    np.testing.assert_array_equal(data.total, before)
    assert (found.records > 0).all()
    pairs = found.key * found.buckets + found.bucket
    assert (np.diff(pairs) > 0).all()
    assert found.load_bytes.sum() == pytest.approx((before * data.record_bytes).sum())
    assert found.empty_buckets == np.count_nonzero(found.loads == 0)
    assert 1 <= found.fragments_per_key <= found.buckets
    assert (found.fragment_records <= found.loads).all()


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("case", JOBS)
@pytest.mark.parametrize("name", ALL)
def test_buckets_get_the_bytes_that_splits_send(name: str, case: str) -> None:
    make, changes, buckets = JOBS[case]
    data = make(**changes)
    found = run(name, data, buckets, sampling_rate=0.05, skew_threshold_mib=0.01)
    records, sizes = found.per_split()
    assert records.shape == sizes.shape == (data.splits, found.buckets)
    np.testing.assert_array_equal(records.sum(axis=0), found.loads)
    assert (records >= 0).all()
    assert ((sizes > 0) == (records > 0)).all()
    assert sizes.sum() == pytest.approx(found.load_bytes.sum())
    if not (data.combined and data.matrix is None):
        np.testing.assert_array_equal(records.sum(axis=1), data.split_records)


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("name", ALL)
def test_the_same_seed_is_the_same_partition(name: str) -> None:
    first, again = (run(name, job(), 8, sampling_rate=0.05) for _ in range(2))
    for field in ("key", "bucket", "records"):
        np.testing.assert_array_equal(getattr(first, field), getattr(again, field))
    for one, other in zip(first.per_split(), again.per_split(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ALL)
def test_matrix_or_not_the_balance_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean FoS over 60 jobs within 5 standard errors of the difference."""
    means, errors = [], []
    for cells in (10**6, 0):
        monkeypatch.setattr(core.shuffle.keys, "DENSE_CELLS", cells)
        found = [
            fos(run(name, job(seed=s), 6, seed=s, sampling_rate=0.05).loads) for s in range(60)
        ]
        means.append(np.mean(found))
        errors.append(np.std(found) / 60**0.5)
    assert abs(means[0] - means[1]) <= 5 * math.hypot(*errors)


@pytest.mark.parametrize("name", ALL)
def test_values_out_of_range_are_refused(name: str) -> None:
    data = job()
    for buckets in (0, -3, 10**6):
        with pytest.raises(ShuffleError, match="buckets"):
            run(name, data, buckets)
    for parameter in ALL[name].parameters:
        with pytest.raises(InputError, match=re.escape(parameter.key)):
            ALL[name].partition(data, 4, {parameter.key: object()}, np.random.default_rng(1))


@pytest.mark.parametrize("rate", [0, -0.1, 1.01, math.nan, "all", None, True])
def test_a_sampling_rate_outside_0_to_1_is_refused(rate: Any) -> None:
    with pytest.raises(ParameterError, match=r"shuffle.sampling_rate=.* ≤ 1, or auto"):
        run("scid", job(), 4, sampling_rate=rate)


@pytest.mark.parametrize("name", SAMPLING)
def test_partitioners_that_sample_see_the_same_sample(name: str) -> None:
    found = run(name, job(), 4).prediction
    expected = run("scid", job(), 4).prediction
    assert found is not None
    assert expected is not None
    assert (found.sample_size, found.sampled_keys, found.unseen) == (
        expected.sample_size,
        expected.sampled_keys,
        expected.unseen,
    )
    assert found.predicted_fos == expected.predicted_fos
