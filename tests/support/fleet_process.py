"""`drillyard fleet run` as a process of its own, before real Redis and Postgres and replicas that are simulated; to be
killed by tests.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
from redis.asyncio import Redis

from router.adapters.redis_board import RedisBoard
from router.domain.board import RouterId
from router.domain.fleet import ReplicaId
from tests.support.tiny_model import tiny_model

_ROOT = Path(__file__).parents[2]
_MODEL = "smollm2"


@dataclass
class FleetProcess:
    environment: Mapping[str, str]
    log: Path
    _process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self, *words: str) -> None:
        """Start it and wait for nothing."""
        environment = {**os.environ, **self.environment, "DRILLYARD_FLEET__METRICS_PORT": "0"}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gateway.cli.main", "fleet", "run", *words],
                cwd=_ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def page(self, path: str) -> str:
        """Empty while it does not answer; it is a fault when it has ended by itself."""
        assert self._process is None or self._process.poll() is None, self.log.read_text()
        ports = [line["port"] for line in self.lines() if line.get("event") == "looking after the fleet"]
        with suppress(httpx.TransportError):
            return httpx.get(f"http://127.0.0.1:{ports[-1]}{path}", trust_env=False).text if ports else ""
        return ""

    @property
    def leads(self) -> bool:
        told = self.page("/livez")
        return bool(told) and json.loads(told)["leads"] is True

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def ask_to_stop(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    def end(self, *, patience_s: float = 20.0) -> tuple[int, str]:
        """Its exit code and what it has printed."""
        assert self._process is not None
        said, _ = self._process.communicate(timeout=patience_s)
        code, self._process = self._process.returncode, None
        return code, said.decode()


def process_pool(folder: Path, **changes: object) -> Mapping[str, object]:
    """Simulated replicas as processes, which a class gets some seconds before its bell."""
    command = (
        sys.executable,
        "-m",
        "loadtests.simulator",
        "serve",
        "--port",
        "{port}",
        "--model",
        str(folder / "model"),
    )
    return {
        "model": _MODEL,
        "seats_per_replica": 4,
        "maximum": 2,
        "lead_s": 10,
        "unmeasured_start_s": 5,
        "safety": 1,
        "spare_starts": 0,
        "alert_s": 1,
        "host": {
            "kind": "processes",
            "command": (*command, "--speed-up", "20", "--load-s", "0.1", "--enable-prompt-tokens-details"),
            "slots": ["0", "1"],
            "folder": str(folder / "replicas"),
            "grace_s": 5,
        },
        **changes,
    }


@contextmanager
def fleet_process(
    folder: Path, *, redis_url: str, database_url: str, pool: Mapping[str, object] | None = None, **settings: str
) -> Iterator[FleetProcess]:
    """One that is not started yet; `settings` are DRILLYARD_ variables without their prefix."""
    model = tiny_model(folder / "model")
    (folder / "pools.yml").write_text(json.dumps({"pools": [pool or process_pool(folder)]}))
    environment = {
        "DRILLYARD_REDIS_URL": redis_url,
        "DRILLYARD_DATABASE_URL": database_url,
        "DRILLYARD_MODEL__NAME": _MODEL,
        "DRILLYARD_MODEL__FOLDER": str(model),
        "DRILLYARD_POOLS_FILE": str(folder / "pools.yml"),
        "DRILLYARD_FLEET__INTERVAL_S": "0.3",
        **{f"DRILLYARD_{name}": value for name, value in settings.items()},
    }
    process = FleetProcess(environment, folder / "fleet.log")
    try:
        yield process
    finally:
        process.kill()


@asynccontextmanager
async def a_router(client: Redis) -> AsyncIterator[RedisBoard]:
    """One that hears orders and carries no turns."""
    board = RedisBoard(client=client, timeout_s=5.0)

    async def hear() -> None:
        while True:
            seen = await board.read()
            await board.report(RouterId("router-1"), dict.fromkeys(seen.drains, 0))
            await asyncio.sleep(0.2)

    hearing = asyncio.create_task(hear())
    try:
        yield board
    finally:
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)


async def joined(board: RedisBoard) -> set[ReplicaId]:
    return {spec.id for spec in (await board.read()).added}
