"""Figures. One file a figure; each exports ``FIGURE = Figure(…)``."""

from __future__ import annotations

from sweep.report.figures._base import Figure, NothingToDrawError, figures

__all__ = ["Figure", "NothingToDrawError", "figures"]
