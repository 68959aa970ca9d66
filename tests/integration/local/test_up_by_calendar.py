"""A whole stack whose replicas come and go with the class calendar, by the one command, on simulated replicas."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.local.conftest import Up
from tests.support.process_house import lives, process_house, working_in
from tests.support.scheduled_class import caller, scheduled
from tests.support.tiny_model import tiny_model

pytestmark = [pytest.mark.redis, pytest.mark.postgres]

ROOT = Path(__file__).parents[3]
START_S = 60.0
SOON_S = 12.0
CLASS_S = 3.0


@dataclass(slots=True)
class Stack:
    folder: Path
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        model = tiny_model(self.folder / "tiny") if not (self.folder / "tiny").exists() else self.folder / "tiny"
        (model / "config.json").write_text("{}")
        words = ["--by-calendar", "--replica-kind", "sim", "--replicas", "2", "--seats", "4", "--speed-up", "50"]
        program = [sys.executable, "-m", "gateway.cli.main", "up", *words, "--model", str(model), "--port", "0"]
        environment = {**os.environ, "DRILLYARD_FLEET__INTERVAL_S": "0.2", "DRILLYARD_FLEET__DRAIN_WITHIN_S": "5"}
        with (self.folder / "up.log").open("wb") as log:
            self.process = subprocess.Popen(
                [*program, "--data", str(self.data)], cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        self.until((self.data / "ready.json").exists)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def said(self) -> str:
        return (self.folder / "up.log").read_text()

    def until(self, holds: Callable[[], object], *, within_s: float = START_S) -> None:
        assert self.process is not None
        deadline = time.monotonic() + within_s
        while not holds():
            assert self.process.poll() is None, self.said
            assert time.monotonic() < deadline, self.said + self.log("fleet") + self.log("gateway")
            time.sleep(0.05)

    def log(self, name: str) -> str:
        file = self.data / "logs" / f"{name}.log"
        return file.read_text() if file.exists() else ""

    def stop(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(START_S) == 0, self.said

    def pool(self) -> list[int]:
        """What runs of the pool."""
        return working_in(self.data / "fleet")

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(START_S)


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    stack = Stack(tmp_path)
    yield stack
    stack.end()
    assert stack.pool() == []


def replicas(operator: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = operator.get("/v1/fleet").raise_for_status().json()["replicas"]
    return found


def test_a_class_has_its_replica_before_the_bell_and_ctrl_c_leaves_none(stack: Stack) -> None:
    stack.start()
    ready = json.loads((stack.data / "ready.json").read_text())
    with caller(ready, "instructor") as instructor, caller(ready, "operator") as operator:
        checks = operator.get("/readyz").raise_for_status().json()["checks"]
        assert checks["replicas"] == {"ok": False, "detail": "none is there; they are started before the next class"}
        with caller(ready, "trainee") as early:
            session = early.post("/v1/sessions", json={"scenario_id": ready["scenarios"][0]["id"]}).json()["id"]
            refused = early.post(f"/v1/sessions/{session}/turns", json={"text": "Hello?"})
            assert (refused.status_code, refused.json()["code"]) == (503, "no_replica")
            assert "from a class's bell on" in refused.json()["detail"]
        drill = scheduled(instructor, ready, in_s=SOON_S, for_s=CLASS_S, trainees=3)
        stack.until(lambda: [one["health"] for one in replicas(operator)] == ["ready"], within_s=drill.bell_in_s())
        with caller(ready, "trainee") as trainee:
            session = drill.session(trainee)
            assert drill.turn(trainee, session)["usage"]["completion_tokens"] > 0
            trainee.post(f"/v1/sessions/{session}/close").raise_for_status()
        drill.wait_for_its_end()
        stack.until(lambda: replicas(operator) == [] and stack.pool() == [])
        scheduled(instructor, ready, in_s=600, for_s=600, trainees=8)
        stack.until(lambda: len(stack.pool()) >= 4)  # two shims and what they run
    stack.stop()
    assert stack.pool() == []


async def test_the_next_start_ends_what_a_killed_one_has_left(up: Up) -> None:
    async with process_house(up.data / "fleet") as house:
        run = await house.started()
        up.start()
        await asyncio.to_thread(up.until_ready)
        assert "ended one, which an earlier run had left behind" in up.said
        assert not lives(run.shim.pid)
