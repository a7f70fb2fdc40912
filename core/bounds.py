"""Lower bounds on the average CCT: what no scheduler can beat, whatever it knows.

Every bound here is a *partition*: each coflow is assigned to one port or to none. At a port, the
coflows assigned to it need at least as long as jobs on one machine, with their load there as
processing time; for the sum of the completion times of jobs with release times no schedule beats
preemptive SRPT (Schrage). A coflow without a port still needs its Γ. Each coflow counts once,
so the sums of all ports add up. Percentiles are not bounded by any of this.

::

    isolation     no coflow has a port
    single_port   every coflow with load at the best port has that one
    partition     the best that a search of fixed length finds

Sources: L. Schrage, A Proof of the Optimality of the Shortest Remaining Processing Time
Discipline, Operations Research 1968; G. Dueck and T. Scheuer, Threshold Accepting, Journal of
Computational Physics 1990 (the search).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.errors import ParameterError
from core.jit import kernel
from core.trace import Floats, Ints, Ports, Trace

BYTES_PER_GBIT = 1.25e8
NO_PORT = -1

EFFORT = 5_000_000
"""Jobs that the search for a partition schedules: less than half a second on one core."""

_EFFORT_PER_ENTRY = 2_000  # a few coflows need no more

# Tried on the Facebook trace with six seeds each: temperatures 0.3 to 2, growth 3 and 8, first
# stage 16 and 32. At these values every seed came within 0.1 % of the best found (with a single
# stage, half of them missed it by 7 %), and of 1500 traces with four coflows none was missed.
_TEMPERATURE = 0.6
_FIRST_STAGE, _STAGE_GROWTH = 16, 3
_ANYWHERE = 0.25  # of the moves go to any port of the coflow, the others to one that is in use
_TOGETHER = 0.06  # of the moves take along all coflows of the port that can
_DRAWS = 4096


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


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound together with the partition that proves it.

    Attributes
    ----------
    mean_s : float
        No schedule has a smaller average CCT [s] (up to rounding, 1e-12 of the value).
    method : {"isolation", "single_port", "partition"}
    port : array of int64, shape (n,)
        Port that each coflow is assigned to, as numbered in `Loads`, or `NO_PORT`.
    """

    mean_s: float
    method: str
    port: Ints


def lower_bound(
    trace: Trace,
    gbps: float = 1.0,
    *,
    out_bps: npt.ArrayLike | None = None,
    in_bps: npt.ArrayLike | None = None,
    local_is_free: bool = False,
    effort: int = EFFORT,
    seed: int = 0,
) -> Bound:
    """Return the largest of the three lower bounds on the average CCT.

    Parameters
    ----------
    trace : Trace
    gbps, out_bps, in_bps, local_is_free
        The fabric, as for `loads`.
    effort, seed
        The search, as for `partition`.

    Raises
    ------
    ParameterError
        A capacity that is not finite and > 0, or an array of them of the wrong length.

    Examples
    --------
    Two coflows need the same two ports for 1 s each, so one of them waits:

    >>> from core.trace import from_flows
    >>> trace = from_flows("two", 2, [(1, 0.0, [(0, 1, 1.25e8)]), (2, 0.0, [(0, 1, 1.25e8)])])
    >>> lower_bound(trace).mean_s
    1.5
    """
    found = loads(trace, gbps, out_bps=out_bps, in_bps=in_bps, local_is_free=local_is_free)
    bounds = (isolation(found), single_port(found), partition(found, effort, seed))
    return max(bounds, key=lambda bound: bound.mean_s)


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


def isolation(found: Loads) -> Bound:
    """Mean of Γ: every coflow alone in the fabric."""
    port = np.full(len(found), NO_PORT, np.int64)
    return Bound(evaluate(found, port), "isolation", port)


def single_port(found: Loads) -> Bound:
    """One port, with every coflow that has load there: the port for which this proves most."""
    order = np.argsort(found.port, kind="stable")
    starts = np.searchsorted(found.port[order], np.arange(2 * found.ports + 1))
    coflow = found.coflow_of_entry
    work = (found.arrival_s[coflow[order]], found.seconds[order])
    gain = _srpt_by_port(*work, starts) - np.bincount(
        found.port, weights=found.gamma_s[coflow], minlength=2 * found.ports
    )
    best = int(np.argmax(gain))
    port = np.full(len(found), NO_PORT, np.int64)
    port[coflow[found.port == best]] = best
    return Bound(evaluate(found, port), "single_port", port)


def partition(found: Loads, effort: int = EFFORT, seed: int = 0) -> Bound:
    """Search for a good partition; at least as large as isolation whatever the effort.

    The largest coflows are placed first, as a few of them decide most of the bound: every stage
    takes three times as many, puts each new one on the port where it adds most, and then moves
    all of them by threshold accepting. Only the two ports of a move are scheduled anew.

    Parameters
    ----------
    found : Loads
    effort : int
        How many jobs are scheduled in all evaluations together, cut to 2000 an entry of `found`.
        A count and not a time limit, so that the same bound comes out on every machine.
    seed : int
        For the order of the moves.
    """
    search = _new_search(found)
    ranks = np.argsort(-found.gamma_s, kind="stable")[: np.count_nonzero(found.gamma_s)]
    if len(ranks) == 0:
        return replace(isolation(found), method="partition")
    stages = [len(ranks)]
    while stages[0] >= _FIRST_STAGE * _STAGE_GROWTH:
        stages.insert(0, stages[0] // _STAGE_GROWTH)
    effort = min(effort, _EFFORT_PER_ENTRY * len(found.port))
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    placed = 0
    for stage, size in enumerate(stages, start=1):
        limit = effort * stage // len(stages)
        _place(search, ranks[placed:size], limit)
        _improve(search, ranks[:size], limit, found.gamma_s, rng)
        placed = size
    port = np.full(len(found), NO_PORT, np.int64)
    assigned = search.at >= 0
    port[assigned] = found.port[search.at[assigned]]
    return Bound(evaluate(found, port), "partition", port)


def srpt_flow_time(arrival_s: npt.ArrayLike, work_s: npt.ArrayLike) -> float:
    """Total time in the system under preemptive SRPT on one machine, in O(n log n).

    Parameters
    ----------
    arrival_s : array_like, shape (n,)
        [s], in any order.
    work_s : array_like, shape (n,)
        Processing times [s], ≥ 0.

    Examples
    --------
    The short job overtakes: 2 s for it, 1 + 2 + 9 s for the long one.

    >>> srpt_flow_time([0, 1], [10, 2])
    14.0
    """
    arrival, work = np.asarray(arrival_s, np.float64), np.asarray(work_s, np.float64)
    order = np.argsort(arrival, kind="stable")
    return float(_srpt(arrival[order], work[order], len(order), np.empty(len(order))))


def evaluate(found: Loads, port: Ints) -> float:
    """Return the lower bound that a partition proves, from scratch [s].

    Parameters
    ----------
    found : Loads
    port : array of int64, shape (n,)
        Port of each coflow or `NO_PORT`. A coflow on a port that it does not use counts as 0.
    """
    chosen = np.flatnonzero(found.port == port[found.coflow_of_entry])
    chosen = chosen[np.argsort(found.port[chosen], kind="stable")]
    starts = np.searchsorted(found.port[chosen], np.arange(2 * found.ports + 1))
    coflow = found.coflow_of_entry[chosen]
    shared = _srpt_by_port(found.arrival_s[coflow], found.seconds[chosen], starts)
    total = math.fsum([*shared, *found.gamma_s[port == NO_PORT]])
    return total / max(len(found), 1)


def _capacities(name: str, given: npt.ArrayLike | None, gbps: float, ports: int) -> Floats:
    if given is None:
        name, given = "gbps", np.full(ports, gbps * BYTES_PER_GBIT)
    capacity = np.asarray(given, np.float64)
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


# --- Preemptive SRPT on one machine -----------------------------------------------------------


@kernel
def _srpt(arrival: Floats, work: Floats, jobs: int, heap: Floats) -> float:
    """Total flow time [s] of the first `jobs` jobs, sorted by arrival.

    The time is added up as (jobs present) × (time passed): nothing large is subtracted.
    """
    total, now, present = 0.0, 0.0, 0
    for j in range(jobs + 1):
        until = arrival[j] if j < jobs else np.inf
        while present > 0:
            shortest = heap[0]
            if now + shortest > until:
                total += present * (until - now)
                heap[0] = max(shortest - (until - now), 0.0)
                break
            total += present * shortest
            now += shortest
            present -= 1
            _sift_down(heap, present)
        if j < jobs:
            now = until
            _sift_up(heap, present, work[j])
            present += 1
    return total


@kernel
def _sift_up(heap: Floats, i: int, value: float) -> None:
    """Add `value` to a heap of i values."""
    while i > 0 and heap[(i - 1) // 2] > value:
        heap[i] = heap[(i - 1) // 2]
        i = (i - 1) // 2
    heap[i] = value


@kernel
def _sift_down(heap: Floats, n: int) -> None:
    """Remove the smallest of n + 1 values."""
    value, i, child = heap[n], 0, 1
    while child < n:
        if child + 1 < n and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[i] = heap[child]
        i, child = child, 2 * child + 1
    heap[i] = value


@kernel
def _srpt_by_port(arrival: Floats, work: Floats, starts: Ints) -> Floats:
    """SRPT of each port's jobs [s]; jobs of port p are ``starts[p]:starts[p + 1]``."""
    total = np.zeros(len(starts) - 1)
    heap = np.empty(len(arrival))
    for p in range(len(total)):
        jobs = slice(starts[p], starts[p + 1])
        total[p] = _srpt(arrival[jobs], work[jobs], starts[p + 1] - starts[p], heap)
    return total


# --- The search ---------------------------------------------------------------------------------


class _Search(NamedTuple):
    """Entries as in `Loads`, and the partition so far.

    Port p holds the entries ``members[room[p]:room[p] + held[p]]``, ascending, which is by
    arrival; there is room for every entry of the port. `at` is the chosen entry of each coflow or
    −1, `value` the SRPT sum of each port [s]. `spent` counts scheduled jobs. The rest is scratch.
    """

    arrival: Floats
    first_entry: Ints
    coflow: Ints
    port: Ints
    seconds: Floats
    room: Ints
    members: Ints
    held: Ints
    at: Ints
    value: Floats
    spent: Ints
    job_arrival: Floats
    job_work: Floats
    heap: Floats
    moved: Ints


def _new_search(found: Loads) -> _Search:
    each = np.bincount(found.port, minlength=2 * found.ports)
    most = int(each.max(initial=0)) + 1
    return _Search(
        arrival=np.array(found.arrival_s),
        first_entry=found.first_entry,
        coflow=found.coflow_of_entry,
        port=found.port,
        seconds=found.seconds,
        room=np.concatenate(([0], np.cumsum(each))).astype(np.int64),
        members=np.empty(len(found.port), np.int64),
        held=np.zeros(2 * found.ports, np.int64),
        at=np.full(len(found), -1, np.int64),
        value=np.zeros(2 * found.ports),
        spent=np.zeros(1, np.int64),
        job_arrival=np.empty(most),
        job_work=np.empty(most),
        heap=np.empty(most),
        moved=np.empty(most, np.int64),
    )


def _improve(
    search: _Search, ranks: Ints, limit: int, gamma: Floats, rng: np.random.Generator
) -> None:
    """Move the coflows `ranks` until `limit` jobs have been scheduled; never end up worse."""
    start = search.spent[0]
    state = (search.value, search.members, search.held, search.at)
    before = [array.copy() for array in state]
    while search.spent[0] < limit:
        _try_moves(search, ranks, start, limit, gamma, rng.random((_DRAWS, 4)))
    if search.value.sum() < before[0].sum():
        for array, old in zip(state, before, strict=True):
            array[:] = old


@kernel
def _trial(s: _Search, p: int, joining: int) -> float:
    """SRPT sum [s] of port p with one more entry; −1 is no entry."""
    jobs, first = 0, s.room[p]
    for i in range(first, first + s.held[p] + 1):
        last = i == first + s.held[p]
        if joining >= 0 and (last or s.members[i] > joining):
            s.job_arrival[jobs] = s.arrival[s.coflow[joining]]
            s.job_work[jobs] = s.seconds[joining]
            jobs, joining = jobs + 1, -1
        if not last:
            s.job_arrival[jobs] = s.arrival[s.coflow[s.members[i]]]
            s.job_work[jobs] = s.seconds[s.members[i]]
            jobs += 1
    s.spent[0] += jobs + 1
    return _srpt(s.job_arrival, s.job_work, jobs, s.heap)


@kernel
def _join(s: _Search, e: int) -> None:
    """Assign the coflow of entry e to its port; the port's value is left as it was."""
    p = s.port[e]
    i = s.room[p] + s.held[p]
    while i > s.room[p] and s.members[i - 1] > e:
        s.members[i] = s.members[i - 1]
        i -= 1
    s.members[i] = e
    s.held[p] += 1
    s.at[s.coflow[e]] = e


@kernel
def _leave(s: _Search, e: int) -> None:
    """Take the coflow of entry e off its port; the port's value is left as it was."""
    p = s.port[e]
    s.held[p] -= 1
    end = s.room[p] + s.held[p]
    i = s.room[p]
    while s.members[i] != e:
        i += 1
    while i < end:
        s.members[i] = s.members[i + 1]
        i += 1
    s.at[s.coflow[e]] = -1


@kernel
def _place(s: _Search, coflows: Ints, limit: int) -> None:
    """Assign each coflow to the port where it adds most; past the limit to its bottleneck."""
    for k in coflows:
        first, last = s.first_entry[k], s.first_entry[k + 1]
        best = first
        for e in range(first, last):
            if s.seconds[e] > s.seconds[best]:
                best = e
        best_value = _trial(s, s.port[best], best)
        for e in range(first, last):
            if s.spent[0] >= limit:
                break
            value = _trial(s, s.port[e], e)
            if value - s.value[s.port[e]] > best_value - s.value[s.port[best]]:
                best, best_value = e, value
        _join(s, best)
        s.value[s.port[best]] = best_value


@kernel
def _entry_at(s: _Search, k: int, p: int) -> int:
    """Entry of coflow k at port p, −1 if it does not use it."""
    low, high = s.first_entry[k], s.first_entry[k + 1]
    while low < high:
        middle = (low + high) // 2
        if s.port[middle] < p:
            low = middle + 1
        else:
            high = middle
    return low if low < s.first_entry[k + 1] and s.port[low] == p else -1


@kernel
def _move(s: _Search, e: int, together: bool) -> int:
    """Move the coflow of entry e there, or `together` all of its port that can; return how many.

    Without the moves of many, coflows that prove most at one port never leave another one that
    suits some of them: each move alone would lose.
    """
    p, q = s.port[s.at[s.coflow[e]]], s.port[e]
    moved, i = 0, s.room[p]
    while i < s.room[p] + s.held[p]:
        old = s.members[i]
        new = -1
        if together or s.coflow[old] == s.coflow[e]:
            new = _entry_at(s, s.coflow[old], q)
        if new < 0:
            i += 1
            continue
        _leave(s, old)
        _join(s, new)
        s.moved[moved] = old
        moved += 1
    s.value[p] = _trial(s, p, -1)
    s.value[q] = _trial(s, q, -1)
    return moved


@kernel
def _try_moves(
    s: _Search, ranks: Ints, start: int, limit: int, gamma: Floats, draws: Floats
) -> None:
    """Try one move for each row of `draws` (numbers in 0…1), until `limit` jobs are scheduled.

    A move may lose up to a share of the coflow's Γ that shrinks to nothing. Only products and
    sums decide, no exponential, so that all machines take the same moves.
    """
    for d in range(len(draws)):
        if s.spent[0] >= limit:
            break
        s.spent[0] += 3  # about what a move that comes to nothing takes
        cooling = (limit - s.spent[0]) / (limit - start)
        k = ranks[int(draws[d, 0] * len(ranks))]
        first, last = s.first_entry[k], s.first_entry[k + 1]
        if draws[d, 1] < _ANYWHERE:
            e = first + int(draws[d, 2] * (last - first))
        else:
            e = _entry_at(s, k, s.port[s.at[ranks[int(draws[d, 2] * len(ranks))]]])
        if e < 0 or e == s.at[k]:
            continue
        p, q = s.port[s.at[k]], s.port[e]
        value_p, value_q = s.value[p], s.value[q]
        moved = _move(s, e, draws[d, 3] < _TOGETHER)
        gain = s.value[p] + s.value[q] - value_p - value_q
        if gain <= -_TEMPERATURE * cooling * cooling * gamma[k]:
            for i in range(moved):
                _leave(s, s.at[s.coflow[s.moved[i]]])
                _join(s, s.moved[i])
            s.value[p], s.value[q] = value_p, value_q
