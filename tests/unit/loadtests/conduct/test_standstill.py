import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from loadtests.conduct.standstill import standing_still

WITHIN_S = 20.0
KILLED = """
import os, signal, sys
from loadtests.conduct.standstill import standing_still
with standing_still(int(sys.argv[1])):
    while open(f"/proc/{sys.argv[1]}/stat").read().rpartition(")")[2].split()[0] != "T":
        pass
    print(flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def group() -> Iterator[int]:
    words = [sys.executable, "-c", "input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        yield process.pid
        process.kill()


def stands_still(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def until(pid: int, *, still: bool) -> None:
    deadline = time.monotonic() + WITHIN_S
    while stands_still(pid) is not still:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_it_stands_still_inside_and_goes_on_afterwards(group: int) -> None:
    with standing_still(group):
        until(group, still=True)
    until(group, still=False)


def test_it_goes_on_when_who_stopped_it_was_killed(group: int) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(group)], cwd=Path(__file__).parents[4], check=False, capture_output=True
    )
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, b"\n")
    until(group, still=False)


def test_one_that_ends_meanwhile_is_let_be(group: int) -> None:
    with standing_still(group):
        os.killpg(group, signal.SIGKILL)
        os.waitpid(group, 0)


def test_who_is_not_there_cannot_stand_still() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], start_new_session=True) as gone:
        gone.wait()
    with pytest.raises(ProcessLookupError), standing_still(gone.pid):
        pytest.fail("somebody stood still")
