"""The configuration that comes with the project: ``config.yaml``, found as ``pkg://conf``.

`conf.experiment` holds the grids kept in files.
"""
