"""`View`: what a scheduler may look at when it orders coflows, and nothing else."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from core.fluid.demand import Demand
from core.fluid.state import FluidState
from core.queues import widths
from core.trace import Floats, Ints

Number = TypeVar("Number", np.float64, np.int64)
_LEVELS = ("blind", "width", "clairvoyant")


class View:
    """Coflows as a scheduler sees them: arrays of one number a coflow, the scheduler's own copies.

    A ``blind`` scheduler sees ids, arrivals and attained bytes; one with ``width`` also senders,
    receivers and flows; a ``clairvoyant`` one everything. Anything else raises AttributeError.

    Parameters
    ----------
    demand, net : Demand, FluidState
        The trace and the state of the run.
    coflows : array of int64
        Places in the trace of the coflows that are shown.
    scheduler, info : str
        Name, for messages, and what the scheduler may look at.
    """

    def __init__(
        self, demand: Demand, net: FluidState, coflows: Ints, scheduler: str, info: str
    ) -> None:
        self.__demand, self.__net, self.__coflows = demand, net, coflows
        self.__scheduler, self.__info = scheduler, info

    def __len__(self) -> int:
        return len(self.__coflows)

    @property
    def now_s(self) -> float:
        """Time [s]."""
        return float(self.__net.clock.now[0])

    @property
    def coflow_id(self) -> Ints:
        """Ids in the trace."""
        return self.__show(self.__demand.coflow_id)

    @property
    def arrival_s(self) -> Floats:
        """Arrivals [s]."""
        return self.__show(self.__demand.arrival_s)

    @property
    def attained_bytes(self) -> Floats:
        """Bytes sent so far [B]."""
        sent = self.__show(self.__demand.total_bytes) - self.__remaining("size")
        return np.maximum(sent, 0.0)

    @property
    def senders(self) -> Ints:
        """Distinct sending hosts of the whole coflow."""
        self.__needs("width", "senders")
        return self.__show(self.__demand.trace.distinct_ports(self.__demand.trace.src))

    @property
    def receivers(self) -> Ints:
        """Distinct receiving hosts of the whole coflow."""
        self.__needs("width", "receivers")
        return self.__show(self.__demand.trace.distinct_ports(self.__demand.trace.dst))

    @property
    def flows(self) -> Ints:
        """Flows of the whole coflow."""
        self.__needs("width", "flows")
        return self.__show(self.__demand.trace.flows_per_coflow())

    def width(self, kind: str) -> Floats:
        """Return ``receiver``, ``sender``, ``max``, ``min`` or ``sum`` of both, or ``flows``."""
        return widths(kind, self.senders, self.receivers, self.flows)

    @property
    def size_bytes(self) -> Floats:
        """All flows together [B]."""
        self.__needs("clairvoyant", "size_bytes")
        return self.__show(self.__demand.total_bytes)

    @property
    def length_bytes(self) -> Floats:
        """Largest flow [B]."""
        self.__needs("clairvoyant", "length_bytes")
        return self.__show(self.__demand.length_bytes)

    @property
    def gamma_s(self) -> Floats:
        """Γ: the time that the busiest port needs for the coflow alone [s]."""
        self.__needs("clairvoyant", "gamma_s")
        return self.__show(self.__demand.gamma_s)

    @property
    def remaining_bytes(self) -> Floats:
        """What is left of all flows together [B]."""
        self.__needs("clairvoyant", "remaining_bytes")
        return self.__remaining("size")

    @property
    def remaining_length_bytes(self) -> Floats:
        """What is left of the flow that has most left [B]."""
        self.__needs("clairvoyant", "remaining_length_bytes")
        return self.__remaining("length")

    @property
    def remaining_gamma_s(self) -> Floats:
        """Γ of what is left [s]."""
        self.__needs("clairvoyant", "remaining_gamma_s")
        return self.__remaining("gamma")

    def __needs(self, level: str, name: str) -> None:
        if _LEVELS.index(level) > _LEVELS.index(self.__info):
            raise AttributeError(
                f"scheduler {self.__scheduler} declares info={self.__info} and may not look at "
                f"{name}, which takes info={level}"
            )

    def __show(self, values: npt.NDArray[Number]) -> npt.NDArray[Number]:
        return values[self.__coflows]

    def __remaining(self, what: str) -> Floats:
        net, left = self.__net, np.zeros(len(self.__coflows))
        for i, k in enumerate(self.__coflows):
            c = net.coflow[k]
            if what == "gamma":
                slots = net.slot[c.first : c.last]
                parts = slots.load / net.capacity[slots.port]
            elif what == "size":
                parts = [net.slot[c.middle : c.last].load.sum()]
            else:
                first, last = self.__demand.first_flow[k : k + 2]
                parts = net.left[first:last]
            left[i] = np.max(parts, initial=0.0) * c.scale
        return left
