"""The tables at the end of a sweep: what came out, and what failed.

======================  ==========================================================
`sweep.console.closing_table`   which lines, what is averaged, what is compared
`sweep.console.failures_table`  what failed, by message where there is much
`sweep.console.fitted_table`    a table that fits itself to the console
`sweep.store.row_values`    parameters and values as they read on the command line
======================  ==========================================================
"""

from sweep.console.closing_table import BEST, MOST_LINES, WORST, closing_table, print_table
from sweep.console.failures_table import failures_table, message_of, print_failures
from sweep.console.fitted_table import Column, Report

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
