"""One real stack for the whole run: `drillyard up` with two vLLM replicas, as a newcomer starts it."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

_ROOT = Path(__file__).parents[2]
_START_S = 1500.0  # the first time installs vLLM
_STOP_S = 90.0
PATIENCE_S = 420.0
"""For what comes back by itself: a replica that was killed more than once is started again only after a while."""


@dataclass(frozen=True, slots=True)
class RealStack:
    """What the ready file of a running stack says, and where its data is."""

    data: Path
    process: subprocess.Popen[str]

    @property
    def ready(self) -> dict[str, Any]:
        """Read anew each time: process numbers change when something was started again."""
        content: dict[str, Any] = json.loads((self.data / "ready.json").read_text())
        return content

    def client(self, role: str = "trainee") -> httpx.Client:
        keys = self.ready["keys"]
        key = keys["trainees"][0] if role == "trainee" else keys[role]
        headers = {"Authorization": f"Bearer {key}"}
        return httpx.Client(base_url=self.ready["base_url"], headers=headers, trust_env=False, timeout=180)

    def drillyard(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gateway.cli.main", *words, "--data", str(self.data)]
        return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False, timeout=900)

    def wait_until_whole(self) -> None:
        """Both replicas serve; one that a test has killed takes half a minute to be back."""
        deadline = time.monotonic() + PATIENCE_S
        while not self._is_whole():
            assert time.monotonic() < deadline, (self.data / "up.log").read_text()
            time.sleep(0.5)

    def _is_whole(self) -> bool:
        # The replicas themselves are asked too: the gateway hears of a kill only at its next look.
        try:
            with self.client() as client:
                healthy = [
                    client.get(f"{each['url'].rstrip('/')}/health").is_success for each in self.ready["replicas"]
                ]
                detail: str = client.get("/readyz").json()["checks"]["replicas"]["detail"]
        except httpx.TransportError:
            return False
        return all(healthy) and detail == "2 of 2 ready"


@pytest.fixture
def stack(lasting_stack: RealStack) -> RealStack:
    """Whole again, whatever the test before has done to it."""
    lasting_stack.wait_until_whole()
    return lasting_stack


@pytest.fixture(scope="session")
def lasting_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealStack]:
    data = tmp_path_factory.mktemp("stack")
    command = [sys.executable, "-m", "gateway.cli.main", "up", "--replicas", "2", "--port", "0", "--data", str(data)]
    with (data / "up.log").open("w") as log:
        process = subprocess.Popen(command, cwd=_ROOT, stdout=log, stderr=log, text=True)
    try:
        deadline = time.monotonic() + _START_S
        while not (data / "ready.json").exists():
            assert process.poll() is None, (data / "up.log").read_text()
            assert time.monotonic() < deadline, (data / "up.log").read_text()
            time.sleep(0.5)
        yield RealStack(data, process)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(_STOP_S)
