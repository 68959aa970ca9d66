import os
import signal
import sys

from gateway.local import process_table
from gateway.local.adoption import adopting_orphans, reap_orphans
from gateway.local.children import Children
from tests.unit.gateway.local.conftest import Script

SLEEP = "import time; time.sleep(99)"
# A daemon's way: a session of its own, so that the group of its parent says nothing of it.
DAEMON = (
    "import subprocess, sys\n"
    "print(subprocess.Popen([sys.executable, '-S', '-c', {code!r}], start_new_session=True).pid, flush=True)\n"
)


def orphan(script: Script, children: Children, code: str) -> int:
    command = script(DAEMON.format(code=code))
    children.run(command)
    return int(command.log.read_text())


def ours() -> frozenset[int]:
    return frozenset(one.pid for one in process_table.everyone() if one.parent == os.getpid())


def test_an_orphan_becomes_ours_and_ends_with_the_block(script: Script, children: Children) -> None:
    older = children.start(script(SLEEP))
    with adopting_orphans():
        pid = orphan(script, children, SLEEP)
        found = process_table.entry(pid)
        assert found is not None
        assert found.parent == os.getpid()
    assert process_table.entry(pid) is None
    assert older.exit_code() is None, "what was there before is somebody else's"


def test_an_orphan_that_has_ended_is_collected(script: Script, children: Children) -> None:
    others = ours()
    with adopting_orphans():
        pid = orphan(script, children, "pass")
        while (found := process_table.entry(pid)) is not None:
            reap_orphans(others)
            assert found.parent == os.getpid()


def test_a_child_somebody_waits_for_is_left_to_them(script: Script, children: Children) -> None:
    child = children.start(script(SLEEP))
    os.kill(child.pid, signal.SIGKILL)
    while child.exit_code() is None:
        pass
    reap_orphans(ours())
    assert process_table.entry(child.pid) is not None
    assert child.exit_code() == -signal.SIGKILL
    assert sys.executable in child.command.argv
