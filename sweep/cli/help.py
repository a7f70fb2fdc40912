"""The text of ``--help``, written from what schedulers, engines and workloads declare."""

from __future__ import annotations

from collections.abc import Iterable

from core import registry
from core.parameters import Parameter, when_read
from core.plugins import Records
from core.schedulers import schedulers
from core.shuffle.axes import TRACED, shuffle_parameters
from core.shuffle.partitioners import partitioners
from core.workloads import workloads
from sweep.cli.options import OPTIONS, REPLICATES, SEED

_EXAMPLES = """\
coflow-sweep: parameter sweeps over coflow schedulers

  python -m sweep key=value key=a,b,c …     every combination is one grid row
  python -m sweep scheduler=asebf,aalo
  python -m sweep workload=trace workload.path=trace.txt scheduler=aalo,asebf width=receiver,max
  python -m sweep scheduler=asebf queue.base=2,4,10 'queue.first_threshold_mb=range(5,30,5)'
  python -m sweep --config-dir my_experiments +experiment=my_grid
  python -m sweep … sweep.dry_run=true      print the plan, run nothing

What a point does not read is not part of it: grid rows that differ only there run once.
"""


def help_text() -> str:
    """Return the help: examples, names, and every key with default, range and readers."""
    parts = [_EXAMPLES]
    members = (
        ("scheduler", schedulers()),
        ("engine", registry.engines()),
        ("workload", workloads()),
        ("shuffle.partitioner", partitioners()),
    )
    for group, records in members:
        lines = [f"  {name:<10} {record.summary}" for name, record in records.items()]
        broken = records.broken if isinstance(records, Records) else {}
        lines += [f"  {name:<10} cannot be used: {error}" for name, error in broken.items()]
        parts.append(f"{group}=\n" + "\n".join(lines) + "\n")
    for name, scheduler in schedulers().items():
        for engine, rule in scheduler.rules.items():
            parts += _section(f"scheduler={name} reads (engine={engine})", rule.parameters)
    for name, engine_record in registry.engines().items():
        parts += _section(f"engine={name} reads", engine_record.parameters)
    for name, workload in workloads().items():
        parts += _section(f"workload={name} reads", workload.parameters)
    parts += _section(
        "every workload reads (shuffle_jobs with the default hash instead of traced)",
        shuffle_parameters(TRACED),
    )
    parts += _section("every run", (SEED, REPLICATES, *OPTIONS))
    # Hydra substitutes $NAMES in its help.
    return "\n".join(parts).replace("$", "$$")


def _section(title: str, parameters: Iterable[Parameter]) -> list[str]:
    lines = []
    for p in parameters:
        default = "required" if p.required else "–" if p.default is None else f"{p.default}"
        when = f"; only with {when_read([p])}" if p.when else ""
        lines.append(f"  {p.key:<26} {p.help}; {p.allowed()} [{default}]{when}")
    return [title + "\n" + "\n".join(lines) + "\n"] if lines else []
