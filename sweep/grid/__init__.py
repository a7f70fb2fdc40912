"""From a request to unique points with ids. Knows no Ray and no disk.

=========================  =====================================================================
`sweep.grid.options`       options that shape a grid, declared
`sweep.grid.grid`          `Grid`: axes and base values as requested, and their first checks
`sweep.grid.axes`          `Axes`, `Interval`; `Shape`: how axes are combined
`sweep.grid.filter`        ``sweep.filter``: which combinations stay
`sweep.grid.lazy`          `Lazy`: a sequence whose items are made when read
`sweep.grid.sampling`      choices of values from axes: all, or a sample
`sweep.grid.combinations`  `Combinations`: one value of each axis
`sweep.grid.resolve`       a combination to points: what is read, checks, replicates
`sweep.grid.point`         `Point`: one run, its id, its workload and its seeds
`sweep.grid.table`         `PlanTable`: some bytes a grid row; rows and points made when read
`sweep.grid.unread`        keys that are set and not read, and what would make a point read them
`sweep.grid.plan`          `Plan`: all grid rows and the unique points behind them
=========================  =====================================================================
"""
