"""Ctrl-C and SIGTERM: noted from the first line on, and the last thing that a process hears of."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sweep
from sweep.execution.signals import Interrupts

ROOT = Path(sweep.__file__).parents[1]


def run_with(main: str, *setup: str) -> subprocess.CompletedProcess[str]:
    """Run the command with another main, after some statements."""
    lines = [
        "import atexit, os, signal, sys, threading, time",
        "import sweep.__main__ as command, sweep.cli.main as cli",
        *setup,
        f"cli.main = lambda: {main}",
        "sys.exit(command.run())",
    ]
    return subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_the_sweep_takes_them_is_an_interruption(number) -> None:
    done = run_with(f"(os.kill(os.getpid(), {int(number)}), time.sleep(5))[0]")
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_a_signal_while_the_process_ends_changes_nothing() -> None:
    """Python gives signals back to the system while it ends; this process has ended by then."""
    done = run_with(
        "(_ for _ in ()).throw(KeyboardInterrupt)",
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGTERM))",
    )
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


@pytest.mark.parametrize(
    "setup",
    [
        "sys.modules['ray'] = sys",
        "threading.Thread(target=time.sleep, args=[60], name='points', daemon=True).start()",
    ],
)
def test_no_destructor_runs_after_ray_or_beside_a_point(setup) -> None:
    """The library of Ray aborts in one, rarely; here it always does."""
    done = run_with("print('done') or 3", setup, "atexit.register(os.abort)")
    assert (done.returncode, done.stdout) == (3, "done\n")


def test_signals_that_a_library_takes_are_taken_again() -> None:
    with Interrupts(leave=False) as interrupts:
        assert not interrupts.requested_now()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # as Ray's library does
        assert not interrupts.requested_now()
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.requested_now()


def test_the_second_signal_stops_at_once(capfd) -> None:
    with pytest.raises(KeyboardInterrupt), Interrupts(leave=False):  # noqa: PT012
        os.kill(os.getpid(), signal.SIGTERM)
        assert "stopping after the current result; press Ctrl-C again" in capfd.readouterr().err
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
