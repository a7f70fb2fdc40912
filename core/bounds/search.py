"""The search for a partition that proves much.

Source: G. Dueck and T. Scheuer, Threshold Accepting, Journal of Computational Physics 1990.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from core.bounds.bound import NO_PORT, Bound, evaluate, isolation, single_port
from core.bounds.port_loads import Loads
from core.bounds.srpt import total_flow_time
from core.jit import inner, kernel
from core.trace import Floats, Ints

EFFORT = 2_000_000
"""Jobs that the search for a partition schedules: about 0.15 s on one core."""

_EFFORT_PER_ENTRY = 2_000  # a few coflows need no more

# Tried on the Facebook trace with six seeds each: temperatures 0.3 to 2, growth 3 and 8, first
# stage 16 and 32. At these values every seed came within 0.1 % of the best found (with a single
# stage, half of them missed it by 7 %), and of 1500 traces with four coflows none was missed.
_TEMPERATURE = 0.6
_FIRST_STAGE, _STAGE_GROWTH = 16, 3
_ANYWHERE = 0.25  # of the moves go to any port of the coflow, the others to one that is in use
_TOGETHER = 0.06  # of the moves take along all coflows of the port that can
_DRAWS = 4096


def partition(load: Loads, effort: int = EFFORT, seed: int = 0) -> Bound:
    """Search for a good partition; at least as large as isolation whatever the effort.

    The largest coflows are placed first, as a few of them decide most of the bound: every stage
    takes three times as many, puts each new one on the port where it adds most, and then moves
    all of them by threshold accepting. Only the two ports of a move are scheduled again.

    Parameters
    ----------
    load : Loads
    effort : int
        How many jobs are scheduled in all evaluations together, cut to 2000 an entry of `load`.
        A count and not a time limit, so that the same bound comes out on every machine.
    seed : int
        For the order of the moves.
    """
    search = _new_search(load)
    ranks = np.argsort(-load.gamma_s, kind="stable")[: np.count_nonzero(load.gamma_s)]
    if len(ranks) == 0:
        return replace(isolation(load), method="partition")
    stages = [len(ranks)]
    while stages[0] >= _FIRST_STAGE * _STAGE_GROWTH:
        stages.insert(0, stages[0] // _STAGE_GROWTH)
    effort = min(effort, _EFFORT_PER_ENTRY * len(load.port))
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    placed = 0
    for stage, size in enumerate(stages, start=1):
        limit = effort * stage // len(stages)
        _assign(search, ranks[placed:size], limit)
        _improve(search, ranks[:size], limit, load.gamma_s, rng)
        placed = size
    port = np.full(len(load), NO_PORT, np.int64)
    assigned = search.at >= 0
    port[assigned] = load.port[search.at[assigned]]
    return Bound(evaluate(load, port), "partition", port)


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


def best(load: Loads, effort: int = EFFORT, seed: int = 0) -> Bound:
    """Return the largest of the three bounds; `effort` and `seed` as for `partition`."""
    bounds = (isolation(load), single_port(load), partition(load, effort, seed))
    return max(bounds, key=lambda bound: bound.mean_s)


def _new_search(load: Loads) -> _Search:
    each = np.bincount(load.port, minlength=2 * load.ports)
    most = int(each.max(initial=0)) + 1
    return _Search(
        arrival=np.array(load.arrival_s),
        first_entry=load.first_entry,
        coflow=load.coflow_of_entry,
        port=load.port,
        seconds=load.seconds,
        room=np.concatenate(([0], np.cumsum(each))).astype(np.int64),
        members=np.empty(len(load.port), np.int64),
        held=np.zeros(2 * load.ports, np.int64),
        at=np.full(len(load), -1, np.int64),
        value=np.zeros(2 * load.ports),
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


@inner
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
    return total_flow_time(s.job_arrival, s.job_work, jobs, s.heap)


@inner
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


@inner
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
def _assign(s: _Search, coflows: Ints, limit: int) -> None:
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


@inner
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


@inner
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
