"""Coflows like those of the Facebook trace, from a seed.

FB2010-1Hr-150-0 (the coflow-benchmark trace: one hour of a Hive/MapReduce cluster, 526 coflows
over 150 racks) is mixed here from twenty kinds of shuffle. A kind says how many of 526 coflows it
makes up and how their mappers, reducers, megabytes and skew are spread; it holds no coflow of the
trace. Classes, widths, sizes and gaps are drawn by strata: a few coflows hold nearly all bytes, so
plain independent draws would give traces whose load differs by a factor from seed to seed.

What it leaves out: ports are uniform, while the trace has ports that many narrow coflows share,
and gaps are independent, while the trace's largest coflows come in bursts.
"""

from __future__ import annotations

import math
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from core.parameters import Parameter, Values
from core.trace import Floats, Ints, Trace, from_records, make_records
from core.workloads._base import SEED, Workload
from core.workloads._draws import arrivals_ms, distinct_ports, quotas, stratified

VERSION = "fb_like-1"
"""To be raised whenever the same seed gives another trace: it is part of every point's id."""

PORTS = 150
MEAN_GAP_MS = 6913.0
GAP_SHAPE = 0.7
"""Weibull shape of the gaps; 0.7 has CV 1.46 and median 0.47 means (trace: 1.41 and 0.44)."""
GAP_CUT = 0.9998
"""Quantile above which no gap is drawn; it is at 16 means (trace: largest gap 12 means)."""

Knots = tuple[float, ...]


class Kind(NamedTuple):
    """One kind of shuffle; widths are those of 150 ports.

    Knots are values at equally spaced quantiles, the first the minimum and the last the maximum;
    between them the logarithm is linear. One knot is a constant.

    Attributes
    ----------
    weight : int
        Coflows of this kind among 526.
    mappers, reducers : tuple of float
        Knots of the widths [ports].
    mb : tuple of float
        Knots of the length [MB], or of the total size where `by_size`.
    skew : tuple of float
        Knots of the smallest flow over the largest.
    tilt : float
        Where the flows lie between the two: a flow is ``length · skew ** (u ** tilt)``, u uniform.
        1 spreads their logarithm evenly; near 0 all but the largest have the smallest size.
    by_size : bool
        The kinds that hold the bytes draw their size, so that the total varies little.
    """

    weight: int
    mappers: Knots
    reducers: Knots
    mb: Knots
    skew: Knots = (1.0,)
    tilt: float = 0.8
    by_size: bool = False


# Short: length ≤ 5 MB. Narrow: ≤ 50 flows. Kinds of a bin are neighbours, see `quotas`.
KINDS = (
    # short and narrow
    Kind(113, (1,), (1,), (1, 1, 1, 1, 1, 1, 3)),
    Kind(27, (1,), (16, 32, 35, 41, 50), (1.5, 2.5, 3, 4, 5), (0.2,), 0.3),
    Kind(158, (2, 2.8, 3.6, 7, 7, 13, 14, 27, 30), (1,), (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5)),
    Kind(17, (2, 5, 5, 5, 10), (2, 2, 2, 2, 4), (1, 1, 1, 1, 5)),
    # long and narrow
    Kind(10, (1,), (1,), (6, 7, 15, 330, 640)),
    Kind(17, (1,), (11, 24, 33, 40, 48), (6, 8, 15, 32, 650), (0.1, 0.3, 0.4), 0.4),
    Kind(50, (2, 2, 2, 2, 3, 5), (1,), (6, 21, 22, 24, 36, 52, 60, 75, 295)),
    Kind(6, (2, 6, 10), (2, 3, 4.4), (29, 60, 200, 247), (0.95,)),
    Kind(2, (1, 3), (25, 120), (1700, 3300), (0.002, 0.004), 0.1),  # one reducer gets nearly all
    # short and wide
    Kind(7, (1,), (51, 54, 62), (3, 4), (0.2,), 0.3),
    Kind(3, (73, 137), (1,), (1, 2)),
    Kind(5, (146, 147), (132, 136), (1,)),
    Kind(7, (122, 138, 145), (66, 82, 100), (1, 2, 2, 3, 5), (0.25, 0.35), 0.6),
    Kind(8, (99, 112, 125, 147), (14, 26, 45, 55), (1,)),
    Kind(15, (43, 52, 60, 65, 71), (55, 62, 65, 72, 74), (1, 2, 2, 3, 4), (0.25,), 0.05),
    Kind(19, (13, 15, 19, 32, 64), (4, 5, 9, 18, 29), (1, 1, 3, 4, 5), (0.4,), 0.3),
    # long and wide; the last two kinds, 30 coflows of 526, hold 98 % of the bytes
    Kind(19, (14, 27, 29, 31, 58), (7, 9, 12, 16, 30), (7, 13, 30, 47, 54), (0.5, 0.53, 0.95), 0.2),
    Kind(
        13,
        (2, 3, 4, 5, 9),
        (112, 119, 120, 122, 125),
        (45, 50, 70, 110, 200),
        (0.05, 0.14, 0.2),
        0.55,
    ),
    Kind(
        14,
        (32, 55, 100, 137, 147),
        (30, 76, 85, 118, 125),
        (28e3, 55e3, 80e3, 190e3, 560e3),
        (0.02, 0.13, 0.22, 0.34, 0.5),
        0.4,
        by_size=True,
    ),
    Kind(
        16,
        (117, 140, 146, 147, 147),
        (114, 119, 135, 141, 145),
        (380e3, 1.0e6, 1.45e6, 1.75e6, 10.5e6),
        (0.05, 0.1, 0.12, 0.15, 0.2),
        0.75,
        by_size=True,
    ),
)


class _Draws(NamedTuple):
    """Knots drawn for each coflow, shape (n,) each; widths are still those of 150 ports."""

    mappers: Floats
    reducers: Floats
    mb: Floats
    skew: Floats
    tilt: Floats
    by_size: npt.NDArray[np.bool_]


def _quantile(knots: Knots, u: Floats) -> Floats:
    return np.exp(np.interp(u, np.linspace(0, 1, len(knots)), np.log(knots)))


def _draw_kind(kind: Kind, count: int, rng: np.random.Generator) -> _Draws:
    return _Draws(
        mappers=_quantile(kind.mappers, stratified(count, rng)),
        reducers=_quantile(kind.reducers, stratified(count, rng)),
        mb=_quantile(kind.mb, stratified(count, rng)),
        skew=_quantile(kind.skew, stratified(count, rng)),
        tilt=np.full(count, kind.tilt),
        by_size=np.full(count, kind.by_size),
    )


def _width(width: Floats, ports: int) -> Ints:
    """Carry a width over from 150 ports: it keeps its logarithmic place between 1 and all ports.

    So 2 of 150 mappers stay 2 or 3 of 1000, while a shuffle over all racks stays one. More than
    one remains more than one where there is more than one port.
    """
    scaled = np.rint(ports ** (np.log(width) / math.log(PORTS))).astype(np.int64)
    return np.clip(scaled, np.where(width < 1.5, 1, min(2, ports)), ports)


def _flow_mb(draws: _Draws, reducers: Ints, rng: np.random.Generator) -> Floats:
    """Megabytes that each mapper sends to each reducer, one value a reducer, whole and ≥ 1."""
    first = np.cumsum(reducers) - reducers
    exponent = rng.random(reducers.sum()) ** np.repeat(draws.tilt, reducers)
    exponent[first] = 0.0  # one reducer gets the length; the ports are in random order anyway
    share = np.repeat(draws.skew, reducers) ** exponent
    mean_share = np.add.reduceat(share, first) / reducers
    flows = draws.mappers * draws.reducers * mean_share
    length = np.where(draws.by_size, draws.mb / flows, draws.mb)
    mb: Floats = np.maximum(np.rint(np.repeat(length, reducers) * share), 1.0)
    return mb


def _gaps_ms(count: int, mean_ms: float, rng: np.random.Generator) -> Floats:
    scale = mean_ms / math.gamma(1 + 1 / GAP_SHAPE)
    u = stratified(count, rng) * GAP_CUT  # else one seed in some hundred has a gap of minutes
    gaps: Floats = scale * (-np.log1p(-u)) ** (1 / GAP_SHAPE)
    return gaps


def build(values: Values, rng: np.random.Generator) -> Trace:
    """Generate the trace.

    At 526 coflows, 150 ports and load 1 it has the published statistics of the Facebook trace.
    Elsewhere the mix of kinds stays and widths follow the ports, so that the shares of the bins,
    whose limits are fixed, move. Gaps are divided by the load and proportional to the ports, as
    from ten ports up the bytes that a coflow puts on a port are; so a port is offered about
    0.5 Gb/s times the load (0.45 to 0.8 from 1 to 1000 ports; a trace of few coflows may lack
    the kinds that matter).
    Flows, and with them memory, grow with coflows × ports²: 1340 flows a coflow at 150 ports.

    Parameters
    ----------
    values : mapping
        ``workload.coflows``, ``workload.ports`` and ``workload.load``, checked.
    rng : numpy.random.Generator
        The only source of randomness.

    Returns
    -------
    Trace
        Ids 1…n in order of arrival, the first at 0, arrivals in whole milliseconds and all
        different; each flow a whole number of MB.
    """
    coflows = cast(int, values["workload.coflows"])
    ports = cast(int, values["workload.ports"])
    mean_gap_ms = MEAN_GAP_MS * max(ports, 10) / PORTS / cast(float, values["workload.load"])
    counts = quotas([kind.weight for kind in KINDS], coflows, rng)
    parts = [_draw_kind(kind, int(c), rng) for kind, c in zip(KINDS, counts, strict=True)]
    mixed = rng.permutation(coflows)
    draws = _Draws(*(np.concatenate(column)[mixed] for column in zip(*parts, strict=True)))
    mappers, reducers = _width(draws.mappers, ports), _width(draws.reducers, ports)
    reducer_mb = _flow_mb(draws, reducers, rng) * np.repeat(mappers, reducers)
    arrival_ms = arrivals_ms(_gaps_ms(coflows - 1, mean_gap_ms, rng))
    records = make_records(
        distinct_ports(mappers, ports, rng),
        distinct_ports(reducers, ports, rng),
        np.split(reducer_mb, np.cumsum(reducers)[:-1]),
    )
    return from_records("fb_like", ports, np.arange(1, coflows + 1), arrival_ms / 1000, records)


WORKLOAD = Workload(
    name="fb_like",
    summary="random coflows with the statistics of the Facebook trace FB2010-1Hr-150-0",
    parameters=(
        Parameter("workload.coflows", int, 526, "number of coflows", minimum=1, maximum=1e6),
        Parameter("workload.ports", int, PORTS, "number of hosts", minimum=1, maximum=1e4),
        Parameter(
            "workload.load",
            float,
            1.0,
            "offered load over the trace's 0.52 Gb/s a port; divides the inter-arrival times",
            minimum=1e-6,
            maximum=1e6,
        ),
        SEED,
    ),
    build=build,
    content=lambda values: VERSION,
)
