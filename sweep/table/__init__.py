"""The tables at the end of a sweep: what came out, and what failed.

======================  ==========================================================
`sweep.table.closing`   which lines, what is averaged, what is compared
`sweep.table.failures`  what failed, by message where there is much
`sweep.table.report`    a table that fits itself to the console
`sweep.table.values`    parameters and values as they read on the command line
======================  ==========================================================
"""

from sweep.table.closing import BEST, MOST_LINES, WORST, closing_table, print_table
from sweep.table.failures import failures_table, message_of, print_failures
from sweep.table.report import Column, Report

__all__ = [
    "BEST",
    "MOST_LINES",
    "WORST",
    "Column",
    "Report",
    "closing_table",
    "failures_table",
    "message_of",
    "print_failures",
    "print_table",
]
