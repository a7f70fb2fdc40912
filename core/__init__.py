"""The simulator: from a point's values to its row of results. Knows no Hydra, Ray or Parquet.

In the order of a point:

=====================  =============================================================================
`core.registry`        every scheduler, engine and workload by name; runs one point
`core.keys`            the index of keys: who declares each, its column, seeds, what is compared
`core.workloads`       values to a trace: one file a workload
`core.shuffle`         which reducer gets which record, before the flows are known
`core.trace`           `Trace`: coflows as immutable arrays
`core.schedulers`      one file a scheduler: a rule for each engine
`core.fluid`           the default engine: exact continuous time
`core.coflowsim`       the engine with CoflowSim's numbers
`core.job_measures`    `JobMeasures`: how even one job's reducers came out
`core.outcome`         `Outcome`: when each coflow ends
`core.bounds`          lower bounds on the average CCT
`core.metrics`         an outcome to columns
=====================  =============================================================================

What all of them use:

=====================  =============================================================================
`core.parameters`      `Parameter`: declared once, by the part that reads it
`core.engine`          `Engine` and `Scheduler`: the records that they export
`core.queues`          `queue.*` and `width`: the parameters that both engines share
`core.plugins`         finds the records that the files of a package export
`core.shipped`         which modules are shipped; a fingerprint of a user's own
`core.statistics`      means, intervals and gaps, the same for tables and reports
`core.watch`           how many coflows of the running simulation are done, for other threads
`core.notes`            notes of a simulation to the user
`core.jit`             the only place that sets numba's options
`core.errors`          every error that is raised on purpose
=====================  =============================================================================
"""
