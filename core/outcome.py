"""`Outcome`: what an engine returns for one point."""

from __future__ import annotations

from dataclasses import dataclass

from core.trace import Floats


@dataclass(frozen=True, eq=False)
class Outcome:
    """When each coflow started and finished, and its demand as the engine carried it.

    Every array has shape (n,) in the order of the trace.

    Attributes
    ----------
    start_s, finish_s : array of float64
        [s]; CCT is their difference. An engine that admits in batches starts coflows at the batch.
    size_bytes, length_bytes : array of float64
        Total and largest flow, after the engine's rounding.
    gamma_s : array of float64
        Γ: the time that the busiest port needs for the coflow alone [s].
    events : int
        How often the schedule was recomputed.
    exact_cct_s : array of float64, optional
        CCT from an engine that knows it better than the difference of two large times.
    bound_s : float, optional
        Lower bound on the mean CCT [s], from an engine whose schedules cannot beat it.
    error_s : float
        The mean CCT may be too small by this much, because the engine lets events that are very
        close happen together [s].
    """

    start_s: Floats
    finish_s: Floats
    size_bytes: Floats
    length_bytes: Floats
    gamma_s: Floats
    events: int
    exact_cct_s: Floats | None = None
    bound_s: float | None = None
    error_s: float = 0.0

    @property
    def cct_s(self) -> Floats:
        """Coflow completion times [s], shape (n,)."""
        if self.exact_cct_s is not None:
            return self.exact_cct_s
        return self.finish_s - self.start_s
