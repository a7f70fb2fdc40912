"""The configuration: ``config.yaml`` and the experiments, found as ``pkg://conf``."""
