"""From a plan to a finished dataset. The only importer of Ray is `sweep.execution.ray_executor`.

==============================  ========================================================
`sweep.execution.driver`        one sweep: plan, run, store, print
`sweep.execution.worker`        what runs a point, on a Ray worker or in this process
`sweep.execution.ray_executor`  points on Ray workers
`sweep.execution.chunks`        which points go to a worker together, and which one to blame
`sweep.execution.ray_cleanup`   ends the processes that Ray leaves behind
`sweep.execution.signals`       Ctrl-C and SIGTERM
`sweep.execution.progress`      the line that shows how far the sweep is
`sweep.execution.own_code`      what of the user's own code has changed since it last ran
`sweep.execution.manifest`      ``manifest.json``
==============================  ========================================================
"""
