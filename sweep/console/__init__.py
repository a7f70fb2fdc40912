"""Everything that a sweep prints: its plan, its tables, its end.

================================  ==========================================================
`sweep.console.plan_text`         a plan in words, before it runs
`sweep.console.final_summary`     the end: tables, failures, the command that goes on
`sweep.console.closing_table`     the table of results
`sweep.console.result_lines`      its lines: means over replicates, and comparisons
`sweep.console.metric_columns`    its columns: parameters and metrics
`sweep.console.failures_table`    the table of failures, by message where there are many
`sweep.console.fitted_table`      a table that fits itself to the console
`sweep.console.phrases`           numbers with their nouns, and times in words
================================  ==========================================================
"""
