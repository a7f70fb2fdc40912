"""The simulator: traces, schedulers, engines, metrics. Knows no Hydra, Ray or Parquet.

===================  ============================================================
`core.keys`          index of keys: who declares each, its column, seeds, context
`core.registry`      engines by name; what a point reads; run one point
`core.schedulers`    schedulers, one file each
`core.workloads`     sources of coflows, one file each
`core.shuffle`       which reducer gets which record; partitioners, one file each
`core.engine`        `Engine`: the record that an engine exports
`core.fluid`         the default engine: rates change continuously, time is exact
`core.coflowsim`     the engine that reproduces CoflowSim, in its time steps
`core.bounds`        lower bounds on the mean CCT
`core.metrics`       statistics of CCTs, and the table of coflows
`core.outcome`       `Outcome`: what an engine returns for one point
`core.trace`         `Trace`: coflows as arrays
`core.job_measures`  `JobMeasures`: how even one job's reducers came out
`core.parameters`    `Parameter`: a key's type, range, default and `when`
`core.plugins`       find the records that the files of a package export
`core.errors`        every error that is raised on purpose
`core.jit`           the only importer of numba; where kernels are cached
===================  ============================================================
"""
