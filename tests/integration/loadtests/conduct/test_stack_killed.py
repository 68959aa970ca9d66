"""A stack of a drill's own ends with the drill, also when nothing of ours gets to run any more."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[4]
WITHIN_S = 60.0
DRILL = """
from loadtests.conduct.stack import StackPlan, own_stack
with own_stack(StackPlan(replicas=1), say=lambda line: print(line, flush=True)):
    pass
"""


def children_of(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_it_ends_with_a_killed_drill(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", DRILL], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as drill:
        assert drill.stdout is not None
        assert any("preparing the database" in line for line in drill.stdout)
        (up,) = children_of(drill.pid)
        started = children_of(up)
        assert len(started) >= 3, "a replica, Redis and Postgres"
        os.kill(drill.pid, signal.SIGKILL)
    deadline = time.monotonic() + WITHIN_S
    while any(map(lives, [up, *started])):
        assert time.monotonic() < deadline
        time.sleep(0.05)
