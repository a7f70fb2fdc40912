"""Words, flags, help and errors of the command line, as a user types them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from core.keys import KIND
from sweep.cli.main import main
from sweep.cli.overrides import all_keys
from sweep.cli.request import read_request
from sweep.store.files import Folder
from tests.paths import ROOT

PLAN = ("workload=toy", "scheduler=aalo", "sweep.dry_run=true")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def process(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sweep", *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def error_of(capsys, *words: str) -> str:
    """Return the one line that a refused command prints."""
    assert main(list(words)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1
    return err.removeprefix("error: ").rstrip()


@pytest.mark.parametrize(
    "words",
    [("scheduler=asbef",), ("workload=trace", "workload.path=none.txt"), ("queue.base=0",)],
)
def test_bad_input_is_one_line_exit_code_2_and_nothing_written(words, tmp_path) -> None:
    done = process(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_bad_trace_files_name_file_line_value_and_rule(tmp_path, capsys) -> None:
    (tmp_path / "bad.txt").write_text("2 2\n1 0 1 0 1 1:5\n2 10 1 7 1 1:5\n")
    error = error_of(capsys, "workload=trace", "workload.path=bad.txt")
    for text in ("bad.txt", "line 3", "7", "0…1"):
        assert text in error


# ---- flags ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("--help",), "queue.first_threshold_mb"),
        (("-h", "no=such"), "queue.first_threshold_mb"),
        (("--version",), "coflow-sweep 0.1.0"),
        (("-m", *PLAN), "1 unique point"),
        (("workload=toy", "--multirun", *PLAN[1:]), "1 unique point"),
    ],
)
def test_flags_that_a_sweep_has(words, printed, tmp_path, capsys) -> None:
    assert main(list(words)) == 0
    assert printed in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--cfg", "job"), "--cfg has no use in a sweep; sweep.dry_run=true prints the plan"),
        (("--cfg=job", "--package", "x"), "--cfg has no use"),
        (("--package", "queue"), "--package has no use in a sweep; sweep.dry_run=true"),
        (("--info", "defaults"), "--info has no use in a sweep; sweep.dry_run=true"),
        (("--resolve",), "--resolve has no use"),
        (("--hydra-help",), "--hydra-help has no use in a sweep; --help lists"),
        (("--run",), "--run has no use in a sweep; leave it out"),
        (("--config-path", "x"), "with --config-dir DIR"),
        (("--experimental-rerun", "x"), "with its output.dir"),
        (("-sc", "install=bash"), "-sc has no use"),
        (("--config-dir",), "--config-dir needs a value"),
        (("--config-dir", "none"), "--config-dir none: no such directory"),
        (("--config-name", "none"), "none"),
        (("--scheduler", "aalo"), "keys are set without dashes, as in scheduler=aalo"),
        (("--queue.base=2",), "keys are set without dashes, as in queue.base=2"),
        (("--sheduler=aalo",), "as in scheduler=aalo"),
        (("--config-dirr", "x"), "did you mean '--config-dir'"),
    ],
)
def test_flags_that_a_sweep_does_not_have_are_refused(words, error, capsys) -> None:
    assert error in error_of(capsys, *words)


def test_the_help_fits_a_terminal_and_has_every_key(capsys) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 105  # a long name of a key, or a list of names, is not broken
    assert all_keys() <= {line.split()[0] for line in lines if line.startswith("  ")} | set(KIND)


# ---- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["scheduler=aalo,", "asebf"], "write scheduler=aalo,asebf without blanks"),
        (["scheduler=aalo,"], "has a comma without a value; write scheduler=a,b"),
        (["workload.path=a,,b"], "has a comma without a value; write workload.path=a,b"),
        (["queue.base=range(1,2"], "has an unpaired bracket"),
        (["queue.base = 2"], "queue.base"),
        (["queue={base:2}"], "a mapping is not a value; set each key alone"),
        (
            ["shuffle.sampling_rate=5%", "shuffle.partitioner=scid"],
            "write a share, not percent: shuffle.sampling_rate=0.05",
        ),
        (["queue.first_threshold_mb=10MB"], "in MB, as in queue.first_threshold_mb=10"),
        (["fabric.gbps=10 Gb/s"], "in Gb/s, as in fabric.gbps=10"),
        (["+experiment=nope"], "experiment=nope: no such file; allowed are asebf_headline,"),
        (["experiment=scid_rate"], "did you mean 'scid_rates'"),
        (["seed=range(0,10000)", "queue.base=range(2,10002)"], "with sweep.sample=N"),
        (["seed=range(0,10000000)"], "more than 1000000 values; give a larger step"),
        (["workload.path=${oc.env:NOT_SET_ANYWHERE}"], "'NOT_SET_ANYWHERE' not found"),
        (["queue.base=${queue.count}"], "on the command line ${oc.env:NAME} stands for"),
        (["scheduler=glob(x*)"], "no name matches; allowed are aalo, asebf,"),
        (["queue.base=glob(2*)"], "queue.base has none"),
        (["queue.base=nope(2)"], "nope(2)"),
    ],
)
def test_a_word_that_is_refused_says_what_to_type(words, error, capsys) -> None:
    assert error in error_of(capsys, *words)


def test_a_blank_after_a_comma_inside_quotes_is_allowed(capsys) -> None:
    assert main(["workload=toy", "scheduler=aalo, varys", "sweep.dry_run=true"]) == 0
    assert "scheduler: aalo, varys" in capsys.readouterr().out


def test_environment_variables_are_values(monkeypatch, capsys) -> None:
    monkeypatch.setenv("BASES", "3")
    assert main([*PLAN, "queue.base=${oc.env:BASES}", "queue.count='${oc.env:BASES}'"]) == 0
    assert "queue.base=3 queue.count=3" in capsys.readouterr().out


# ---- what is missing -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ["workload=shuffle_jobs", "workload.path=keys.csv"],
            "it is read only with shuffle.source=table",
        ),
        (["shuffle.salts=3"], "it is read only with shuffle.partitioner=salt"),
        (
            ["shuffle.partitioner=scid_robust", "shuffle.limits_on_unsplit_keys=true"],
            "it is read only with shuffle.fill=first_fit",
        ),
        (["workload=toy", "workload.path=x"], "only with workload=facebook,shuffle_jobs,trace"),
        (["scheduler=varys", "queue.base=2"], "only with scheduler=aalo,asebf: set that too"),
        (
            ["workload=trace", "workload.path=t.txt", "engine=coflowsim", "workload.mb_bytes=3"],
            "it is read only with engine=fluid",
        ),
        (["scheduler=aalo", "queue.weights='2,1'"], "only with queue.between=wfq"),
        (["sweep.sample=10"], "nothing to draw"),
        (["sweep.sample=10", "queue.base=2"], "queue.base=interval(2,10)"),
        (["workload=trace"], "workload.path is missing; add workload.path=…"),
    ],
)
def test_a_key_that_nothing_reads_says_what_would_read_it(words, error, capsys, tmp_path) -> None:
    (tmp_path / "t.txt").write_text("2 1\n1 0 1 0 1 1:1\n")
    assert error in error_of(capsys, *words)


# ---- without asserts -----------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["1", "2"])
def test_python_without_asserts_plans_the_same(level) -> None:
    """3 · 2 · 2 · 2 values are 24 rows."""
    words = (
        *("scheduler=aalo", "workload=toy", "queue.first_threshold_mb=range(5,20,5)"),
        *("queue.base=choice(5,6)", "queue.count=sort(4,3,reverse=true)", "fabric.gbps=1,2"),
        "sweep.dry_run=true",
    )
    done = process(*words, PYTHONOPTIMIZE=level)
    assert done.returncode == 0, done.stderr
    assert "24 grid rows: 24 unique points" in done.stdout
    assert "queue.count: 4, 3" in done.stdout
    drawn = process(
        *("scheduler=aalo", "workload=toy", "queue.base=tag(log,interval(2,4))"),
        *("sweep.sample=3", "sweep.dry_run=true", "+experiment=worked_example"),
        PYTHONOPTIMIZE=level,
    )
    assert drawn.returncode == 0, drawn.stderr
    assert "3 draws (random), 3 grid rows" in drawn.stdout


def test_the_home_directory_is_expanded_in_output_dir(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for word in ("output.dir=~/a", 'output.dir="~/a"', "output.dir=~"):
        expanded = read_request([word])[1]["output.dir"]
        assert expanded == str(tmp_path) + "/a" * word.rstrip('"').endswith("a")
    assert Folder.at("~/a").root == str(tmp_path / "a")  # for load("~/a")
    assert read_request(["output.dir=s3://b/~x"])[1]["output.dir"] == "s3://b/~x"
    assert "give the whole path" in error_of(capsys, "output.dir=~nobody-of-this-name/x")
