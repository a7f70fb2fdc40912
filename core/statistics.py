"""Means, 95 % intervals, gaps to a bound, and how shares are printed: one rule for all tables.

Sums are exactly rounded (`math.fsum`), so that they depend neither on the order of the values nor
on the machine's vector units; `mean_of_groups`, which draws figures, sums in the order given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from core.trace import Floats

_ROUNDING = 1e-12
"""Relative distance from the bound below which a schedule meets it, but for rounding."""


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None where there are none."""
    numbers = [float(value) for value in values if value is not None]
    return math.fsum(numbers) / len(numbers) if numbers else None


def half_width(values: Sequence[float]) -> float | None:
    """Return half the 95 % interval of the mean, by Student's t; None for fewer than two values.

    >>> round(half_width([1.0, 2.0, 3.0]), 3)  # t = 4.303, standard error = 1 / √3
    2.484
    """
    n = len(values)
    if n < 2:
        return None
    center = math.fsum(values) / n
    variance = math.fsum((value - center) ** 2 for value in values) / (n - 1)
    return float(student_t(n - 1)) * math.sqrt(variance / n)


def student_t(freedom: npt.ArrayLike) -> Floats:
    """Return the 97.5 % quantile of Student's t distribution for some degrees of freedom.

    >>> [round(float(t), 3) for t in student_t([2, 30, 1000])]
    [4.303, 2.042, 1.962]
    """
    from scipy.special import stdtrit  # a worker never needs it, and it is slow to import

    return np.asarray(stdtrit(freedom, 0.975), np.float64)


def gap(mean_s: float | None, bound_s: float | None, error_s: float = 0.0) -> float | None:
    """Return mean / bound − 1, and 0 where the two differ by rounding only.

    A mean that may be too small by `error_s` also meets a bound that it is below by no more.

    None where there is no bound, or where it is 0.

    >>> gap(0.09799999999999999, 0.098), gap(3.0, 2.0), gap(1.0, None)
    (0.0, 0.5, None)
    """
    if mean_s is None or not bound_s:
        return None
    distance = mean_s / bound_s - 1
    rounding = max(_ROUNDING, error_s / bound_s) if distance < 0 else _ROUNDING
    return 0.0 if abs(distance) < rounding else distance


def gap_of_groups(
    cct_s: Floats, bound_s: Floats, group: npt.NDArray[np.int64], groups: int
) -> tuple[Floats, Floats]:
    """Return the gap of each group's mean to the mean of its bounds, and half its 95 % interval.

    The spread of such a ratio of means is that of CCT − ratio · bound over the mean bound.

    Parameters
    ----------
    cct_s, bound_s : arrays of shape (n,)
        Mean CCT and bound of each point [s].
    group : array of shape (n,)
        Number of the group of each point, from 0.
    groups : int

    Returns
    -------
    gap, half : arrays of shape (groups,)
        NaN where a point of the group has no bound.
    """
    sums = np.bincount(group, bound_s, minlength=groups)  # NaN where one is missing
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(sums > 0, np.bincount(group, cct_s, minlength=groups) / sums, np.nan)
        rest = (cct_s - ratio[group] * bound_s) * (np.bincount(group, minlength=groups) / sums)[
            group
        ]
    distance = ratio - 1
    distance[np.abs(distance) < _ROUNDING] = 0.0
    return distance, mean_of_groups(rest, group, groups)[1]


def percent(share: float, decimals: int = 1) -> str:
    """Return a share as it is printed, with a minus sign where it rounds to less than 0.

    >>> percent(0.1234), percent(-0.1234), percent(-0.0001), percent(-0.001, 0)
    ('12.3 %', '−12.3 %', '0.0 %', '0 %')
    """
    text = f"{100 * share:z.{decimals}f} %"
    return text.replace("-", "−")


def mean_of_groups(
    values: Floats, group: npt.NDArray[np.int64], groups: int
) -> tuple[Floats, Floats]:
    """Return the mean of each group, and half its 95 % interval.

    Parameters
    ----------
    values : array of shape (n,)
        NaN where a value is missing; it then counts in no mean.
    group : array of shape (n,)
        Number of the group of each value, from 0.
    groups : int

    Returns
    -------
    mean, half : arrays of shape (groups,)
        NaN where there is none: a mean needs one value, an interval two.
    """
    present = ~np.isnan(values)
    group, values = group[present], values[present]
    count = np.bincount(group, minlength=groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(group, values, minlength=groups) / count
        squares = np.bincount(group, (values - means[group]) ** 2, minlength=groups)
        half = student_t(np.where(count > 1, count - 1, np.nan))
        half = half * np.sqrt(squares / (count - 1) / count)
    return means, half
