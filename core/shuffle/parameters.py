"""Parameters of the shuffle, each declared once; keys and partitioners say which they read."""

from __future__ import annotations

from core.parameters import Parameter

AUTO = "auto"
"""Word in place of a sampling rate: each job's own rate is chosen by its cost."""


# The keys of a job
KEYS = Parameter("shuffle.keys", int, 20_000, "distinct keys of a job", minimum=1, maximum=1e7)
ZIPF = Parameter(
    "shuffle.zipf",
    float,
    1.0,
    "exponent a of the keys' law p_i ∝ i^(−a); 0: all keys equally likely",
    minimum=0,
    maximum=20,
)
RECORD_BYTES = Parameter(
    "shuffle.record_bytes", float, 100.0, "mean size of a record", unit="B", minimum=1, maximum=1e9
)
VALUE_SPREAD = Parameter(
    "shuffle.value_spread",
    float,
    0.0,
    "spread of record sizes over keys: σ of a lognormal law; 0: all equal",
    minimum=0,
    maximum=5,
)
COMBINE = Parameter(
    "shuffle.combine",
    bool,
    None,
    "a map task combines a key's records into one; null: as shuffle.source does",
)
KEY_PARAMETERS = (KEYS, ZIPF, RECORD_BYTES, VALUE_SPREAD, COMBINE)
"""What a job with a Zipf law reads."""

# Hashes
HASH = Parameter(
    "shuffle.hash",
    str,
    "murmur3",
    "hash of a key: spark is Java's hashCode (RDDs), murmur3 is Spark SQL's",
    choices=("spark", "murmur3"),
)

# Sampling
SAMPLING_RATE = Parameter(
    "shuffle.sampling_rate",
    float,
    0.01,
    "share of each split's records that is sampled; auto weighs cost against balance (0 in the "
    "dataset, see sampled_share)",
    minimum=0,
    open_minimum=True,
    maximum=1,
    words=((AUTO, 0.0),),
)
SCAN_S = Parameter(
    "shuffle.scan_s_per_record", float, 0.0, "time to read a record for the sample", "s", minimum=0
)
MAP_S = Parameter(
    "shuffle.map_s_per_record", float, 0.0, "time of map work on a sampled record", "s", minimum=0
)
PLAN_S = Parameter(
    "shuffle.plan_s_per_key", float, 0.0, "time to plan a key of the sample", "s", minimum=0
)
SLOTS = Parameter(
    "shuffle.slots",
    int,
    None,
    "map tasks that run at the same time; null: all",
    minimum=1,
    maximum=1e7,
)
REDUCE_S = Parameter(
    "shuffle.reduce_s_per_record", float, 0.0, "time of reduce work on a record", "s", minimum=0
)
MERGE_S = Parameter(
    "shuffle.merge_s_per_record",
    float,
    0.0,
    "time to merge a record whose key is in several buckets",
    "s",
    minimum=0,
)
PREPASS_PARAMETERS = (SCAN_S, MAP_S, PLAN_S, SLOTS)
SAMPLING_PARAMETERS = (SAMPLING_RATE, *PREPASS_PARAMETERS, REDUCE_S)
REDUCE_PARAMETERS = (REDUCE_S, MERGE_S)

# Placing by a plan
LIMITS = Parameter(
    "shuffle.limits_on_unsplit_keys",
    bool,
    False,
    "planned amounts also limit keys that are planned for one bucket only",
    when=(("shuffle.fill", ("first_fit",)),),
)
OVERFLOW = Parameter(
    "shuffle.overflow",
    str,
    "hash",
    "where a key's records go when all its limits are reached",
    choices=("hash", "last", "proportional", "least_loaded"),
    when=(("shuffle.fill", ("first_fit",)),),
)


def fill(default: str) -> Parameter:
    """Return ``shuffle.fill`` with a default."""
    return Parameter(
        "shuffle.fill",
        str,
        default,
        "how a split key's records are divided: up to each limit in turn, or in proportion",
        choices=("first_fit", "proportional"),
    )


def min_hits(default: int) -> Parameter:
    """Return ``shuffle.min_hits`` with a default."""
    return Parameter(
        "shuffle.min_hits",
        int,
        default,
        "keys with fewer records in the sample are placed by their hash",
        minimum=0,
        maximum=1e9,
    )
