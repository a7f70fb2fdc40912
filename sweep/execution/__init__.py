"""From a plan to a finished dataset. Only the modules `ray_*` import Ray.

==================================  ============================================================
`sweep.execution.driver`            one sweep: plan, run, store, print
`sweep.execution.output_directory`  where a dataset goes, and ``outputs/latest``
`sweep.execution.own_code`          what of the user's own code has changed since it last ran
`sweep.execution.manifest`          ``manifest.json``
`sweep.execution.local`             points in this process
`sweep.execution.ray_executor`      points on Ray workers
`sweep.execution.ray_start`         starts Ray, or connects to it; says why that fails
`sweep.execution.ray_token`         the token that a Ray cluster asks for
`sweep.execution.ray_output`        keeps Ray's log lines off the terminal
`sweep.execution.chunks`            which points go to a worker together, and which one to blame
`sweep.execution.worker`            runs points, on a Ray worker or in this process
`sweep.execution.ray_cleanup`       ends the processes that Ray leaves behind
`sweep.execution.signals`           Ctrl-C and SIGTERM
`sweep.execution.progress`          the line that shows how far the sweep is
`sweep.execution.remaining_time`    how long the sweep will still take
==================================  ============================================================
"""
