"""The fluid engine again, slowly: plain Python, exact fractions, nothing shared with ``core``.

Written to be read: rates live in a dictionary, ports in a list (senders first, then receivers),
and at each event everything is looked at afresh.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from core.trace import Trace

Number = int | float | Fraction
Rates = dict[int, Fraction]

IN_ORDER = ("fifo", "scf", "ncf", "lcf", "varys", "given")
D_CLAS = ("aalo", "asebf")


def exact(value: Number) -> Fraction:
    """Read a float as the simplest number that it can stand for, so that 0.003 is 3/1000."""
    return value if isinstance(value, Fraction) else Fraction(value).limit_denominator(10**9)


@dataclass(frozen=True)
class Options:
    """What a run may vary; bytes, seconds and bytes per second, exact where fractions are given.

    `out_bps` and `in_bps` hold one capacity a port or one for all. `ranks` is the order of the
    coflows for the scheduler ``given`` (smallest first), which no user sees: it lets a test try
    every order. `weights` belong to the queues from the highest on.
    """

    out_bps: Number | Sequence[Number] = 1
    in_bps: Number | Sequence[Number] = 1
    local_is_free: bool = False
    order: str = "static"
    ranks: Sequence[int] = ()
    count: int = 10
    first_threshold: Number = 10_000_000
    base: Number = 10
    threshold_mode: str = "cumulative"
    width: str = "receiver"
    between: str = "strict"
    weights: Sequence[Number] = ()
    within: str = "equal_split"
    backfill: bool = True
    trigger: str = "flow"
    interval: Number = 0


def options_of(
    values: Mapping[str, Any],
    out_bps: Sequence[Number] | None = None,
    in_bps: Sequence[Number] | None = None,
) -> Options:
    """Translate parameters as the engine takes them, as in ``{"engine.interval_ms": 8.0}``."""
    options = {key.rpartition(".")[2]: value for key, value in values.items()}
    uniform = exact(options.get("gbps", 1)) * 125_000_000
    options["out_bps"] = uniform if out_bps is None else out_bps
    options["in_bps"] = uniform if in_bps is None else in_bps
    options["first_threshold"] = exact(options.get("first_threshold_mb", 10)) * 10**6
    options["interval"] = exact(options.get("interval_ms", 0)) / 1000
    options["weights"] = [Fraction(w) for w in str(options.get("weights") or "").split(",") if w]
    names = Options.__dataclass_fields__
    return Options(**{key: value for key, value in options.items() if key in names})


class Decision(NamedTuple):
    """At `time` the flows got these rates; a flow that is not named stands still."""

    time: Fraction
    rates: Rates


class Twin:
    """One run of one scheduler on one trace.

    After `run`, `finish` holds the finish time of each coflow, `flow_finish` that of each flow,
    and `decisions` every decision in the order of time.
    """

    def __init__(self, trace: Trace, scheduler: str, options: Options | None = None, **fields: Any):
        self.scheduler = scheduler
        self.o = options or Options(**fields)
        self.ports = trace.ports
        self.arrival = [exact(t) for t in trace.arrival_s.tolist()]
        first = trace.first_flow.tolist()
        self.flows = [range(a, b) for a, b in pairwise(first)]
        self.coflow = [k for k, flows in enumerate(self.flows) for _ in flows]
        # A flow's two ports: its sender, and its receiver counted on behind the senders.
        receivers = [trace.ports + d for d in trace.dst.tolist()]
        self.ends = list(zip(trace.src.tolist(), receivers, strict=True))
        self.size = [exact(b) for b in trace.size_bytes.tolist()]
        self.capacity = self._side(self.o.out_bps) + self._side(self.o.in_bps)
        self.width = [self._width(k) for k in range(len(self.flows))]
        self.left = [self._starts_with(f) for f in range(len(self.size))]
        self.sent = [Fraction(0)] * len(self.flows)
        self.queue = [0] * len(self.flows)
        self.entered_with = [Fraction(0)] * len(self.flows)  # the metric, for per_queue
        self.rates: Rates = {}
        self.decisions: list[Decision] = []
        self.finish: list[Fraction] = list(self.arrival)
        self.flow_finish: list[Fraction] = [self.arrival[k] for k in self.coflow]
        self.first_key = [self.key(k) for k in range(len(self.flows))]

    def _side(self, capacity: Number | Sequence[Number]) -> list[Fraction]:
        each = capacity if isinstance(capacity, Iterable) else [capacity] * self.ports
        return [exact(value) for value in each]

    def _starts_with(self, f: int) -> Fraction:
        src, receiver = self.ends[f]
        free = self.o.local_is_free and receiver == self.ports + src
        return Fraction(0) if free else self.size[f]

    def _width(self, k: int) -> int:
        """Divide the bytes by this to get the metric; all flows of the trace count."""
        if self.scheduler != "asebf":
            return 1
        sides = [len({self.ends[f][side] for f in self.flows[k]}) for side in (0, 1)]
        if self.o.width in ("sender", "receiver"):
            return sides[self.o.width == "receiver"]
        if self.o.width == "flows":
            return len(self.flows[k])
        combine: dict[str, Any] = {"max": max, "min": min, "sum": sum}
        return int(combine[self.o.width](sides))

    def run(self) -> list[Fraction]:
        """Return the finish time of each coflow [s]."""
        waiting = list(range(len(self.flows)))
        active: list[int] = []
        now, due = Fraction(0), False
        while waiting or active:
            arrived = [k for k in waiting if self.arrival[k] == now]
            waiting = [k for k in waiting if self.arrival[k] != now]
            ended = [f for f in self.rates if self.left[f] == 0]
            for f in ended:
                self.flow_finish[f] = now
                del self.rates[f]
            active += arrived
            complete = [k for k in active if not self.live(k)]
            for k in complete:
                self.finish[k] = now
            active = [k for k in active if k not in complete]
            due |= bool(arrived or complete or any(self.must_leave(k) for k in active))
            # With nothing in motion nothing would ever happen again, so this end triggers too.
            due |= bool(ended and (self.o.trigger == "flow" or not self.rates))
            if due and self.next_tick(now) == now:
                self.decide(now, active)
                due = False
            if active or waiting:
                times = [self.arrival[k] for k in waiting]
                times += [self.next_tick(now)] if due else []
                then = self.next_event(now, times, active)
                self.move(then - now)
                now = then
        return self.finish

    def next_tick(self, now: Fraction) -> Fraction:
        delta = exact(self.o.interval)
        return now if delta == 0 else -(-now // delta) * delta

    def next_event(self, now: Fraction, times: list[Fraction], active: list[int]) -> Fraction:
        times += [now + self.left[f] / rate for f, rate in self.rates.items()]
        times += [now + wait for k in active if (wait := self.until_demotion(k)) is not None]
        if not times:
            raise RuntimeError(f"at {now} s the coflows {active} stand still for ever")
        return min(times)

    def move(self, seconds: Fraction) -> None:
        for f, rate in self.rates.items():
            self.left[f] -= rate * seconds
            self.sent[self.coflow[f]] += rate * seconds

    def live(self, k: int) -> list[int]:
        """Return the flows of coflow k with bytes left, by receiver, then sender."""
        return [f for f in self.flows[k] if self.left[f] > 0]

    def decide(self, now: Fraction, active: list[int]) -> None:
        for k in active:
            while self.must_leave(k):
                self.queue[k] += 1
                self.entered_with[k] = self.sent[k] / self.width[k]
        free = list(self.capacity)
        rates: Rates = {}
        if self.scheduler in IN_ORDER:
            key = self.key if self.o.order == "remaining" else self.first_key.__getitem__
            ordered = sorted(active, key=lambda k: (key(k), self.arrival[k], k))
            for k in ordered:
                self.madd(self.live(k), free, rates)
        elif self.scheduler in D_CLAS:
            ordered = sorted(active, key=lambda k: (self.queue[k], self.arrival[k], k))
            free = self.by_queue(ordered, rates)
        else:
            ordered = []
            allocate = self.max_min if self.scheduler == "fair" else self.matching
            allocate([f for k in active for f in self.live(k)], free, rates)
        if self.o.backfill:
            self.greedy([f for k in ordered for f in self.live(k)], free, rates)
        self.rates = {f: rate for f, rate in rates.items() if rate > 0}
        self.decisions.append(Decision(now, dict(self.rates)))

    def key(self, k: int) -> Fraction:
        """Smallest first, from the bytes left; a local flow that is free has none."""
        if self.scheduler == "varys":
            return self.gamma(self.live(k), self.capacity)
        if self.scheduler in ("scf", "ncf", "lcf"):
            keys: dict[str, Any] = {"scf": max, "ncf": len, "lcf": sum}
            return Fraction(keys[self.scheduler]([self.left[f] for f in self.flows[k]]))
        return Fraction(self.o.ranks[k] if self.scheduler == "given" else 0)

    def gamma(self, flows: Iterable[int], free: Sequence[Fraction]) -> Fraction:
        """Return the seconds that the busiest port needs for what is left."""
        load = [Fraction(0)] * len(free)
        for f in flows:
            for p in self.ends[f]:
                load[p] += self.left[f]
        return max(b / c for b, c in zip(load, free, strict=True) if c > 0)

    def limit(self, k: int) -> Fraction | None:
        """Value of the metric at which coflow k leaves its queue; the last one is for ever."""
        if self.scheduler not in D_CLAS or self.queue[k] == self.o.count - 1:
            return None
        quota = exact(self.o.first_threshold) * exact(self.o.base) ** self.queue[k]
        return quota + (self.entered_with[k] if self.o.threshold_mode == "per_queue" else 0)

    def must_leave(self, k: int) -> bool:
        limit = self.limit(k)
        return limit is not None and self.sent[k] / self.width[k] >= limit

    def until_demotion(self, k: int) -> Fraction | None:
        limit = self.limit(k)
        speed = sum((self.rates.get(f, Fraction(0)) for f in self.flows[k]), Fraction(0))
        if limit is None or speed == 0 or self.must_leave(k):
            return None
        return (limit * self.width[k] - self.sent[k]) / speed

    def by_queue(self, ordered: list[int], rates: Rates) -> list[Fraction]:
        """Give rates coflow by coflow, queue by queue; return what is free at the end."""
        within = self.max_min if self.o.within == "max_min" else self.equal_split
        weights = self.o.weights or range(self.o.count, 0, -1)
        used = sorted({self.queue[k] for k in ordered})
        total = sum((exact(weights[h]) for h in used), Fraction(0))
        free = [Fraction(0)] * len(self.capacity) if self.o.between == "wfq" else self.capacity[:]
        for h in used:
            if self.o.between == "wfq":
                share = exact(weights[h]) / total
                free = [f + c * share for f, c in zip(free, self.capacity, strict=True)]
            for k in ordered:
                if self.queue[k] == h:
                    within(self.live(k), free, rates)
        return free

    # The allocators: each adds to `rates` and takes from `free`.

    def give(self, f: int, rate: Fraction, free: list[Fraction], rates: Rates) -> None:
        rates[f] = rates.get(f, Fraction(0)) + rate
        for p in self.ends[f]:
            free[p] -= rate

    def open(self, flows: Iterable[int], free: Sequence[Fraction]) -> list[int]:
        return [f for f in flows if all(free[p] > 0 for p in self.ends[f])]

    def count(self, flows: Iterable[int]) -> Counter[int]:
        return Counter(p for f in flows for p in self.ends[f])

    def madd(self, flows: list[int], free: list[Fraction], rates: Rates) -> None:
        if len(self.open(flows, free)) == len(flows):
            gamma = self.gamma(flows, free)
            for f in flows:
                self.give(f, self.left[f] / gamma, free, rates)

    def equal_split(self, flows: list[int], free: list[Fraction], rates: Rates) -> None:
        flows = self.open(flows, free)
        n = self.count(flows)
        before = list(free)
        for f in flows:
            self.give(f, min(before[p] / n[p] for p in self.ends[f]), free, rates)

    def max_min(self, flows: list[int], free: list[Fraction], rates: Rates) -> None:
        while flows := self.open(flows, free):
            step = min(free[p] / n for p, n in self.count(flows).items())
            for f in flows:
                self.give(f, step, free, rates)

    def greedy(self, flows: list[int], free: list[Fraction], rates: Rates) -> None:
        for f in flows:
            self.give(f, min(free[p] for p in self.ends[f]), free, rates)

    def matching(self, flows: list[int], free: list[Fraction], rates: Rates) -> None:
        taken: set[int] = set()
        for f in sorted(flows, key=lambda f: (self.left[f], self.coflow[f], f)):
            if taken.isdisjoint(self.ends[f]):
                self.give(f, min(free[p] for p in self.ends[f]), free, rates)
                taken.update(self.ends[f])
