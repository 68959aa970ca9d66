"""Run in a process of their own: adopting would take the whole suite's servers for orphans."""

import subprocess
import sys

HEAD = """
import os, signal, subprocess, sys
from pathlib import Path
from gateway.local import process_table
from gateway.local.adoption import adopting_orphans, reap_orphans

def orphan(code):
    # A daemon's way: a session of its own, so that the group of its parent says nothing of it.
    parent = (
        "import subprocess, sys\\n"
        f"print(subprocess.Popen([sys.executable, '-S', '-c', {code!r}], start_new_session=True).pid)"
    )
    return int(subprocess.run([sys.executable, '-S', '-c', parent], stdout=subprocess.PIPE, check=True).stdout)

SLEEP = "import time; time.sleep(99)"
"""


def run(body: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", HEAD + body], capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr


def test_an_orphan_becomes_ours_and_ends_with_the_block() -> None:
    run("""
with adopting_orphans():
    pid = orphan(SLEEP.replace("import time", "import os, time; os.close(1)"))
    assert process_table.entry(pid).parent == os.getpid()
assert process_table.entry(pid) is None
""")


def test_an_orphan_that_has_ended_is_collected() -> None:
    run("""
with adopting_orphans():
    pid = orphan("pass")
    while (found := process_table.entry(pid)) is not None:
        assert found.parent == os.getpid()
        reap_orphans(frozenset())
""")


def test_a_child_somebody_waits_for_is_left_to_them() -> None:
    run("""
child = subprocess.Popen([sys.executable, '-S', '-c', SLEEP])
child.kill()
while not process_table.entry(child.pid).zombie:
    pass
reap_orphans(frozenset({child.pid}))
assert child.wait() == -signal.SIGKILL
""")
