"""Data-parallel jobs from nothing: records with keys in map splits, shuffled to reducers.

What each reducer gets is up to the point's partitioner, so ``shuffle.partitioner`` and
``shuffle.sampling_rate`` are axes in front of the scheduler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from core.errors import ParameterError
from core.parameters import Parameter, Values
from core.shuffle import SOURCES, draw, from_table
from core.shuffle import parameters as shuffle
from core.shuffle.axes import key_parameters
from core.shuffle.sources import SOURCE
from core.trace import Ports
from core.workloads._base import SEED, Workload
from core.workloads._draws import arrivals_ms, quotas
from core.workloads._jobs import Draw, Job, Jobs
from core.workloads._key_table import KeyTable, read_key_table

VERSION = "shuffle_jobs-1"
"""To be raised whenever the same seed gives other jobs: it is part of every point's id."""

TABLE = "table"
MOST_SHARE = 1e9

KIND = replace(
    SOURCE,
    help="; ".join(
        [f"{SOURCE.help}: {', '.join(SOURCES)}", "or table: keys and counts of workload.path"]
    ),
    choices=(*SOURCES, TABLE),
)
CLASSES = Parameter(
    "workload.classes",
    str,
    None,
    "classes of jobs, each share:records:maps:reducers, and :keys:zipf if they differ, as in "
    "'3:1e5:4:4 1:1e8:50:40:100000:1.2'; null: all jobs are equal",
)
_DRAWN = (KIND.key, tuple(SOURCES))
_ONE_CLASS = (CLASSES.key, (None,))
JOBS = Parameter("workload.jobs", int, 20, "number of jobs", minimum=1, maximum=1e6)
PORTS = Parameter("workload.ports", int, 40, "number of hosts", minimum=1, maximum=1e6)
GAP = Parameter(
    "workload.gap",
    float,
    0.1,
    "mean inter-arrival time (Poisson); 0: all arrive at 0",
    unit="s",
    minimum=0,
    maximum=1e6,
)
RECORDS = Parameter(
    "workload.records",
    int,
    2_000_000,
    "records that a job's map tasks read",
    minimum=1,
    maximum=1e15,
    when=(_DRAWN, _ONE_CLASS),
)
MAPS = Parameter(
    "workload.maps",
    int,
    32,
    "number of map tasks of a job",
    minimum=1,
    maximum=1e5,
    when=(_ONE_CLASS,),
)
REDUCERS = Parameter(
    "workload.reducers",
    int,
    16,
    "number of reducers of a job",
    minimum=1,
    maximum=1e5,
    when=(_ONE_CLASS,),
)
PATH = Parameter(
    "workload.path",
    str,
    None,
    "key table: a CSV or Parquet file with columns key and count",
    required=True,
    when=((KIND.key, (TABLE,)),),
)
_OF_TABLES = (shuffle.RECORD_BYTES, shuffle.COMBINE)


@dataclass(frozen=True)
class JobClass:
    """Equal jobs: their share of all jobs, and the size of each; None: the point's value."""

    share: float
    records: int
    maps: int
    reducers: int
    keys: int | None = None
    zipf: float | None = None


def parse_classes(text: str) -> list[JobClass]:
    """Read ``share:records:maps:reducers[:keys[:zipf]]`` for each class, blanks between them.

    Raises
    ------
    ParameterError
        Another number of fields, or a value outside the range of its key.

    Examples
    --------
    >>> parse_classes("3:1e5:4:4 1:1e8:50:40:100000:1.2")[1].keys
    100000
    """
    classes = []
    for part in re.split(r"[\s,]+", text.strip()):
        fields = part.split(":")
        if not 4 <= len(fields) <= 6:
            raise ParameterError(
                f"{CLASSES.key}: class {part!r} is not share:records:maps:reducers[:keys[:zipf]]"
            )
        values = [_number(part, field) for field in fields]
        if not 0 < values[0] <= MOST_SHARE:
            raise ParameterError(
                f"{CLASSES.key}: class {part!r}: its share must be > 0 and ≤ {MOST_SHARE:g}"
            )
        rest = []
        keys = (RECORDS, MAPS, REDUCERS, shuffle.KEYS, shuffle.ZIPF)
        for parameter, value in zip(keys, values[1:], strict=False):
            try:
                rest.append(parameter.check(value))
            except ParameterError as error:
                raise ParameterError(f"{CLASSES.key}: class {part!r}: {error}") from None
        classes.append(JobClass(values[0], *cast("list[int]", rest)))
    return classes


def _number(part: str, field: str) -> float:
    try:
        return float(field)
    except ValueError:
        raise ParameterError(f"{CLASSES.key}: class {part!r}: {field!r} is no number") from None


def build(values: Values, rng: np.random.Generator) -> Jobs:
    """Draw the jobs: arrivals, classes, hosts. Their records are drawn when they are shuffled.

    Parameters
    ----------
    values : mapping
        ``workload.*`` and the keys of ``shuffle.*``, checked.
    rng : numpy.random.Generator

    Returns
    -------
    Jobs
        Ids 1…n in order of arrival: Poisson, in whole milliseconds, the first at 0. Tasks of one
        side go round hosts in random order; no host has two while there are hosts enough.
    """
    classes = _classes(values)
    count, ports = cast(int, values[JOBS.key]), cast(int, values[PORTS.key])
    which = np.repeat(np.arange(len(classes)), quotas([c.share for c in classes], count, rng))
    which = rng.permutation(which)
    arrival_ms = np.zeros(count, np.int64)
    if gap_ms := 1000 * cast(float, values[GAP.key]):
        arrival_ms = arrivals_ms(-gap_ms * np.log1p(-rng.random(count - 1)))
    table = _table(values)
    jobs = [
        Job(
            job_id=k + 1,
            arrival_s=float(arrival_ms[k]) / 1000,
            mappers=_hosts(classes[which[k]].maps, ports, rng),
            reducers=_hosts(classes[which[k]].reducers, ports, rng),
            draw=_draw(values, classes[which[k]], table),
        )
        for k in range(count)
    ]
    return Jobs("shuffle_jobs", ports, tuple(jobs))


def _hosts(tasks: int, ports: int, rng: np.random.Generator) -> Ports:
    return np.resize(rng.permutation(ports), tasks).astype(np.int32)


def _classes(values: Values) -> list[JobClass]:
    text = values[CLASSES.key]
    if text is not None:
        return parse_classes(str(text))
    sizes = (cast(int, values[p.key]) for p in (RECORDS, MAPS, REDUCERS))
    return [JobClass(1.0, *sizes)]


def _draw(values: Values, kind: JobClass, table: KeyTable | None) -> Draw:
    if table is not None:
        size = cast(float, values[shuffle.RECORD_BYTES.key])
        combine = bool(values[shuffle.COMBINE.key])
        return lambda rng: from_table(
            table.keys,
            table.counts,
            kind.maps,
            rng,
            record_bytes=size,
            combine=combine,
            source=table.name,
        )
    of_class = {shuffle.KEYS.key: kind.keys, shuffle.ZIPF.key: kind.zipf}
    merged = {**values, **{key: value for key, value in of_class.items() if value is not None}}
    source = str(values[KIND.key])
    return lambda rng: draw(merged, kind.records, kind.maps, rng, source)


def _table(values: Values) -> KeyTable | None:
    if values[KIND.key] != TABLE:
        return None
    return read_key_table(str(values[PATH.key]))


def content(values: Values) -> str:
    """Return the version of the generator and the hash of a key table, having checked both.

    Raises
    ------
    ParameterError, TraceError, ShuffleError
        Classes or a table that cannot be read.
    """
    _classes(values)
    table = _table(values)
    if table is None:
        return VERSION
    _draw(values, replace(_classes(values)[0], maps=1), table)(np.random.default_rng(0))
    return f"{VERSION} {table.sha256}"


def _keys() -> Iterable[Parameter]:
    for parameter in key_parameters(KIND):
        always = parameter.key in {p.key for p in _OF_TABLES}
        yield replace(parameter, when=()) if always else parameter


WORKLOAD = Workload(
    name="shuffle_jobs",
    summary="jobs with keyed records, whose partitioner decides what each reducer gets",
    parameters=(
        *(JOBS, GAP, PORTS, PATH, CLASSES, RECORDS, MAPS, REDUCERS),
        *_keys(),
        SEED,
    ),
    build=build,
    content=content,
    partitioner="hash",
)
