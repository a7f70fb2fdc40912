"""Figures: one file each, which exports ``FIGURE = Figure(…)``; a new file adds a figure.

=====================================  ====================================================
`sweep.report.figures.compare`         two runs, setting by setting
`sweep.report.figures.average_cct`     average CCT per setting, bound and improvement
`sweep.report.figures.gantt`           the exact schedule of a small workload
`sweep.report.figures.cdf`             distribution of CCTs
`sweep.report.figures.pairwise`        schedulers compared replicate by replicate
`sweep.report.figures.heat`            mean of a metric over two axes
`sweep.report.figures.wins`            which setting wins where
`sweep.report.figures.tornado`         main effects of all axes
`sweep.report.figures.interactions`    interactions of pairs of axes
`sweep.report.figures.gap`             distance to the bound
`sweep.report.figures.engines`         the same settings in both engines
`sweep.report.figures.bottleneck`      largest flow against CCT, coflow by coflow
`sweep.report.figures.width_size`      width against size of coflows
`sweep.report.figures.fos_rate`        balance against the sampling rate
`sweep.report.figures.fos_zipf`        balance against the skew of the keys
`sweep.report.figures.reducer_loads`   loads of reducers
`sweep.report.figures.sampling_gain`   cost of sampling against its gain
`sweep.report.figures.rate_curve`      rates that ``auto`` weighs
`sweep.report.figures._base`           `Figure`, and the list of all figures
`sweep.report.figures._coflows`        coflows of the settings that figures show
`sweep.report.figures._shuffles`       settings of shuffles, by partitioner
=====================================  ====================================================
"""

from __future__ import annotations

from sweep.report.figures._base import Figure, NothingToDrawError, figures

__all__ = ["Figure", "NothingToDrawError", "figures"]
