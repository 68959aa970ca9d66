"""Processes on one core, and their end."""

import os
import signal
import sys
from pathlib import Path

import pytest

from loadtests.overhead.pinned import TargetFailed, answers, free_port, pinned
from tests.support.eventually import eventually

CORE = min(os.sched_getaffinity(0))


def test_a_process_runs_on_its_core_until_it_is_left(tmp_path: Path) -> None:
    port = free_port()
    engine = (sys.executable, "-m", "loadtests.overhead.engine", "--port", str(port))
    url = f"http://127.0.0.1:{port}/health"
    with pinned(engine, core=CORE, log=tmp_path / "log", ready=url) as process:
        assert os.sched_getaffinity(process.pid) == {CORE}
        assert process.cpu_s() >= 0
        assert process.waited_s() >= 0
        assert process.memory_mb() > 1
    assert not answers(url)
    assert (process.cpu_s(), process.memory_mb()) == (0, 0)


def test_what_does_not_start_says_why(tmp_path: Path) -> None:
    broken = (sys.executable, "-c", "raise SystemExit('there is no such thing')")
    with (
        pytest.raises(TargetFailed, match="no such thing"),
        pinned(broken, core=CORE, log=tmp_path / "log", ready="http://127.0.0.1:9/"),
    ):
        pass


MOTHER = """
import subprocess, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
subprocess.run(["sleep", "30"])
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="it needs two cores")
async def test_a_process_moves_with_its_threads_and_children(tmp_path: Path) -> None:
    def threads() -> list[int]:
        return [int(task.name) for task in Path(f"/proc/{process.pid}/task").iterdir()]

    def children() -> list[int]:
        return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]

    log, other = tmp_path / "log", max(os.sched_getaffinity(0))
    with pinned((sys.executable, "-c", MOTHER), core=CORE, log=log, environment=dict(os.environ)) as process:
        assert process.is_running()
        await eventually(lambda: (len(threads()), len(children())) == (2, 1))
        process.move_to(other)
        assert [os.sched_getaffinity(pid) for pid in (*threads(), *children())] == [{other}] * 3
        os.kill(children()[0], signal.SIGTERM)
    assert not process.is_running()
