"""From a dataset to figures, tables and a page: ``python -m sweep.report outputs/latest``.

========================  ==========================================================
`sweep.report.data`    `ReportData`: one run, or two side by side
`sweep.report.averages`   replicates averaged, with intervals
`sweep.report.effects`    main effects, interactions, what wins where
`sweep.report.drawing.chart`      `Chart`: how a table is drawn, for files and page
`sweep.report.figures`    one file a figure
`sweep.report.drawing.files`       charts by matplotlib
`sweep.report.drawing.page`       the page
`sweep.report.build`      all files of a report
========================  ==========================================================

>>> from sweep import load  # doctest: +SKIP
>>> from sweep.report import plot  # doctest: +SKIP
>>> plot("cdf", load("outputs/latest", coflows=True))  # doctest: +SKIP
"""

from __future__ import annotations

from sweep.report.build import plot, table_of, write_report

__all__ = ["plot", "table_of", "write_report"]
