"""The whole process that looks after the fleet, before real Redis and Postgres, with simulated replicas."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.local.redis_server import RedisServer
from gateway.wiring.fleet_control import new_id
from router.adapters.redis_board import RedisBoard
from router.domain.replica_spec import checked_spec
from router.fleet.adapters.postgres_ledger import PostgresLedger
from router.fleet.adapters.processes.process_host import ProcessHost
from router.fleet.domain.demand import PoolName
from router.fleet.settings import ProcessHostSettings
from sessions.adapters.postgres.drills import PostgresDrills
from sessions.adapters.postgres.records import PostgresRecords
from tests.integration.cli.conftest import Command
from tests.support.drill_world import drill
from tests.support.engine_process import free_port
from tests.support.eventually import comes_true
from tests.support.fleet_ledger import ledger_of
from tests.support.fleet_process import FleetProcess, a_router, fleet_process, joined, process_pool
from tests.support.loopback_server import a_server_that
from tests.support.records_fixture import write_scenarios
from tests.support.records_world import settle

pytestmark = [pytest.mark.redis, pytest.mark.postgres]

POOL = PoolName("smollm2")


class World:
    def __init__(self, *, engine: AsyncEngine, redis: Redis, board: RedisBoard, folder: Path) -> None:
        self.engine = engine
        self.redis = redis
        self.board = board
        self.ledger: PostgresLedger = ledger_of(engine)
        host = process_pool(folder)["host"]
        self.host = ProcessHost(settings=ProcessHostSettings.model_validate(host))

    async def class_in(self, seconds: float, *, lasts_s: float) -> float:
        """Book one; the moment of its bell."""
        begins = datetime.now(UTC) + timedelta(seconds=seconds)
        await PostgresDrills(engine=self.engine).add(
            drill(
                starts_at=begins,
                ends_at=begins + timedelta(seconds=lasts_s),
                expected_trainees=4,
                seats=4,
                walk_ins=0,
            )
        )
        return begins.timestamp()

    async def clear(self) -> None:
        for replica in await self.host.list():
            await self.host.stop(replica.id, among=0)
        await comes_true(self._is_empty)

    async def _is_empty(self) -> bool:
        return not await self.host.list()


@pytest.fixture
async def world(database_engine: AsyncEngine, redis_client: Redis, tmp_path: Path) -> AsyncIterator[World]:
    await settle(database_engine)
    await write_scenarios(PostgresRecords(engine=database_engine))
    async with a_router(redis_client) as board:
        found = World(engine=database_engine, redis=redis_client, board=board, folder=tmp_path)
        yield found
        await found.clear()


@pytest.fixture
def fleet(tmp_path: Path, running_redis: RedisServer, database_url: str) -> Iterator[FleetProcess]:
    with fleet_process(tmp_path, redis_url=running_redis.url, database_url=database_url) as process:
        yield process


async def test_a_class_finds_its_replica_whatever_happens_on_the_way(world: World, fleet: FleetProcess) -> None:
    """The controller is killed while the replica starts, and Redis is emptied once it serves."""
    bell = await world.class_in(14, lasts_s=2)
    fleet.start()
    await comes_true(lambda: _listed(world))
    fleet.kill()
    (started,) = await world.host.list()

    fleet.start()
    await comes_true(lambda: joined(world.board))
    assert time.time() < bell
    await comes_true(_metrics_say(fleet, 'drillyard_fleet_ready{pool="smollm2"} 1.0'))
    assert await joined(world.board) == {started.id}
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"{started.url}/health")).is_success

    await world.redis.flushall()
    await comes_true(lambda: joined(world.board))

    async def gone() -> bool:
        return not (await world.ledger.book(POOL)).records

    await comes_true(gone)
    assert time.time() > bell + 2
    assert await joined(world.board) == set()
    assert (await world.board.read()).removed == frozenset()
    assert await world.host.list() == []
    book = await world.ledger.book(POOL)
    assert [start.went_warm for start in book.starts] == [True]
    fleet.ask_to_stop()
    assert await asyncio.to_thread(fleet.end) == (0, "")


async def _listed(world: World) -> bool:
    return bool(await world.host.list())


@pytest.mark.usefixtures("world")
async def test_one_round_can_be_taken_to_look(
    tmp_path: Path, running_redis: RedisServer, database_url: str, database_engine: AsyncEngine
) -> None:
    """Of a pool on a dry run: what would be done is printed, and nothing is."""
    dry = process_pool(tmp_path, minimum=1, dry_run=True)
    with fleet_process(tmp_path, redis_url=running_redis.url, database_url=database_url, pool=dry) as fleet:
        fleet.start("--once", "--json")
        code, said = await asyncio.to_thread(fleet.end)
    (told,) = json.loads(said)
    assert (code, told["pool"], told["leads"], told["wanted"], told["troubles"]) == (0, POOL, True, 1, [])
    assert [deed["what"] for deed in told["deeds"]] == ["start"]
    assert not (tmp_path / "replicas").exists() or not list((tmp_path / "replicas").glob("*.log"))
    assert (await ledger_of(database_engine).book(POOL)).records == {}


async def test_missing_replicas_are_told_to_the_webhook_whose_address_stays_secret(
    world: World, tmp_path: Path, running_redis: RedisServer, database_url: str
) -> None:
    """Its replicas run and never answer."""
    heard: list[bytes] = []

    async def webhook(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        heard.append(await reader.readuntil(b"}"))
        writer.write(b"HTTP/1.1 204 X\r\nconnection: close\r\n\r\n")
        await writer.drain()

    host = {"kind": "processes", "command": ["sleep", "60"], "slots": ["0"], "folder": str(tmp_path / "replicas")}
    mute = process_pool(tmp_path, maximum=1, alert_s=600, host=host)
    await world.class_in(60, lasts_s=60)
    async with a_server_that(webhook) as server:
        with fleet_process(
            tmp_path,
            redis_url=running_redis.url,
            database_url=database_url,
            pool=mute,
            FLEET__ALERT_WEBHOOK=f"{server.url}/hush",
        ) as fleet:
            fleet.start()
            await comes_true(_metrics_say(fleet, 'drillyard_fleet_short{pool="smollm2"} 1.0'))
            fleet.ask_to_stop()
            await asyncio.to_thread(fleet.end)
    (told,) = [json.loads(body) for body in heard]
    assert (told["event"], told["ready"], told["needed"]) == ("pool_short", 0, 1)
    assert "replicas are missing" in fleet.log.read_text()
    assert "hush" not in fleet.log.read_text()


@pytest.mark.parametrize(
    ("model", "begins"),
    [("Qwen/Qwen2.5-7B-Instruct", "qwen-qwen2-5-7b-instruct-"), ("模型", "replica-"), ("x" * 300, "x" * 40 + "-")],
)
def test_replicas_have_names_that_every_host_takes(model: str, begins: str) -> None:
    names = {new_id(PoolName(model)) for _ in range(20)}
    assert len(names) == 20
    assert all(name.startswith(begins) and checked_spec(name, "http://a").id == name for name in names)


async def test_a_process_without_postgres_and_redis_says_so_and_goes_on(tmp_path: Path) -> None:
    url = f"127.0.0.1:{free_port()}"
    with fleet_process(tmp_path, redis_url=f"redis://{url}", database_url=f"postgresql://u:hush@{url}/x") as fleet:
        fleet.start()
        await comes_true(_metrics_say(fleet, "drillyard_fleet_leading 0.0"))
        assert not fleet.leads
        fleet.ask_to_stop()
        assert (await asyncio.to_thread(fleet.end))[0] == 0
    assert "hush" not in fleet.log.read_text()


def _metrics_say(fleet: FleetProcess, line: str) -> Callable[[], Awaitable[bool]]:
    async def say() -> bool:
        return line in (await asyncio.to_thread(fleet.page, "/metrics")).splitlines()

    return say


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("DRILLYARD_REDIS_URL", "redis://127.0.0.1:1")
    monkeypatch.setenv("DRILLYARD_DATABASE_URL", "postgresql://127.0.0.1:1/none")
    monkeypatch.setenv("DRILLYARD_MODEL__NAME", "smollm2")
    monkeypatch.setenv("DRILLYARD_MODEL__FOLDER", str(tmp_path / "none"))
    return monkeypatch


def test_without_a_pool_it_says_where_to_name_one(drillyard: Command, told: pytest.MonkeyPatch) -> None:
    told.delenv("DRILLYARD_POOLS_FILE", raising=False)
    ended = drillyard("fleet", "run")
    assert (ended.code, "DRILLYARD_POOLS_FILE" in ended.err) == (1, True)


def test_pools_that_nobody_hosts_are_refused(drillyard: Command, told: pytest.MonkeyPatch) -> None:
    told.setenv("DRILLYARD_FLEET__POOLS", '[{"model": "smollm2", "seats_per_replica": 4, "maximum": 2}]')
    ended = drillyard("fleet", "run", "--once")
    assert (ended.code, "no pool has a host (smollm2)" in ended.err) == (1, True)


def test_a_file_of_pools_that_cannot_work_is_refused_with_its_line(
    drillyard: Command, told: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pools.yml").write_text("pools:\n  - model: smollm2\n    maximum: many\n")
    told.setenv("DRILLYARD_POOLS_FILE", str(tmp_path / "pools.yml"))
    ended = drillyard("fleet", "run")
    assert (ended.code, "pools.yml, line 3: pools[0].maximum" in ended.err) == (1, True)


def test_help_shows_an_example(drillyard: Command) -> None:
    shown = drillyard("fleet", "run", "--help")
    assert (shown.code, "DRILLYARD_POOLS_FILE" in shown.out) == (0, True)
