"""What sampling costs and predicts, and the rate that is chosen; by hand."""

from __future__ import annotations

import doctest
import importlib
import math
import pkgutil
from typing import Any

import numpy as np
import pytest

import core.shuffle
import core.shuffle.partitioners
from core.errors import ParameterError
from core.parameters import defaults
from core.shuffle import Partition, draw, fos, from_matrix, predicted_fos
from core.shuffle.costs import prepass_s, reduce_s, total_s
from core.shuffle.parameters import KEY_PARAMETERS, SAMPLING_PARAMETERS, SAMPLING_RATE
from core.shuffle.partitioners import partitioners
from core.shuffle.sampling import RATES

COSTS = {
    "shuffle.scan_s_per_record": 1e-6,
    "shuffle.map_s_per_record": 4e-6,
    "shuffle.plan_s_per_key": 1e-3,
    "shuffle.slots": 2,
    "shuffle.reduce_s_per_record": 1e-5,
}


def data(records: int = 10_000, **changes: Any) -> Any:
    values = defaults(KEY_PARAMETERS) | {"shuffle.keys": 200}
    values |= {f"shuffle.{k}": v for k, v in changes.items()}
    return draw(values, records, 4, np.random.default_rng(1))


def run(name: str = "scid", seed: int = 1, records: int = 10_000, **values: Any) -> Partition:
    given = COSTS | {f"shuffle.{k}": v for k, v in values.items()}
    return partitioners()[name].partition(data(records), 8, given, np.random.default_rng(seed))


def test_prediction_by_hand() -> None:
    """N = 10 000, s = 1/100, n = 8: ε = √(0.99 · 7 / 100)."""
    assert predicted_fos(10_000, 8, 0.01) == pytest.approx(math.sqrt(0.0693))
    assert predicted_fos(10_000, 8, 1.0) == 0


def test_the_prepass_by_hand() -> None:
    """Two slots: 10^4 · (1 + 4/100) µs / 2 = 5.2 ms, and 1 ms for each of the sampled keys."""
    found = run(sampling_rate=0.01).prediction
    assert found is not None
    assert found.rate == 0.01
    assert found.sample_size == 100
    assert found.cost_s == pytest.approx(0.0052 + 0.001 * found.sampled_keys)
    assert found.planned_fos < 1e-9


def test_no_more_slots_than_splits_count() -> None:
    values = COSTS | {"shuffle.slots": 100}
    assert prepass_s(data(), 0.0, 0, values) == pytest.approx(0.01 / 4)
    values = COSTS | {"shuffle.slots": None}
    assert prepass_s(data(), 0.0, 0, values) == pytest.approx(0.01 / 4)


def test_costs_are_zero_unless_given() -> None:
    found = partitioners()["scid"].partition(data(), 8, {}, np.random.default_rng(1)).prediction
    assert found is not None
    assert found.cost_s == 0


def test_records_that_do_not_reach_the_shuffle_are_scanned_as_well() -> None:
    combined = data(combine=True)
    assert combined.records < 2000
    assert prepass_s(combined, 0.0, 0, COSTS) == prepass_s(data(), 0.0, 0, COSTS)


def test_range_pays_for_its_own_sample() -> None:
    """8 · 20 points, three times as many over four splits: 120 of 2500 each, 4.8 %."""
    found = run("range").prediction
    assert found is not None
    assert found.rate == pytest.approx(0.048)
    expected = (1e-6 + 4e-6 * 0.048) * 10_000 / 2 + 1e-3 * found.sampled_keys
    assert found.cost_s == pytest.approx(expected)
    assert math.isnan(found.planned_fos)


def test_reduce_and_merge_by_hand() -> None:
    """Salting puts 10 records of one key into two buckets; both parts have to be merged."""
    job = from_matrix([[10, 4]], np.random.default_rng(1))
    found = partitioners()["salt"].partition(
        job, 50, {"shuffle.salts": 2}, np.random.default_rng(1)
    )
    values = {"shuffle.reduce_s_per_record": 2.0, "shuffle.merge_s_per_record": 3.0}
    split = np.flatnonzero(found.fragments > 1)
    expected = 2 * 14 + 3 * int(job.total[split].sum())
    assert len(split) > 0
    assert reduce_s(found, values).sum() == expected
    whole = partitioners()["hash"].partition(job, 50, {}, np.random.default_rng(1))
    assert reduce_s(whole, values).sum() == 2 * 14


def test_total_by_hand() -> None:
    """10^4 records at 10 µs on 8 reducers, the slowest ε · √(2 ln 8) above the mean."""
    expected = 7 + 0.0125 * (1 + math.sqrt(0.0693) * math.sqrt(2 * math.log(8)))
    assert total_s(data(), 8, 0.01, 7.0, COSTS) == pytest.approx(expected)


def test_auto_takes_the_smallest_total_and_shows_the_curve() -> None:
    found = run(records=40_000, sampling_rate="auto", plan_s_per_key=0.0)
    curve, chosen = found.curve, found.prediction
    assert curve is not None
    assert chosen is not None
    assert curve.rate.tolist() == list(RATES)
    best = [total_s(data(40_000), 8, s, (1e-6 + 4e-6 * s) * 20_000, COSTS) for s in RATES]
    np.testing.assert_allclose(curve.total_s, best)
    assert curve.chosen == int(np.argmin(best))
    assert 0 < curve.chosen < len(RATES) - 1
    assert chosen.rate == pytest.approx(RATES[curve.chosen])
    assert curve.actual_fos[curve.chosen] == fos(found.loads)
    assert (np.diff(curve.predicted_fos) < 0).all()
    assert (np.diff(curve.cost_s) > 0).all()


@pytest.mark.parametrize(
    ("changes", "rate"), [({"map_s_per_record": 1.0}, 0), ({"map_s_per_record": 0.0}, -1)]
)
def test_auto_follows_the_costs(changes: dict[str, float], rate: int) -> None:
    found = run(sampling_rate="auto", plan_s_per_key=0.0, **changes)
    assert found.curve is not None
    assert found.curve.rate[found.curve.chosen] == RATES[rate]


def test_auto_is_its_seed() -> None:
    first, again, other = (run(sampling_rate="auto", seed=s) for s in (1, 1, 2))
    assert first.loads.tolist() == again.loads.tolist()
    assert first.loads.tolist() != other.loads.tolist()


def test_auto_without_reduce_costs_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"auto weighs .* shuffle.reduce_s_per_record > 0"):
        run(sampling_rate="auto", reduce_s_per_record=0.0)


def test_the_rate_is_a_number_or_the_word() -> None:
    assert SAMPLING_RATE.check("auto") == "auto"
    assert SAMPLING_RATE.check(1) == 1.0
    assert SAMPLING_RATE.allowed() == "a number > 0 and ≤ 1, or auto"
    assert all(p.check(p.default) == p.default for p in SAMPLING_PARAMETERS)


def modules() -> list[str]:
    packages = (core.shuffle, core.shuffle.partitioners)
    return [f"{p.__name__}.{m.name}" for p in packages for m in pkgutil.iter_modules(p.__path__)]


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
