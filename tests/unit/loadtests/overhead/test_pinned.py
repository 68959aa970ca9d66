"""Processes on one core, and their end."""

import os
import sys
from pathlib import Path

import pytest

from loadtests.overhead.pinned import TargetFailed, answers, free_port, pinned

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
