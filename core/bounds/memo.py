"""The bound of a trace is the same for every scheduler: a process finds it once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict

from core.bounds.bound import isolation
from core.bounds.port_loads import loads
from core.bounds.search import best
from core.trace import Floats, Trace

_KEPT = 16
_values: OrderedDict[bytes, float] = OrderedDict()


def bound_of(
    trace: Trace, out_bps: Floats, in_bps: Floats, local_is_free: bool, method: str
) -> float | None:
    """Return a lower bound on the average CCT [s], remembered for the last few fabrics.

    Parameters
    ----------
    trace : Trace
    out_bps, in_bps : array of float64, shape (P,)
        Capacities [B/s], checked.
    local_is_free : bool
        Whether flows from a host to itself use no port.
    method : {"partition", "isolation", "none"}
        The partition found by a search of fixed length, isolation alone, or no bound: None.
    """
    if method == "none":
        return None
    fabric = (out_bps, in_bps)
    key = hashlib.blake2b(f"{method} {local_is_free} {trace.ports}".encode(), digest_size=16)
    arrays = (trace.arrival_s, trace.first_flow, trace.src, trace.dst, trace.size_bytes)
    for array in (*arrays, *fabric):
        key.update(array.data)
    name = key.digest()
    if name not in _values:
        load = loads(trace, out_bps=out_bps, in_bps=in_bps, local_is_free=local_is_free)
        _values[name] = (isolation(load) if method == "isolation" else best(load)).mean_s
    _values.move_to_end(name)
    while len(_values) > _KEPT:
        _values.popitem(last=False)
    return _values[name]
