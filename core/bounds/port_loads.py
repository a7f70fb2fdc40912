"""What each coflow needs of each port."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.errors import ParameterError
from core.jit import kernel
from core.trace import Floats, Ints, Ports, Trace

BYTES_PER_GBIT = 1.25e8


@dataclass(frozen=True, eq=False)
class Loads:
    """What each coflow needs of each port that it uses: one *entry* a coflow and port.

    Attributes
    ----------
    arrival_s : array of float64, shape (n,)
        [s], ascending.
    ports : int
        Hosts P; port p < P is the ingress port of host p, port P + p its egress port.
    first_entry : array of int64, shape (n + 1,)
        Entries of coflow k are ``first_entry[k]:first_entry[k + 1]``, ascending by port.
    port : array of int64, shape (m,)
    seconds : array of float64, shape (m,)
        Bytes at the port over its capacity [s]; ports without bytes have no entry.
    gamma_s : array of float64, shape (n,)
        Γ: the largest entry of each coflow [s], 0 without bytes.
    """

    arrival_s: Floats
    ports: int
    first_entry: Ints
    port: Ints
    seconds: Floats
    gamma_s: Floats

    def __len__(self) -> int:
        return len(self.arrival_s)

    @property
    def coflow_of_entry(self) -> Ints:
        """Index of the coflow of each entry, shape (m,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.first_entry))


def loads(
    trace: Trace,
    gbps: float = 1.0,
    *,
    out_bps: npt.ArrayLike | None = None,
    in_bps: npt.ArrayLike | None = None,
    local_is_free: bool = False,
) -> Loads:
    """Return the load of every coflow at every port that it uses.

    Parameters
    ----------
    trace : Trace
    gbps : float
        Capacity of every port [Gb/s] that `out_bps` or `in_bps` does not give.
    out_bps, in_bps : array_like, shape (P,), optional
        Capacities of the ingress and of the egress ports [B/s].
    local_is_free : bool
        Whether flows from a host to itself use no port.

    Raises
    ------
    ParameterError
        A capacity that is not finite and > 0, or an array of them of the wrong length.
    """
    capacity = np.concatenate(
        [
            _capacities("out_bps", out_bps, gbps, trace.ports),
            _capacities("in_bps", in_bps, gbps, trace.ports),
        ]
    )
    flows = (trace.first_flow, trace.src, trace.dst, trace.size_bytes, bool(local_is_free))
    first_entry = np.zeros(len(trace) + 1, np.int64)
    nothing = (np.empty(0, np.int64), np.empty(0), np.empty(0))
    _fill_entries(*flows, capacity, first_entry, *nothing)
    port = np.empty(first_entry[-1], np.int64)
    seconds, gamma = np.empty(len(port)), np.zeros(len(trace))
    _fill_entries(*flows, capacity, first_entry, port, seconds, gamma)
    coflow = np.repeat(np.arange(len(trace), dtype=np.int64), np.diff(first_entry))
    order = np.argsort(coflow * (2 * trace.ports) + port)
    return Loads(trace.arrival_s, trace.ports, first_entry, port[order], seconds[order], gamma)


def _capacities(name: str, bytes_per_s: npt.ArrayLike | None, gbps: float, ports: int) -> Floats:
    if bytes_per_s is None:
        name, bytes_per_s = "gbps", np.full(ports, gbps * BYTES_PER_GBIT)
    capacity = np.asarray(bytes_per_s, np.float64)
    if capacity.shape != (ports,):
        raise ParameterError(f"{name} has shape {capacity.shape}, one value a port is ({ports},)")
    wrong = capacity[~((capacity > 0) & (capacity < np.inf))]
    if len(wrong):
        raise ParameterError(f"{name}: a capacity of {wrong[0]} B/s, allowed is finite and > 0")
    return capacity


@kernel
def _fill_entries(
    first_flow: Ints,
    src: Ports,
    dst: Ports,
    size: Floats,
    local_is_free: bool,
    capacity: Floats,
    first_entry: Ints,
    port: Ints,
    seconds: Floats,
    gamma: Floats,
) -> None:
    """Add up loads [s] by coflow and port; with an empty `gamma` only count the entries."""
    ports = len(capacity) // 2
    load = np.zeros(2 * ports)
    for k in range(len(first_flow) - 1):
        used = 0
        touched = np.empty(2 * min(first_flow[k + 1] - first_flow[k], ports), np.int64)
        for f in range(first_flow[k], first_flow[k + 1]):
            if size[f] > 0 and not (local_is_free and src[f] == dst[f]):
                for p in (np.int64(src[f]), np.int64(dst[f]) + ports):
                    if load[p] == 0:
                        touched[used] = p
                        used += 1
                    load[p] += size[f]
        first_entry[k + 1] = first_entry[k] + used
        for i in range(used):
            p = touched[i]
            if len(gamma):
                port[first_entry[k] + i] = p
                seconds[first_entry[k] + i] = load[p] / capacity[p]
                gamma[k] = max(gamma[k], load[p] / capacity[p])
            load[p] = 0.0
