import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.local import process_table
from gateway.local.errors import BinaryMissing
from gateway.local.process import Command, start, stop_together
from tests.unit.gateway.local.conftest import Script

STUBBORN = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\ntime.sleep(99)"
WITH_GRANDCHILD = (
    "import subprocess, sys, time\n"
    "print(subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(99)']).pid, flush=True)\n"
)


def eventually(holds: Callable[[], object], *, within_s: float = 10.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    found = process_table.entry(pid)
    return found is None or found.zombie


def test_what_a_child_writes_goes_to_its_log(script: Script) -> None:
    child = start(script("import sys; print('out', flush=True); print('err', file=sys.stderr)"))
    eventually(lambda: child.exit_code() is not None)
    assert child.finish() == 0
    assert child.command.log.read_text().split() == ["out", "err"]


def test_a_child_leads_a_group_and_session_of_its_own(script: Script) -> None:
    child = start(script("import time; time.sleep(99)"))
    assert os.getpgid(child.pid) == os.getsid(child.pid) == child.pid
    child.stop()


def test_an_exit_code_is_seen_without_reaping(script: Script) -> None:
    child = start(script("raise SystemExit(7)"))
    eventually(lambda: child.exit_code() == 7)
    assert process_table.entry(child.pid) is not None
    assert child.finish() == 7
    assert process_table.entry(child.pid) is None
    assert child.exit_code() == 7


def test_a_death_by_signal_is_a_negative_code(script: Script) -> None:
    child = start(script("import time; time.sleep(99)"))
    os.kill(child.pid, signal.SIGKILL)
    eventually(lambda: child.exit_code() == -signal.SIGKILL)
    assert child.finish() == -signal.SIGKILL


def test_a_child_that_ignores_the_signal_is_killed_when_its_grace_is_over(script: Script) -> None:
    child = start(script(STUBBORN, grace_s=0.2))
    eventually(lambda: "up" in child.command.log.read_text())
    assert child.stop() == -signal.SIGKILL


def test_hurry_cuts_the_grace_short(script: Script) -> None:
    child = start(script(STUBBORN, grace_s=60.0))
    eventually(lambda: "up" in child.command.log.read_text())
    began = time.monotonic()
    stop_together([child], hurry=lambda: True)
    assert time.monotonic() - began < 5
    assert child.exit_code() == -signal.SIGKILL


def test_the_whole_group_ends_with_its_leader(script: Script) -> None:
    child = start(script(WITH_GRANDCHILD + "time.sleep(99)"))
    eventually(lambda: child.command.log.read_text().endswith("\n"))
    grandchild = int(child.command.log.read_text())
    child.stop()
    assert is_gone(grandchild)


def test_descendants_of_a_leader_that_died_by_itself_end_too(script: Script) -> None:
    child = start(script(WITH_GRANDCHILD))
    eventually(lambda: child.exit_code() == 0)
    grandchild = int(child.command.log.read_text())
    assert not is_gone(grandchild)
    child.finish()
    assert is_gone(grandchild)


def test_descendants_of_a_dead_leader_may_tidy_up_before_they_end(script: Script, tmp_path: Path) -> None:
    tidy = (
        "import signal, sys, time\nfrom pathlib import Path\n"
        f"signal.signal(signal.SIGTERM, lambda *_: (Path({str(tmp_path / 'tidied')!r}).touch(), sys.exit()))\n"
        "print('up', flush=True)\ntime.sleep(99)"
    )
    child = start(script(f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-S', '-c', {tidy!r}])"))
    eventually(lambda: child.exit_code() == 0 and "up" in child.command.log.read_text())
    assert child.leaves_somebody()
    child.ask_the_rest_to_stop()
    eventually(lambda: not child.leaves_somebody())
    assert (tmp_path / "tidied").exists()
    child.finish()
    child.ask_the_rest_to_stop()


def test_a_child_dies_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    parent = (
        "import sys, time\nfrom pathlib import Path\nfrom gateway.local.process import Command, start\n"
        "argv = (sys.executable, '-S', '-c', 'import time; time.sleep(99)')\n"
        f"command = Command(name='c', argv=argv, log=Path({str(log)!r}))\n"
        "print(start(command).pid, flush=True)\ntime.sleep(99)"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    eventually(lambda: is_gone(pid))


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BinaryMissing, match="nowhere"):
        start(Command(name="x", argv=("/nowhere/at-all",), log=tmp_path / "x.log"))


def test_an_environment_never_shows_in_a_representation(tmp_path: Path) -> None:
    command = Command(name="x", argv=("true",), log=tmp_path / "x.log", env={"TOKEN": "secret"})
    assert "secret" not in repr(command)
