"""Who of a run still lives, and that nobody else is ever signalled."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from router.fleet.adapters.processes.remains import end_remains, is_alive, signal_shim
from router.fleet.adapters.processes.replica_shim import Process, Run, boot, entry

SLEEP = [sys.executable, "-S", "-c", "import time\ntime.sleep(600)"]


@pytest.fixture
def process() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(SLEEP, start_new_session=True) as process:
        yield process
        process.kill()


def known(pid: int) -> Process:
    found = entry(pid)
    assert found is not None
    return found.process


def run_of(shim: Process, *family: Process) -> Run:
    return Run(shim, boot(), "0", 1, 0, family=family)


def test_it_lives_until_it_has_ended_reaped_or_not(process: "subprocess.Popen[bytes]") -> None:
    run = run_of(known(process.pid))
    assert is_alive(run)
    signal_shim(run, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(run)
    signal_shim(run, signal.SIGKILL)
    process.wait()
    assert not is_alive(run)
    signal_shim(run, signal.SIGKILL)


def test_one_that_began_at_another_time_or_under_another_boot_is_a_stranger(process: "subprocess.Popen[bytes]") -> None:
    own = known(process.pid)
    later = run_of(own._replace(started=own.started - 1), own._replace(started=own.started + 1))
    for run in (later, run_of(own, own)._replace(boot="another")):
        assert not is_alive(run)
        assert not end_remains(run)
        signal_shim(run, signal.SIGKILL)
    assert process.poll() is None


def test_what_is_left_goes_with_those_who_came_to_its_session_unnoticed(process: "subprocess.Popen[bytes]") -> None:
    gone = Process(process.pid, 0)
    assert end_remains(run_of(gone, known(process.pid)))
    process.wait()
    assert not end_remains(run_of(gone))
