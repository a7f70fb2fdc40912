"""The simulator: traces, schedulers, engines, metrics. Knows no Hydra, Ray or Parquet."""
