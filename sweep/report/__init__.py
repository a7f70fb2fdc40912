"""From a dataset to figures, tables and a page: ``python -m sweep.report outputs/latest``.

============================  ========================================================
`sweep.report.__main__`       the command line
`sweep.report.build`          all files of a report, and single figures for notebooks
`sweep.report.directory`      where a report goes, and whose report is there
`sweep.report.sources`        datasets and tables in memory, opened
`sweep.report.data`           `ReportData`: one run, or two side by side
`sweep.report.details`        tables of coflows, reducers and rates
`sweep.report.read_values`    values that points have read, and those that they have not
`sweep.report.replicates`     replicates that settings have in common
`sweep.report.averages`       replicates averaged, with intervals
`sweep.report.effects`        main effects, interactions, which setting wins where
`sweep.report.schedule`       the exact schedule of a small point
`sweep.report.run_facts`      facts of a run, notices, failures
`sweep.report.figures`        one file a figure
`sweep.report.drawing`        charts as files and as a page
============================  ========================================================

>>> from sweep import load  # doctest: +SKIP
>>> from sweep.report import plot  # doctest: +SKIP
>>> plot("cdf", load("outputs/latest", coflows=True))  # doctest: +SKIP
"""

from __future__ import annotations

from sweep.report.build import plot, table_of, write_report

__all__ = ["plot", "table_of", "write_report"]
