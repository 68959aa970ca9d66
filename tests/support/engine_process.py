"""Scripted engines as processes of their own, to be scripted, frozen and killed by tests."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

_ROOT = Path(__file__).parents[2]
_START_S = 60.0


class EngineProcess:
    """One scripted engine; `url` stays the same over `kill` and `start`."""

    def __init__(self, *, port: int | None = None, arguments: tuple[str, ...] = ()) -> None:
        self.port = free_port() if port is None else port
        self.url = f"http://127.0.0.1:{self.port}"
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._client = httpx.Client(base_url=self.url, timeout=5.0, trust_env=False)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.support.scripted_engine", "--port", str(self.port), *self._arguments]
        self._process = subprocess.Popen(command, cwd=_ROOT)
        deadline = time.monotonic() + _START_S
        while not self._answers():
            assert self._process.poll() is None, "the scripted engine ended while it started"
            assert time.monotonic() < deadline, "the scripted engine did not come up"
            time.sleep(0.02)

    def kill(self) -> None:
        """End at once and reap; killing twice is nothing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def script(self, **fields: object) -> None:
        """Change the named fields of `Script`; the others stay as they are."""
        self._client.post("/script", json=fields).raise_for_status()

    def reset(self) -> None:
        """The default script, no remembered requests, an empty prefix cache."""
        self._client.delete("/script").raise_for_status()
        self._client.delete("/requests").raise_for_status()

    def requests(self) -> list[dict[str, Any]]:
        """The chat requests since the last reset: messages, cache_salt, headers, client_port, body as it was sent."""
        recorded: list[dict[str, Any]] = self._client.get("/requests").json()
        return recorded

    def running(self) -> int:
        """Streams the engine is writing now."""
        lines = self._client.get("/metrics").text.splitlines()
        return int(float(next(line.split()[-1] for line in lines if "num_requests_running" in line)))

    def close(self) -> None:
        self.kill()
        self._client.close()

    def _answers(self) -> bool:
        try:
            return self._client.get("/health").is_success
        except httpx.TransportError:
            return False


@contextmanager
def scripted_engine(*arguments: str) -> Iterator[EngineProcess]:
    """A running engine on a free port; `arguments` are those of `tests.support.scripted_engine`."""
    engine = EngineProcess(arguments=arguments)
    try:
        engine.start()
        yield engine
    finally:
        engine.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
