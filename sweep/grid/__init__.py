"""From a request to unique points with ids. Knows no Ray and no disk.

====================  ====================================================================
`sweep.grid.options`  options that shape a grid, declared
`sweep.grid.grid`     `Grid`: axes and base values as requested, and their first checks
`sweep.grid.rows`     axes to grid rows: combinations, axes in step, samples
`sweep.grid.filter`   ``sweep.filter``: which rows stay
`sweep.grid.resolve`  a grid row to points: what is read, checks, replicates
`sweep.grid.point`    `Point`: one run, its id, its workload and its seeds
`sweep.grid.plan`     `Plan`: all rows and the unique points behind them
====================  ====================================================================
"""
