"""The recipes of docs/cluster.md, as far as one machine can try them."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sweep import load
from sweep.cli.main import register
from sweep.cli.request import read_request
from tests.paths import ROOT
from tests.ray_nodes import free_port, listens, ray_environment, run

TEXT = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
SCRIPTS = [text for kind, text in BLOCKS if kind == "sh"]


def block(name: str) -> str:
    match = re.search(rf"<!-- {name} -->\n```\w+\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert match is not None
    return match[1]


def scripts_below(heading: str) -> list[str]:
    """Return the shell scripts of a section."""
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def commands(text: str, program: str) -> list[list[str]]:
    """Return the arguments of a program wherever a script calls it, also within quotes."""
    for before, after in (("\\\n", " "), ("$SLURM_CPUS_PER_TASK", "16"), ("$head", "head.example")):
        text = text.replace(before, after)
    word = r"(?:'[^'\n]*'|[^\n'&;>])"
    calls = re.findall(rf"(?:^|[\s/'])({re.escape(program)} {word}+)", text, re.MULTILINE)
    return [shlex.split(call)[len(shlex.split(program)) :] for call in calls]


def ray_understands(words: list[str]) -> None:
    from ray.scripts.scripts import cli

    command = cli.commands[words[0]]
    command.make_context(words[0], words[1:])


# -- every block ----------------------------------------------------------------------------------


def test_there_is_something_to_check() -> None:
    assert {kind for kind, _ in BLOCKS} == {"sh", "yaml"}
    assert len(SCRIPTS) >= 5
    calls = [words[0] for text in SCRIPTS for words in commands(text, "ray")]
    assert {"start", "get-auth-token", "up", "exec", "rsync-down", "down", "job"} <= set(calls)
    assert sum(len(commands(text, "python -m sweep")) for text in SCRIPTS) == 4


@pytest.mark.parametrize("text", SCRIPTS)
def test_scripts_are_bash(text) -> None:
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "words",
    [w for text in SCRIPTS for w in commands(text, "ray") if w[0] != "job"],
    ids=" ".join,
)
def test_ray_knows_these_options(words) -> None:
    ray_understands(words)


def test_an_option_that_ray_does_not_know_is_refused() -> None:
    import click

    with pytest.raises(click.UsageError):
        ray_understands(["start", "--heads"])


@pytest.mark.parametrize(
    "words", [w for text in SCRIPTS for w in commands(text, "python -m sweep")], ids=" ".join
)
def test_sweeps_are_understood(words) -> None:
    register()
    _, options = read_request(words)
    assert options["ray.address"]
    assert options["output.dir"]


# -- ray up ---------------------------------------------------------------------------------------


def validated(config: dict[str, Any]) -> dict[str, Any]:
    from ray.autoscaler._private.util import prepare_config, validate_config

    config = prepare_config(config)
    validate_config(config)
    return config


def test_the_cluster_file_is_valid() -> None:
    config = validated(yaml.safe_load(block("ray up")))
    starts = config["head_start_ray_commands"], config["worker_start_ray_commands"]
    for command in (*config["setup_commands"], *starts[0], *starts[1]):
        subprocess.run(["bash", "-n"], input=command, text=True, check=True)
    for words in (w for text in (*starts[0], *starts[1]) for w in commands(text, "ray")):
        ray_understands(words)
    assert "--port=6379" in starts[0][-1]
    assert "--address=$RAY_HEAD_IP:6379" in starts[1][-1]
    assert all("RAY_AUTH_MODE=token" in commands[-1] for commands in starts)
    code, token = config["file_mounts"].items()
    assert code[0] == "/home/ubuntu/coflow-sweep"
    assert token[0] == "/home/ubuntu/.ray/auth_token"
    assert token[1].endswith("/.ray/auth_token")
    assert any("~/coflow-sweep" in command for command in config["setup_commands"])
    workers = config["available_node_types"]["worker"]
    assert workers["min_workers"] <= workers["max_workers"] <= config["max_workers"]


@pytest.mark.parametrize(
    ("key", "value"), [("max_worker", 4), ("max_workers", "four"), ("head_node_type", 1)]
)
def test_a_cluster_file_that_is_wrong_is_refused(key, value) -> None:
    import jsonschema

    with pytest.raises((jsonschema.ValidationError, ValueError, KeyError)):
        validated(yaml.safe_load(block("ray up")) | {key: value})


# -- Kubernetes -----------------------------------------------------------------------------------

QUANTITY = re.compile(r"\d+(\.\d+)?(m|[KMGT]i?)?")


def pod_is_right(template: dict[str, Any]) -> None:
    (container,) = template["spec"]["containers"]
    assert container.keys() == {"name", "image", "resources"}
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", container["name"])
    for value in container["resources"]["limits"].values():
        assert isinstance(value, str)
        assert QUANTITY.fullmatch(value)


def test_the_manifest_has_what_the_operator_reads() -> None:
    job = yaml.safe_load(block("kuberay"))
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    spec = job["spec"]
    assert spec.keys() == {"entrypoint", "shutdownAfterJobFinishes", "rayClusterSpec"}
    assert spec["shutdownAfterJobFinishes"] is True
    cluster = spec["rayClusterSpec"]
    assert cluster.keys() == {
        *("authOptions", "enableInTreeAutoscaling", "headGroupSpec", "workerGroupSpecs")
    }
    assert cluster["authOptions"] == {"mode": "token"}
    head, (workers,) = cluster["headGroupSpec"], cluster["workerGroupSpecs"]
    assert head.keys() == {"rayStartParams", "template"}
    assert workers.keys() == {
        *("groupName", "replicas", "minReplicas", "maxReplicas", "rayStartParams", "template")
    }
    assert workers["minReplicas"] <= workers["replicas"] <= workers["maxReplicas"]
    for group in (head, workers):
        for name, value in group["rayStartParams"].items():
            assert isinstance(value, str)  # the operator takes nothing else
            ray_understands(["start", f"--{name}={value}"])
        pod_is_right(group["template"])
    images = {g["template"]["spec"]["containers"][0]["image"] for g in (head, workers)}
    assert len(images) == 1
    register()
    assert spec["entrypoint"].startswith("python -m sweep ")
    _, options = read_request(shlex.split(spec["entrypoint"])[3:])
    assert str(options["output.dir"]).startswith("s3://")  # a pod's disk goes with it


# -- really run -----------------------------------------------------------------------------------


@pytest.fixture
def own_ray() -> Iterator[dict[str, str]]:
    with ray_environment() as environment:
        yield environment


def program(directory: Path, name: str, text: str) -> None:
    (directory / name).write_text(f"#!/bin/bash\n{text}\n")
    (directory / name).chmod(0o755)


def ports(text: str, port: int) -> str:
    return text.replace("head.example", "127.0.0.1").replace("6379", str(port))


COUNT = "import ray; ray.init(address='auto', logging_level=50); print(len(ray.nodes()))"


def test_machines_of_ones_own_join_and_sweep(tmp_path, own_ray) -> None:
    """Two machines, as two homes and two directories of Ray; scp copies from one to the other."""
    head_script, node_script = scripts_below("On machines of your own")
    port, home = free_port(), Path(own_ray["RAY_TMPDIR"]) / "2"
    home.mkdir()
    program(tmp_path, "scp", f'cp "{own_ray["HOME"]}/${{1#127.0.0.1:}}" "$2"')
    head = own_ray | {"PATH": f"{tmp_path}:{own_ray['PATH']}"}
    node = head | {"HOME": str(home), "RAY_TMPDIR": str(home)}
    for environment, script in ((head, head_script), (node, node_script)):
        done = run(environment, "bash", "-ec", ports(script, port))
        assert done.returncode == 0, done.stdout + done.stderr
    done = run(head | {"RAY_AUTH_MODE": "token"}, "python", "-c", COUNT)
    assert done.stdout.split()[-1:] == ["2"], done.stdout + done.stderr
    words = ("-m", "sweep", "scheduler=asebf", "workload=toy")
    for name, environment, address in (
        ("here", head, "auto"),
        ("there", node, f"127.0.0.1:{port}"),
    ):
        where = (f"ray.address={address}", f"output.dir={name}")
        done = run(environment, "python", *words, *where, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert load(tmp_path / name)["status"].tolist() == ["ok"]


STUBS = {
    "scontrol": 'printf "127.0.0.%d\\n" 1 2 3; [ "$*" = "show hostnames n[1-3]" ]',
    # What is left of the words when the options are gone, as often as there are tasks.
    "srun": """
echo "$*" >> calls
n=1
while [ "${1#-}" != "$1" ]; do
  case $1 in --ntasks=*) n=${1#*=};; -w|-x) shift;; esac
  shift
done
for _ in $(seq 1 $((n - 1))); do "$@" & sleep 3; done
"$@"
""",
}


@pytest.mark.slow
def test_the_slurm_script_runs(tmp_path, own_ray) -> None:
    """Three nodes, all of them this machine."""
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "activate").touch()
    for name, text in STUBS.items():
        program(tmp_path, name, text)
    script = block("slurm").replace("6379", str(free_port()))
    script = script.replace("scheduler=asebf,aalo", "scheduler=asebf,aalo workload.coflows=30")
    job = {
        "SLURM_JOB_NODELIST": "n[1-3]",
        "SLURM_JOB_NUM_NODES": "3",
        "SLURM_CPUS_PER_TASK": "1",
        "PATH": f"{tmp_path}:{own_ray['PATH']}",
    }
    output = tmp_path / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            ["bash", "-c", script], cwd=tmp_path, env=own_ray | job, stdout=file, stderr=file
        )
    code = process.wait(timeout=300)
    assert code == 0, output.read_text()
    assert load(tmp_path / "outputs" / "mine")["status"].tolist() == ["ok", "ok"]
    driver, head, workers = sorted((tmp_path / "calls").read_text().splitlines())
    assert "-w 127.0.0.1 ray start --head" in head
    assert "--nodes=2 --ntasks=2 --overlap -x 127.0.0.1 ray start --address=127.0.0.1:" in workers
    assert "-w 127.0.0.1 python -m sweep" in driver


@pytest.mark.slow
def test_a_job_is_submitted(tmp_path, own_ray) -> None:
    """To a head on this machine, from the project's directory."""
    pytest.importorskip("aiohttp_cors", reason="ray job submit needs ray[default]")
    board, output = free_port(), tmp_path / "output"
    token = run(own_ray, "ray", "get-auth-token", "--generate")
    assert token.returncode == 0, token.stderr
    with output.open("wb") as file:
        head = subprocess.Popen(
            [
                *("ray", "start", "--head", f"--port={free_port()}", "--num-cpus=1", "--block"),
                *(f"--dashboard-port={board}", f"--temp-dir={own_ray['RAY_TMPDIR']}/ray"),
                f"--dashboard-agent-listen-port={free_port()}",
            ],
            cwd=tmp_path,
            env=own_ray | {"RAY_AUTH_MODE": "token"},
            stdout=file,
            stderr=file,
        )
    deadline = time.monotonic() + 90
    while not listens(board):
        assert head.poll() is None, output.read_text()
        assert time.monotonic() < deadline
        time.sleep(0.5)
    (script,) = scripts_below("`ray job submit`")
    changes = {
        "http://head.example:8265": f"http://127.0.0.1:{board}",
        "/data": str(tmp_path),
        "scheduler=asebf,aalo": "scheduler=asebf,aalo workload.coflows=30",
    }
    for before, after in changes.items():
        assert before in script
        script = script.replace(before, after)
    environment = {k: v for k, v in own_ray.items() if k != "PYTHONPATH"}
    done = run(environment, "bash", "-ec", script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert load(tmp_path / "mine")["status"].tolist() == ["ok", "ok"]
    head.send_signal(signal.SIGTERM)
    head.wait(30)
