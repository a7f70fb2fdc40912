"""The text of ``--help``, written from what schedulers, engines and workloads declare."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from core import registry
from core.parameters import Parameter, when_read
from core.plugins import Records
from core.schedulers import schedulers
from core.shuffle.axes import PARTITIONER, TRACED, shuffle_parameters
from core.shuffle.partitioners import partitioners
from core.workloads import workloads
from sweep.cli.options import OPTIONS, REPLICATES, SEED

_WIDTH = 100
_COLUMN = 29
"""Where the texts of keys begin."""

_EXAMPLES = """\
coflow-sweep: parameter sweeps over coflow schedulers

  python -m sweep key=value key=a,b,c …     every combination is one grid row
  python -m sweep scheduler=asebf,aalo
  python -m sweep workload=trace workload.path=trace.txt scheduler=aalo,asebf width=receiver,max
  python -m sweep scheduler=asebf queue.base=2,4,10 'queue.first_threshold_mb=range(5,30,5)'
  python -m sweep --config-dir my_experiments +experiment=my_grid
  python -m sweep … sweep.dry_run=true      print the plan and run nothing

Unused parameters are ignored: grid rows that differ only in them share one run. A key that no point
reads is an error.

flags
  --help, -h                 print this text
  --version                  print the versions of coflow-sweep and Hydra
  --config-dir DIR           read your own files too: DIR/experiment/NAME.yaml for +experiment=NAME
  --config-name NAME         begin with NAME.yaml in place of config.yaml
  --multirun, -m             no effect: every command is a sweep
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
        lines = [_entry(name, record.summary) for name, record in records.items()]
        broken = records.broken if isinstance(records, Records) else {}
        lines += [_entry(name, f"cannot be used: {error}") for name, error in broken.items()]
        parts.append(f"{group}=\n" + "\n".join(lines) + "\n")
    for name, scheduler in schedulers().items():
        for engine, rule in scheduler.rules.items():
            parts += _section(f"scheduler={name} reads (engine={engine})", rule.parameters)
    for name, engine_record in registry.engines().items():
        parts += _section(f"engine={name} reads", engine_record.parameters)
    for name, workload in workloads().items():
        parts += _section(f"workload={name} reads", workload.parameters)
    parts += _section(
        "every workload reads (shuffle_jobs has no traced: its default is hash)",
        shuffle_parameters(TRACED),
    )
    parts += _section("every run", (SEED, REPLICATES, *OPTIONS))
    return "\n".join(parts).rstrip()


def _section(title: str, parameters: Iterable[Parameter]) -> list[str]:
    lines = []
    for p in parameters:
        when = f"; only with {_when(p)}" if p.when else ""
        lines.append(_entry(p.key, f"{p.help}; {p.allowed()} [{_default(p)}]{when}"))
    return [title + "\n" + "\n".join(lines) + "\n"] if lines else []


def _entry(name: str, text: str) -> str:
    """Return a name and its text, in lines that fit a terminal."""
    start = f"  {name}".ljust(_COLUMN - 1) + " "
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=start,
        subsequent_indent=" " * _COLUMN,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)


def _when(parameter: Parameter) -> str:
    """Return when a parameter is read; a long list of all partitioners in few words."""
    every = when_read([Parameter("", str, None, "", when=((PARTITIONER, tuple(partitioners())),))])
    return when_read([parameter]).replace(every, f"any {PARTITIONER} but {TRACED}")
