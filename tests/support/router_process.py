"""A router alone as a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from tests.support.engine_process import free_port

_ROOT = Path(__file__).parents[2]
_START_S = 60.0


class RouterProcess:
    """Entered once it answers 200 at `waits_for`; killed at the end if it still runs. What it logs goes to `log`."""

    def __init__(
        self, *arguments: str, log: Path, waits_for: str = "/readyz", environment: Mapping[str, str] | None = None
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = log
        self._waits_for = waits_for
        self._arguments = arguments
        bare = {name: value for name, value in os.environ.items() if not name.startswith("DRILLYARD_")}
        self._environment = bare | {"DRILLYARD_ROUTER__PROBE_INTERVAL_S": "0.3"} | dict(environment or {})
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "gateway.cli.main", "router", "--port", str(self.port), *self._arguments]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, cwd=_ROOT, env=self._environment, stderr=log)
        deadline = time.monotonic() + _START_S
        while not self._answers():
            assert self._process.poll() is None, f"the router ended while it started: {self._log.read_text()}"
            assert time.monotonic() < deadline, f"the router did not come up: {self._log.read_text()}"
            time.sleep(0.02)

    def send(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self, *, patience_s: float = 30.0) -> int:
        assert self._process is not None
        return self._process.wait(patience_s)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, trust_env=False, timeout=30)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}{self._waits_for}", trust_env=False).is_success
        except httpx.TransportError:
            return False
