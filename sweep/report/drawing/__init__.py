"""From charts to files and a page.

==============================  =============================================================
`sweep.report.drawing.chart`    `Chart`: how a table is drawn, for the files and for the page
`sweep.report.drawing.colours`  one colour per scheduler
`sweep.report.drawing.marks`    the marks of a chart, by matplotlib
`sweep.report.drawing.files`    SVG and PNG files, by matplotlib
`sweep.report.drawing.page`     the page that opens offline
==============================  =============================================================
"""
