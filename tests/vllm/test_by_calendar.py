"""A class by the calendar on real vLLM: its replica is there before the bell, and gone after the end.

How far ahead it is and how long it lasts can be set, in seconds, to try it by hand as an instructor would:
DRILLYARD_TEST_BELL_IN=240 DRILLYARD_TEST_CLASS=60.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.scheduled_class import caller, scheduled

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[2]
BELL_IN_S = float(os.environ.get("DRILLYARD_TEST_BELL_IN", "120"))
CLASS_S = float(os.environ.get("DRILLYARD_TEST_CLASS", "15"))
INSTALLED_WITHIN_S = 1500.0
GONE_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class Stack:
    data: Path
    process: "subprocess.Popen[bytes]"

    @property
    def ready(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.data / "ready.json").read_text())
        return content

    def logs(self) -> str:
        files = (self.data / "logs" / "fleet.log", *(self.data / "fleet" / "logs").glob("*.log"))
        return "\n".join(file.read_text()[-3000:] for file in files if file.exists())


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    words = ["up", "--by-calendar", "--replicas", "1", "--seats", "4", "--port", "0", "--data", str(tmp_path)]
    with (tmp_path / "up.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "gateway.cli.main", *words], cwd=ROOT, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + INSTALLED_WITHIN_S
        while not (tmp_path / "ready.json").exists():
            assert process.poll() is None, (tmp_path / "up.log").read_text()
            assert time.monotonic() < deadline, (tmp_path / "up.log").read_text()
            time.sleep(0.2)
        yield Stack(tmp_path, process)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(GONE_WITHIN_S) == 0
    assert list((tmp_path / "fleet" / "replicas").iterdir()) == []


def test_a_class_gets_its_replica_before_the_bell_and_none_is_left_after_its_end(stack: Stack) -> None:
    with caller(stack.ready, "instructor") as instructor, caller(stack.ready, "operator") as operator:

        def replicas() -> list[str]:
            found = operator.get("/v1/fleet").raise_for_status().json()["replicas"]
            return [str(one["health"]) for one in found]

        assert replicas() == []
        drill = scheduled(instructor, stack.ready, in_s=BELL_IN_S, for_s=CLASS_S, trainees=3)
        while replicas() != ["ready"]:
            assert drill.bell_in_s() > 0, stack.logs()
            time.sleep(0.2)
        warm_before_bell_s = drill.bell_in_s()
        while drill.bell_in_s() > 0:
            time.sleep(0.2)
        with caller(stack.ready, "trainee") as trainee:
            session = drill.session(trainee)
            usage = drill.turn(trainee, session)["usage"]
            assert usage["completion_tokens"] > 0
            assert usage["cached_tokens"] > 0, "the scenario's beginning was computed before the bell"
            trainee.post(f"/v1/sessions/{session}/close").raise_for_status()
        drill.wait_for_its_end()
        ended = time.monotonic()
        while replicas() or any((stack.data / "fleet" / "replicas").iterdir()):
            assert time.monotonic() < ended + GONE_WITHIN_S, stack.logs()
            time.sleep(0.2)
        print(f"warm {warm_before_bell_s:.0f} s before the bell; gone {time.monotonic() - ended:.0f} s after the end")  # noqa: T201
