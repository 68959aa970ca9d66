"""The gateway as a process of its own, before real Redis, real Postgres and scripted engines; to be killed by tests."""

import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from gateway.cli.event_stream import EventReader, ServerEvent
from gateway.local.redis_server import RedisServer, redis_server
from gateway.local.sample import seed
from gateway.local.seed import Seed
from tests.support.engine_process import EngineProcess, free_port, scripted_engine
from tests.support.simulator_process import SimulatorProcess, simulator
from tests.support.tiny_model import tiny_model

_ROOT = Path(__file__).parents[2]
_START_S = 30.0


class GatewayProcess:
    """`url` stays the same over `kill` and `start`. What it logs goes to `log`. With `trust` it serves HTTPS."""

    def __init__(self, *, environment: Mapping[str, str], log: Path, trust: ssl.SSLContext | None = None) -> None:
        self.port = free_port()
        self.url = f"{'http' if trust is None else 'https'}://127.0.0.1:{self.port}"
        self.log = log
        self.trust = trust
        self._environment = {**os.environ, **environment, "DRILLYARD_PORT": str(self.port)}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_up(self) -> bool:
        return self._process is not None

    def launch(self) -> None:
        """Start it and wait for nothing."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gateway.cli.main", "serve"], cwd=_ROOT, env=self._environment, stderr=log
            )

    def start(self) -> None:
        self.launch()
        deadline = time.monotonic() + _START_S
        while not self._is_ready():
            assert self._process is not None
            assert self._process.poll() is None, f"the gateway ended while it started: {self.log.read_text()}"
            assert time.monotonic() < deadline, f"the gateway did not come up: {self.log.read_text()}"
            time.sleep(0.05)

    def kill(self) -> None:
        """End at once, as a crash does, and reap."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @contextmanager
    def neighbour(self) -> Iterator["GatewayProcess"]:
        """Another process of the same installation, for the length of the block."""
        other = GatewayProcess(
            environment=self._environment, log=self.log.with_name(f"neighbour-{self.log.name}"), trust=self.trust
        )
        try:
            other.start()
            yield other
        finally:
            other.kill()

    def ask_to_stop(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    def wait(self, *, patience_s: float = 20.0) -> int:
        """Its exit code, once it has ended."""
        assert self._process is not None
        code = self._process.wait(patience_s)
        self._process = None
        return code

    def _is_ready(self) -> bool:
        try:
            verify = True if self.trust is None else self.trust
            return httpx.get(f"{self.url}/readyz", trust_env=False, verify=verify).is_success
        except httpx.TransportError:
            return False


@dataclass(frozen=True, slots=True)
class World:
    """A whole small installation with the sample data."""

    gateway: GatewayProcess
    engines: dict[str, EngineProcess]
    simulators: dict[str, SimulatorProcess]
    redis: RedisServer
    database_url: str
    seed: Seed

    def client(self, key: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key or self.seed.keys.trainees[0]}"}
        verify = True if self.gateway.trust is None else self.gateway.trust
        return httpx.Client(base_url=self.gateway.url, headers=headers, trust_env=False, timeout=30, verify=verify)

    def open_session(self, client: httpx.Client) -> str:
        answer = client.post("/v1/sessions", json={"scenario_id": self.seed.scenarios[0].id})
        answer.raise_for_status()
        session: str = answer.json()["id"]
        return session

    def context(self, session: str) -> dict[str, Any]:
        with self.client(self.seed.keys.instructor) as client:
            answer = client.get(f"/v1/sessions/{session}/context")
            answer.raise_for_status()
            context: dict[str, Any] = answer.json()
            return context


@contextmanager
def world(
    folder: Path,
    database_url: str,
    *,
    engines: int = 2,
    simulators: int = 0,
    speed_up: int = 50,
    trust: ssl.SSLContext | None = None,
    **settings: str,
) -> Iterator[World]:
    """`settings` are DRILLYARD_ variables without their prefix; with `simulators` there are these and no engines.

    `trust` is for a gateway whose settings name certificate files.
    """
    model = tiny_model(folder / "model")
    with ExitStack() as stack:
        redis = stack.enter_context(redis_server(folder / "redis"))
        named = {
            f"replica-{number}": stack.enter_context(scripted_engine("--tokenizer", str(model)))
            for number in range(1, (0 if simulators else engines) + 1)
        }
        words = ("--model", str(model), "--enable-prompt-tokens-details", "--speed-up", str(speed_up))
        simulated = {f"sim-{n}": stack.enter_context(simulator(*words)) for n in range(1, simulators + 1)}
        urls = {name: each.url for name, each in named.items()} | {name: each.url for name, each in simulated.items()}
        environment = {
            "DRILLYARD_REDIS_URL": redis.url,
            "DRILLYARD_DATABASE_URL": database_url,
            "DRILLYARD_MODEL__NAME": "smollm2",
            "DRILLYARD_MODEL__FOLDER": str(model),
            "DRILLYARD_REPLICAS": json.dumps([{"id": name, "url": url} for name, url in urls.items()]),
            "DRILLYARD_ROUTER__PROBE_INTERVAL_S": "0.2",
            "DRILLYARD_SESSIONS__LEASE_S": "2",
            **{f"DRILLYARD_{name}": value for name, value in settings.items()},
        }
        gateway = GatewayProcess(environment=environment, log=folder / "gateway.log", trust=trust)
        stack.callback(gateway.kill)
        sown = seed({**os.environ, **environment}, keys_file=folder / "keys.json")
        gateway.start()
        yield World(gateway, named, simulated, redis, database_url, sown)


def turn_events(client: httpx.Client, session: str, text: str, *, key: str | None = None) -> Iterator[ServerEvent]:
    """The events of a new turn, as they come; raises `httpx.HTTPError` when it is refused or the stream is cut."""
    headers = {"Accept": "text/event-stream"} | ({"Idempotency-Key": key} if key else {})
    path = f"/v1/sessions/{session}/turns"
    with client.stream("POST", path, json={"text": text}, headers=headers) as response:
        response.raise_for_status()
        reader = EventReader()
        for chunk in response.iter_raw():
            yield from reader.feed(chunk)
