"""Partitioners. One file a partitioner; each exports ``PARTITIONER = Partitioner(…)``."""
