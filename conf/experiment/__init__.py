"""Grids kept in files: ``+experiment=<name>``."""
