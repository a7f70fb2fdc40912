"""Published figures of the Facebook trace, and the same figures of any trace.

FACEBOOK holds what is known of FB2010-1Hr-150-0 (coflow-benchmark): the bins are those of the
Varys paper, the percentiles are those of the file.
"""

from __future__ import annotations

import numpy as np

from core.trace import BINS, Trace

PERCENTILES = (50, 75, 90, 95, 100)

SHARES = {  # % of coflows
    "coflows SN %": 59.9,
    "coflows LN %": 16.0,
    "coflows SW %": 12.0,
    "coflows LW %": 12.2,
    "1→1 %": 23.4,
    "1→M %": 9.9,
    "M→1 %": 40.1,
    "M→M %": 26.6,
}
BYTES = {  # % of bytes
    "bytes SN %": 0.01,
    "bytes LN %": 0.11,
    "bytes SW %": 0.88,
    "bytes LW %": 99.0,
    "bytes top 1 %": 24.0,
    "bytes top 10 %": 79.0,
    "bytes top 20 %": 96.0,
}
_SPREADS = {
    "flows": (10, 48, 3626, 11316, 21170),
    "size MB": (25, 246, 11268, 52668, 8.50e6),
    "mappers": (3, 15, 64, 138, 147),
    "reducers": (1, 21, 73, 120, 145),
    "length MB": (1, 9, 60, 154, 2472),
}
SPREADS = {
    f"{name} p{p}": float(value)
    for name, values in _SPREADS.items()
    for p, value in zip(PERCENTILES, values, strict=True)
}
GAPS = {"gap mean s": 6.91, "gap median s": 3.06, "gap CV": 1.41}
TOTALS = {"total MB": 35_533_534.0, "total flows": 706_397.0, "mean Γ s": 14.72}
FACEBOOK = SHARES | BYTES | SPREADS | GAPS | TOTALS


def facts(trace: Trace) -> dict[str, float]:
    """Measure every figure of FACEBOOK; Γ is at 1 Gb/s a port."""
    size, length = trace.total_bytes() / 1e6, trace.length_bytes() / 1e6
    flows, bins = trace.flows_per_coflow(), trace.bins()
    mappers, reducers = trace.distinct_ports(trace.src), trace.distinct_ports(trace.dst)
    gap, top = np.diff(trace.arrival_s), np.cumsum(np.sort(size)[::-1]) / size.sum()
    busiest = np.maximum(trace.per_port(trace.src), trace.per_port(trace.dst)).max(axis=1)
    found = {f"coflows {b} %": 100 * np.mean(bins == b) for b in BINS}
    found |= {
        f"{'M' if m else '1'}→{'M' if r else '1'} %": 100
        * np.mean(((mappers > 1) == m) & ((reducers > 1) == r))
        for m in (False, True)
        for r in (False, True)
    }
    found |= {f"bytes {b} %": 100 * size[bins == b].sum() / size.sum() for b in BINS}
    found |= {f"bytes top {n} %": 100 * top[n - 1] for n in (1, 10, 20)}
    for name, values in zip(_SPREADS, (flows, size, mappers, reducers, length), strict=True):
        cut = np.percentile(values, PERCENTILES, method="inverted_cdf")
        found |= {f"{name} p{p}": v for p, v in zip(PERCENTILES, cut, strict=True)}
    found |= {
        "gap mean s": gap.mean(),
        "gap median s": np.median(gap),
        "gap CV": gap.std() / gap.mean(),
        "total MB": size.sum(),
        "total flows": flows.sum(),
        "mean Γ s": busiest.mean() / 1.25e8,
    }
    return {name: float(found[name]) for name in FACEBOOK}
