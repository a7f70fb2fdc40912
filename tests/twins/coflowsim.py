"""CoflowSim's semantics as plainly as they can be written: a quantum at a time, a flow at a time.

The oracle of the `coflowsim` engine. It shares no code with it: plain Python floats, no numpy, no
jump over quanta. Slow (a second of simulated time costs milliseconds), readable, and exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MB = 1048576.0
QUANTUM = 8  # ms
EPOCH = 10240  # ms
LINK = 1024.0 * 1048576.0  # bits per 1024 ms
ZERO = 1e-3


@dataclass
class Flow:
    src: int
    remaining: float
    rate: float = 0.0


@dataclass
class Reducer:
    rack: int
    left: float
    tally: float
    flows: list[Flow]
    done: bool = False
    frozen: bool = False


@dataclass
class Coflow:
    index: int
    arrival: float
    mappers: int
    reducers: list[Reducer]
    weight: float = 1.0
    attained: float = 0.0
    start: int = 0
    finish: int = 0
    queue: int = 0
    u: float = 0.0
    admitted: bool = False
    alpha: float = field(init=False)
    total: float = field(init=False)
    longest: float = field(init=False)

    def __post_init__(self) -> None:
        self.total = sum(r.left for r in self.reducers)
        self.longest = max(r.left for r in self.reducers)
        self.alpha = max(self.total / self.mappers, self.longest)

    def live(self):
        return [(r, f) for r in self.reducers for f in r.flows]


def java_random(seed: int):
    state = (seed ^ 0x5DEECE66D) & (2**48 - 1)

    def bits(n: int) -> int:
        nonlocal state
        state = (state * 0x5DEECE66D + 0xB) % 2**48
        return state >> (48 - n)

    while True:
        yield ((bits(26) << 27) + bits(27)) / 2**53


def coflows_from_text(text: str, width: str = "receiver") -> list[Coflow]:
    """Parse a coflow-benchmark file; width picks the divisor of A-SEBF's metric."""
    parsed = []
    for line in text.splitlines()[1:]:
        word = line.split()
        if not word:
            continue
        m = int(word[2])
        reducers = [w.split(":") for w in word[4 + m :]]
        parsed.append((float(word[1]), word[3 : 3 + m], reducers))
    parsed.sort(key=lambda p: p[0])
    coflows = []
    for index, (arrival, mappers, pairs) in enumerate(parsed):
        racks = sorted({int(m) for m in mappers})
        merged: dict[int, int] = {}
        for rack, mb in pairs:
            whole_bytes = int(float(mb) * 1048576)
            merged[int(rack)] = merged.get(int(rack), 0) + -(-whole_bytes // 1048576)
        m = len(racks)
        reducers = []
        for rack in sorted(merged):
            rounded = -(-merged[rack] // m) * m * MB
            flows = [Flow(src, max(rounded / m, MB)) for src in racks]
            reducers.append(Reducer(rack, rounded, merged[rack] * MB, flows))
        coflow = Coflow(index, arrival, m, reducers)
        r = len(reducers)
        widths = {"receiver": r, "sender": m, "max": max(m, r), "min": min(m, r)}
        widths |= {"sum": m + r, "flows": m * r}
        coflow.weight = float(widths[width])
        coflows.append(coflow)
    draw = java_random(17)
    for coflow in coflows:
        coflow.u = next(draw)
    return coflows


class Twin:
    def __init__(self, text: str, algorithm: str, width: str = "receiver", **queues: float):
        self.ports = int(text.split()[0])
        self.algorithm = algorithm
        self.coflows = coflows_from_text(text, width if algorithm == "ASEBF" else "receiver")
        if algorithm != "ASEBF":
            for c in self.coflows:
                c.weight = 1.0
        self.count = int(queues.get("count", 10))
        self.limits = [queues.get("first_mb", 10.0) * MB]
        for _ in range(self.count - 2):
            self.limits.append(self.limits[-1] * queues.get("base", 10.0))
        if self.count == 1:
            self.limits = []
        self.active: list[Coflow] = []
        self.queues: list[list[Coflow]] = [[] for _ in range(self.count)]
        self.lists: list[list[tuple[Coflow, Reducer, Flow]]] = [[] for _ in range(self.ports)]
        self.order_based = algorithm in ("FIFO", "SCF", "NCF", "LCF", "SEBF")

    # -- the loop -------------------------------------------------------------------------
    def run(self) -> list[int]:
        waiting = list(self.coflows)
        epoch = 0
        while waiting or self.active:
            admitted = [c for c in waiting if c.arrival <= epoch + EPOCH]
            waiting = waiting[len(admitted) :]
            for c in admitted:
                c.start = epoch
                self.admit(c)
            if admitted:
                self.lay_out()
                self.recompute(epoch)
            t = epoch
            while t < epoch + EPOCH and self.active:
                if self.quantum(t):
                    self.recompute(t)
                t += QUANTUM
            epoch += EPOCH
        return [c.finish - c.start for c in self.coflows]

    def admit(self, new: Coflow) -> None:
        new.admitted = True
        if self.algorithm in ("DARK", "ASEBF"):
            self.queues[0].append(new)
            self.active.append(new)
        elif self.order_based and self.algorithm != "FIFO":
            at = len(self.active)
            for i, other in enumerate(self.active):
                if self.key(other) > self.key(new):
                    at = i
                    break
            self.active.insert(at, new)
        else:
            self.active.append(new)
        if self.algorithm == "PFP":
            for r in new.reducers:
                for f in r.flows:
                    row = self.lists[r.rack]
                    at = next((i for i, e in enumerate(row) if e[2].remaining > f.remaining), None)
                    row.insert(len(row) if at is None else at, (new, r, f))

    def key(self, c: Coflow) -> float:
        return {
            "SCF": lambda: c.longest / c.mappers,
            "NCF": lambda: min(c.mappers, len(c.reducers)),
            "LCF": lambda: sum(r.tally for r in c.reducers),
            "SEBF": lambda: c.alpha,
        }[self.algorithm]()

    # -- a quantum ------------------------------------------------------------------------
    def quantum(self, t: int) -> bool:
        """Move every flow; True if a coflow completed."""
        per_flow = self.algorithm in ("FAIR", "PFP")
        if self.algorithm == "FAIR":
            self.fair_rates()
        elif self.algorithm == "PFP":
            self.pfp_rates()
        finished = False
        for c in self.moving() if per_flow else list(self.active):
            for r in c.reducers:
                for f in list(r.flows):
                    if r.frozen or (self.algorithm == "PFP" and f.rate == 0):
                        continue
                    self.move(c, r, f)
                    if not r.done and (r.left <= ZERO or not r.flows):
                        r.done = True
                        r.left = 0.0
            if c in self.active and all(r.done for r in c.reducers):
                c.finish = t + QUANTUM
                self.active.remove(c)
                for q in self.queues:
                    if c in q:
                        q.remove(c)
                finished = True
        return finished

    def moving(self) -> list[Coflow]:
        """Coflows whose flows are on a receiver's list: complete ones too."""
        return [c for c in self.coflows if c.admitted and any(r.flows for r in c.reducers)]

    def move(self, c: Coflow, r: Reducer, f: Flow) -> None:
        moved = min(f.rate / 8 * (8 / 1024), f.remaining)
        f.remaining -= moved
        r.left -= moved
        r.tally = max(0.0, r.tally - moved)
        c.attained += moved
        if f.remaining <= ZERO:
            r.flows.remove(f)
            self.lists[r.rack] = [e for e in self.lists[r.rack] if e[2] is not f]

    def fair_rates(self) -> None:
        src, dst = [0] * self.ports, [0] * self.ports
        for c in self.moving():
            for r, f in c.live():
                src[f.src] += 1
                dst[r.rack] += 1
        for c in self.moving():
            for r, f in c.live():
                f.rate = min(MB / dst[r.rack], MB / src[f.src]) * 1024

    def pfp_rates(self) -> None:
        for c in self.moving():
            for _, f in c.live():
                f.rate = 0.0
        busy: set[int] = set()
        for row in self.lists:
            for _, _, f in row:
                if f.src not in busy:
                    busy.add(f.src)
                    f.rate = MB * 1024
                    break

    # -- rates ----------------------------------------------------------------------------
    def lay_out(self) -> None:
        """Fix which flows move: those of reducers that are complete stay where they are."""
        if self.algorithm not in ("FAIR", "PFP"):
            for c in self.active:
                for r in c.reducers:
                    r.frozen = r.done

    def recompute(self, now: int) -> None:
        if self.algorithm in ("FAIR", "PFP"):
            return
        if not self.order_based:
            self.lay_out()
        self.src_free = [LINK] * self.ports
        self.dst_free = [LINK] * self.ports
        if self.order_based:
            self.passes(now)
        else:
            self.dark()

    def passes(self, now: int) -> None:
        skipped = []
        for c in self.active:
            for _, f in c.live():
                f.rate = 0.0
            alpha = self.online_alpha(c)
            if alpha is None:
                skipped.append(c)
                continue
            used = []
            for r, f in c.live():
                if self.dst_free[r.rack] > ZERO and alpha > 0:
                    rate = 8 * f.remaining / alpha
                    if rate > self.src_free[f.src] or rate > self.dst_free[r.rack]:
                        rate = min(self.src_free[f.src], self.dst_free[r.rack])
                    f.rate = rate
                    used.append((f.src, r.rack, rate))
            self.subtract(used)
        self.equal_split(skipped)
        order = sorted(
            self.active,
            key=lambda c: int(c.start + c.alpha / 134217728 * (1 + c.u) * 1000 - now),
        )
        for c in order:
            for r, f in c.live():
                extra = min(self.src_free[f.src], self.dst_free[r.rack])
                if extra <= ZERO:
                    extra = 0.0
                f.rate += extra
                self.src_free[f.src] -= extra
                self.dst_free[r.rack] -= extra

    def online_alpha(self, c: Coflow) -> float | None:
        sending, receiving = {}, {}
        for r in c.reducers:
            receiving[r.rack] = r.left
            for f in r.flows:
                sending[f.src] = sending.get(f.src, 0.0) + f.remaining
        alpha = 0.0
        sides = ((sending, self.src_free), (receiving, self.dst_free))
        for load, free in sides:
            for port, size in load.items():
                if size > 0 and free[port] <= ZERO:
                    return None
                if free[port] != 0:
                    alpha = max(alpha, 8 * size / free[port])
        return alpha

    def equal_split(self, coflows: list[Coflow]) -> None:
        src, dst = [0] * self.ports, [0] * self.ports
        eligible = [
            (r, f)
            for c in coflows
            for r, f in c.live()
            if self.src_free[f.src] > ZERO and self.dst_free[r.rack] > ZERO
        ]
        for r, f in eligible:
            src[f.src] += 1
            dst[r.rack] += 1
        used = []
        for r, f in eligible:
            a = self.src_free[f.src] / src[f.src]
            b = self.dst_free[r.rack] / dst[r.rack]
            f.rate = min(a, b) if min(a, b) > ZERO else 0.0
            used.append((f.src, r.rack, f.rate))
        self.subtract(used)

    def subtract(self, used: list[tuple[int, int, float]]) -> None:
        src, dst = [0.0] * self.ports, [0.0] * self.ports
        for s, d, rate in used:
            src[s] += rate
            dst[d] += rate
        for p in range(self.ports):
            self.src_free[p] -= src[p]
            self.dst_free[p] -= dst[p]

    def dark(self) -> None:
        for q in range(self.count):
            for c in list(self.queues[q]):
                above = sum(c.attained / c.weight > limit for limit in self.limits)
                if above > q and q + 1 < self.count:
                    self.queues[q].remove(c)
                    self.queues[q + 1].append(c)
        for q in self.queues:
            for c in q:
                for _, f in c.live():
                    f.rate = 0.0
                self.equal_split([c])


def random_trace(random, quanta: int = 3000) -> str:
    """Draw a small trace full of corner cases; `quanta` bounds what one port has to carry.

    `random` is a `random.Random`.
    """
    ports = random.choice((1, 2, 3, 3, 4, 6, 9))
    style = random.choice(("whole", "fraction", "tiny", "mixed", "equal", "mixed"))
    when = random.choice(("together", "grid", "spread", "gaps", "mixed"))
    n = random.choice((1, 2, 3, 5, 8, 13))
    wide = random.random() < 0.5
    budget = random.choice((60, 400, quanta))
    equal = random.choice((1, 3, 10, 64, 100))

    def megabytes() -> str:
        kind = style if style != "mixed" else random.choice(("whole", "fraction", "zero", "big"))
        if kind == "equal":
            return str(equal)
        if kind == "whole":
            return str(random.randint(0 if random.random() < 0.1 else 1, 40))
        if kind == "fraction":
            return f"{random.uniform(0, 25):.{random.randint(1, 4)}f}"
        if kind == "tiny":
            return random.choice(("0", "0.001", "0.5", "1", "1.000001", "0.0000001", "2"))
        return "0" if kind == "zero" else str(random.randint(1, budget))

    def arrival() -> str:
        kind = when if when != "mixed" else random.choice(("grid", "spread", "gaps", "fraction"))
        if kind == "together":
            return random.choice(("0", "0", "3000", "10240", "10241"))
        if kind == "grid":
            return str(max(0, random.randint(0, 6) * 10240 + random.choice((-1, 0, 0, 1))))
        if kind == "spread":
            return str(random.randint(0, 60000))
        if kind == "fraction":
            return f"{random.uniform(0, 30000):.3f}"
        return str(random.randint(0, 8) * 700000 + random.randint(0, 20000))

    lines = [f"{ports} {n}"]
    for index in range(n):
        most = ports + 1 if wide else min(ports, 2)
        mappers = [random.randrange(ports) for _ in range(random.randint(1, most))]
        reducers = [random.randrange(ports) for _ in range(random.randint(1, most))]
        pairs = [f"{rack}:{megabytes()}" for rack in reducers]
        head = [str(index + 1), arrival(), str(len(mappers)), *map(str, mappers), str(len(pairs))]
        lines.append(" ".join(head + pairs))
    return "\n".join(lines) + "\n"
