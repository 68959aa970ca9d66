"""A `drillyard router` in front of simulated replicas, all processes of their own, and what is done to a replica."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import httpx

_START_S = 60.0
# Quicker than the defaults and in their order: that a replica is frozen is seen by its probes before its streams end.
_SETTINGS = (
    "connect_timeout_s=2",
    "chunk_timeout_s=4",
    "first_byte_timeout_s=10",
    "probe_interval_s=0.5",
    "probe_timeout_s=1",
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Loss(StrEnum):
    """How a replica is lost."""

    KILL = "kill -9"
    STOP = "SIGSTOP"
    CUT_OFF = "network drop"


@dataclass(slots=True)
class SimulatedReplica:
    """On a port of its own that it keeps over restarts."""

    name: str
    arguments: Sequence[str]
    port: int = field(default_factory=free_port)
    admin_port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        ports = ("--port", str(self.port), "--admin-port", str(self.admin_port))
        command = [sys.executable, "-m", "loadtests.simulator", "serve", *ports, *self.arguments]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # noqa: S603
        wait_for(f"{self.url}/health", self.process)

    def lose(self, how: Loss) -> None:
        assert self.process is not None  # noqa: S101
        match how:
            case Loss.KILL:
                self.process.kill()
                self.process.wait()
            case Loss.STOP:
                self.process.send_signal(signal.SIGSTOP)
            case Loss.CUT_OFF:
                self._faults("POST", {"kind": "partition"})

    def bring_back(self, how: Loss) -> None:
        assert self.process is not None  # noqa: S101
        match how:
            case Loss.KILL:
                self.start()
            case Loss.STOP:
                self.process.send_signal(signal.SIGCONT)
            case Loss.CUT_OFF:
                self._faults("DELETE", None)

    def running(self) -> int:
        state = httpx.get(f"http://127.0.0.1:{self.admin_port}/sim/state", trust_env=False, timeout=10).json()
        return int(state["running"])

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _faults(self, method: str, content: dict[str, str] | None) -> None:
        url = f"http://127.0.0.1:{self.admin_port}/sim/faults"
        httpx.request(method, url, json=content, trust_env=False, timeout=10).raise_for_status()


class House:
    """Entered once all of it serves; ended as a whole."""

    def __init__(
        self,
        *,
        replicas: int,
        speed_up: float,
        log: Path,
        seed: int = 1,
        token_ids: bool = True,
        settings: Sequence[str] = (),
    ) -> None:
        arguments = ("--speed-up", str(speed_up), "--load-s", "0", "--seed", str(seed))
        self.replicas = [SimulatedReplica(f"replica-{number}", arguments) for number in range(replicas)]
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._settings = (*_SETTINGS, f"token_ids={str(token_ids).lower()}", *settings)
        self._log_file = log
        self._stack = ExitStack()
        self.client = httpx.Client(base_url=self.url, trust_env=False, timeout=30)

    def __enter__(self) -> Self:
        for replica in self.replicas:
            self._stack.callback(replica.end)
            replica.start()
        self._start_router(self._stack.enter_context(self._log_file.open("ab")))
        self._stack.callback(self.client.close)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def is_whole(self) -> bool:
        """Whether every replica is ready, and nothing runs on the router."""
        seen = self.client.get("/replicas").json()["replicas"]
        return all(each["health"] == "ready" and each["in_flight"] == 0 for each in seen)

    def wait_until_whole(self) -> None:
        """Also for breakers: each closes with the first turn that goes well."""
        deadline = time.monotonic() + _START_S
        while not self.is_whole() or self.metric("drillyard_router_breaker_open"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the fleet did not come back: {self.client.get('/replicas').text}")
            for replica in self.replicas:
                self._try_out(replica)
            time.sleep(0.2)

    def _try_out(self, replica: SimulatedReplica) -> None:
        body = {"model": "smollm2", "messages": [{"role": "user", "content": "Hello?"}], "max_tokens": 1}
        session = f"try-{replica.name}-{time.monotonic_ns()}"
        self.client.post(
            "/v1/chat/completions", json=body, headers={"X-Session-ID": session, "X-Prefer-Replica": replica.name}
        )

    def metric(self, name: str, **labels: str) -> float:
        """The sum over all series that bear these labels."""
        told = [f'{label}="{value}"' for label, value in labels.items()]
        lines = [
            line for line in self.client.get("/metrics").text.splitlines() if line.split("{")[0].split()[0] == name
        ]
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if all(each in line for each in told))

    def _start_router(self, log: IO[bytes]) -> None:
        words = [word for each in self.replicas for word in ("--replica", f"{each.name}={each.url}")]
        words += [word for each in self._settings for word in ("--set", each)]
        command = [sys.executable, "-m", "gateway.cli.main", "router", "--port", str(self.port), *words]
        bare = {name: value for name, value in os.environ.items() if not name.startswith("DRILLYARD_")}
        process = subprocess.Popen(command, env=bare, stderr=log)  # noqa: S603
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        wait_for(f"{self.url}/readyz", process)


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_S
    while True:
        try:
            if httpx.get(url, trust_env=False).is_success:
                return
        except httpx.TransportError:
            pass
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{url} does not answer")
        time.sleep(0.05)
