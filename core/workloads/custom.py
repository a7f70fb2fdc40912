"""Coflows of user-defined classes, as CoflowSim's CUSTOM traces have them.

Source: CoflowSim (github.com/coflow/coflowsim), ``CustomTraceProducer`` and
``JobClassDescription``. A class gives a range of widths, from which the numbers of mappers and
of reducers are drawn one by one, and a range of lengths: the MB that *each mapper* sends to a
reducer are drawn for every reducer. All draws are uniform over whole numbers, both ends included,
and the hosts of one side are all different.

Unlike CoflowSim, the coflows of the classes come in random order rather than class after class,
all `workload.coflows` are made (CoflowSim rounds each class down), they may arrive one by one
(`workload.gap`; CoflowSim starts all at 0), and the random numbers are not Java's.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple, cast

import numpy as np

from core.errors import ParameterError
from core.parameters import Parameter, Values
from core.trace import Trace, from_records, make_records
from core.workloads._base import SEED, Workload
from core.workloads._draws import arrivals_ms, between, distinct_ports, quotas

VERSION = "custom-1"
"""To be raised whenever the same seed gives another trace: it is part of every point's id."""

_CLASS = re.compile(r"(\d+)-(\d+):(\d+)-(\d+)", re.ASCII)


class CoflowClass(NamedTuple):
    """Widths [mappers, and likewise reducers] and lengths [MB a flow] of one class, inclusive."""

    min_width: int
    max_width: int
    min_mb: int
    max_mb: int


def parse_classes(text: str, ports: int) -> list[CoflowClass]:
    """Read ``minW-maxW:minL-maxL`` for each class, with commas or blanks between them.

    Raises
    ------
    ParameterError
        A class that is not four whole numbers in this form, a range that starts below 1 or ends
        before it starts, a width above the number of ports.

    Examples
    --------
    >>> parse_classes("1-5:1-10, 5-100:10-1000", ports=100)[1]
    CoflowClass(min_width=5, max_width=100, min_mb=10, max_mb=1000)
    """
    classes = []
    for part in _parts(text, "workload.classes", "classes like 1-5:10-1000 (minW-maxW:minL-maxL)"):
        match = _CLASS.fullmatch(part)
        if not match:
            raise ParameterError(
                f"workload.classes: class {part!r} is not minW-maxW:minL-maxL; allowed are four "
                "whole numbers, as in 1-5:10-1000 (1 to 5 mappers and reducers, 10 to 1000 MB)"
            )
        coflow_class = CoflowClass(*map(int, match.groups()))
        _check_range(part, "width", coflow_class.min_width, coflow_class.max_width)
        _check_range(part, "length", coflow_class.min_mb, coflow_class.max_mb)
        if coflow_class.max_width > ports:
            raise ParameterError(
                f"workload.classes: class {part!r} has widths up to {coflow_class.max_width}; "
                f"allowed is at most workload.ports={ports}, as all hosts of a side differ"
            )
        classes.append(coflow_class)
    return classes


def parse_fractions(text: str, classes: int) -> list[float]:
    """Read one share of the coflows for each class, with commas or blanks between them.

    Raises
    ------
    ParameterError
        Not a number from 0 to 1, another count than the classes have, a sum other than 1.

    Examples
    --------
    >>> parse_fractions("0.75, 0.25", classes=2)
    [0.75, 0.25]
    """
    fractions = []
    for part in _parts(text, "workload.fractions", "one number from 0 to 1 for each class"):
        try:
            fractions.append(float(part))
        except ValueError:
            fractions.append(math.nan)
        if not 0 <= fractions[-1] <= 1:
            raise ParameterError(
                f"workload.fractions: {part!r} is no share of the coflows; allowed is a number "
                "from 0 to 1"
            )
    if len(fractions) != classes:
        raise ParameterError(
            f"workload.fractions={text}: {len(fractions)} fractions for {classes} classes; "
            "allowed is exactly one for each class of workload.classes"
        )
    if not math.isclose(math.fsum(fractions), 1, abs_tol=1e-6):
        raise ParameterError(
            f"workload.fractions={text}: the sum is {math.fsum(fractions):g}; allowed is 1"
        )
    return fractions


def _parts(text: str, key: str, allowed: str) -> list[str]:
    """Split at commas and blanks; an empty part, as of a doubled comma, stays and is refused."""
    parts = re.split(r"\s*,\s*|\s+", text.strip())
    if parts == [""]:
        raise ParameterError(f"{key}={text!r}: there is nothing in it; allowed are {allowed}")
    return parts


def _check_range(part: str, what: str, low: int, high: int) -> None:
    if not 1 <= low <= high < 2**31:
        raise ParameterError(
            f"workload.classes: class {part!r} has the {what} range {low}-{high}; allowed are "
            f"whole numbers with 1 ≤ min ≤ max < 2^31"
        )


def _parse(values: Values) -> tuple[list[CoflowClass], list[float]]:
    classes = parse_classes(str(values["workload.classes"]), cast(int, values["workload.ports"]))
    return classes, parse_fractions(str(values["workload.fractions"]), len(classes))


def build(values: Values, rng: np.random.Generator) -> Trace:
    """Generate the trace.

    Parameters
    ----------
    values : mapping
        ``workload.classes``, ``workload.fractions``, ``workload.coflows``, ``workload.ports``
        and ``workload.gap``, each in its declared type.
    rng : numpy.random.Generator
        The only source of randomness.

    Returns
    -------
    Trace
        Ids 1…n in order of arrival. Each class has its fraction of the coflows, rounded up or
        down. With a gap the arrivals are Poisson, in whole milliseconds, the first at 0.

    Raises
    ------
    ParameterError
        Classes or fractions that cannot be read, see `parse_classes` and `parse_fractions`.
    """
    classes, fractions = _parse(values)
    coflows = cast(int, values["workload.coflows"])
    ports = cast(int, values["workload.ports"])
    gap_ms = 1000 * cast(float, values["workload.gap"])

    which = np.repeat(np.arange(len(classes)), quotas(fractions, coflows, rng))
    ranges = np.array(classes, np.int64)[rng.permutation(which)]
    min_width, max_width, min_mb, max_mb = ranges.T
    mappers = between(min_width, max_width, rng)
    reducers = between(min_width, max_width, rng)
    flow_mb = between(np.repeat(min_mb, reducers), np.repeat(max_mb, reducers), rng)
    reducer_mb = flow_mb * np.repeat(mappers, reducers)
    arrival_ms = np.zeros(coflows, np.int64)
    if gap_ms > 0:
        arrival_ms = arrivals_ms(-gap_ms * np.log1p(-rng.random(coflows - 1)))
    records = make_records(
        distinct_ports(mappers, ports, rng),
        distinct_ports(reducers, ports, rng),
        np.split(reducer_mb, np.cumsum(reducers)[:-1]),
    )
    return from_records("custom", ports, np.arange(1, coflows + 1), arrival_ms / 1000, records)


def content(values: Values) -> str:
    """Return the version of the generator, having checked the texts.

    Raises
    ------
    ParameterError
        As `build` does.
    """
    _parse(values)
    return VERSION


WORKLOAD = Workload(
    name="custom",
    summary="random coflows of classes that you define by width and length (CoflowSim's CUSTOM)",
    parameters=(
        Parameter(
            "workload.classes",
            str,
            "1-5:1-10 1-5:10-1000 5-100:1-10 5-100:10-1000",
            "classes, each minW-maxW:minL-maxL: mappers and reducers, MB of a flow, from – to",
        ),
        Parameter("workload.fractions", str, "0.41 0.29 0.09 0.21", "share of each class, sum 1"),
        Parameter("workload.coflows", int, 100, "number of coflows", minimum=1, maximum=1e6),
        Parameter("workload.ports", int, 100, "number of hosts", minimum=1, maximum=1e6),
        Parameter(
            "workload.gap",
            float,
            0.0,
            "mean inter-arrival time (Poisson); 0: all arrive at 0",
            unit="s",
            minimum=0,
            maximum=1e6,
        ),
        SEED,
    ),
    build=build,
    content=content,
)
