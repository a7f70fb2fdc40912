"""Parameters of the queues of D-CLAS and of a coflow's width; both engines read them."""

from __future__ import annotations

import numpy as np

from core.notes import note
from core.parameters import Parameter, Values, number
from core.trace import Floats, Ints

FIRST_THRESHOLD = Parameter(
    "queue.first_threshold_mb",
    float,
    10.0,
    "threshold of the highest-priority queue (Q0)",
    unit="MB",
    minimum=0.0,
    open_minimum=True,
)
BASE = Parameter(
    "queue.base",
    float,
    10.0,
    "factor between consecutive queue thresholds (E)",
    minimum=1.0,
    open_minimum=True,
)
COUNT = Parameter("queue.count", int, 10, "number of queues (K)", minimum=1, maximum=1000)
WIDTH = Parameter(
    "width",
    str,
    "receiver",
    "divide a coflow's attained bytes by its receivers, its senders, the larger, the smaller or "
    "the sum of both, or its flows",
    choices=("receiver", "sender", "max", "min", "sum", "flows"),
)


def note_if_unreached(trace: str, scheduler: str, values: Values, key_mb: Floats) -> None:
    """Add a note where no coflow reaches the first threshold, so that queues cannot matter.

    Parameters
    ----------
    trace, scheduler : str
        Their names.
    values : mapping
    key_mb : array of float64, shape (n,)
        Bytes of each coflow over its weight, all sent [MB of the threshold].
    """
    threshold = number(values, FIRST_THRESHOLD.key)
    if values[COUNT.key] != 1 and key_mb.max(initial=0.0) <= threshold:
        note(
            f"{FIRST_THRESHOLD.key}={threshold:.12g}: no coflow of {trace} reaches it, so "
            f"scheduler={scheduler} keeps all in the first queue, in the order of arrival"
        )


def widths(kind: str, senders: Ints, receivers: Ints, flows: Ints) -> Floats:
    """Return the width of each coflow by one of the choices of `WIDTH`, shape (n,).

    >>> widths("sum", np.array([2]), np.array([3]), np.array([6]))
    array([5.])
    """
    by_kind = {
        "receiver": receivers,
        "sender": senders,
        "max": np.maximum(senders, receivers),
        "min": np.minimum(senders, receivers),
        "sum": senders + receivers,
        "flows": flows,
    }
    return by_kind[kind].astype(np.float64)
