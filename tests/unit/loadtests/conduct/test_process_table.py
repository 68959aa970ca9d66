"""What processes have used, with all that they have started."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from loadtests.conduct.process_table import Used, used

BUSY = "import time\nend = time.process_time() + {s}\nwhile time.process_time() < end: pass\n"
PARENT = (
    "import subprocess, sys\n"
    f"subprocess.run([sys.executable, '-c', {BUSY.format(s=0.3)!r}], check=True)\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import sys; x = bytearray(1) * 30_000_000; sys.stdin.read()'],"
    " stdin=subprocess.PIPE)\n"
    "print('ready', flush=True)\n"
    "sys.stdin.read()\n"
)


@pytest.fixture
def family() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        yield process
    finally:
        process.communicate("")


def until_used(pid: int, megabytes: float) -> Used | None:
    deadline = time.monotonic() + 10
    while (found := used(pid)) is not None and found.memory_mb < megabytes and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def test_children_count_those_that_have_ended_included(family: subprocess.Popen[str]) -> None:
    found = until_used(family.pid, 35.0)
    assert found is not None
    assert found.cpu_s >= 0.25
    assert 35.0 < found.memory_mb < 300.0


def test_cpu_of_this_process_only_grows() -> None:
    before = used(os.getpid())
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    after = used(os.getpid())
    assert before is not None
    assert after is not None
    assert after.cpu_s >= before.cpu_s + 0.05


def test_a_process_that_is_gone_has_used_nothing_that_is_known() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert used(process.pid) is None
