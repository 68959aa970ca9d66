"""Leaders of the fleet that are killed or stand still, and a Postgres that is killed: another leads, nobody twice."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.local.postgres_server import postgres_server
from gateway.local.redis_server import RedisServer
from router.fleet.adapters.postgres_ledger import PostgresLedger
from router.fleet.adapters.processes.process_host import ProcessHost
from router.fleet.domain.demand import PoolName
from router.fleet.domain.pool_book import Floor
from router.fleet.settings import ProcessHostSettings
from sessions.migrations import upgrade
from tests.support.eventually import comes_true
from tests.support.fleet_ledger import leadership, ledger_of
from tests.support.fleet_process import FleetProcess, fleet_process, process_pool
from tests.support.frozen import frozen

pytestmark = [pytest.mark.redis, pytest.mark.postgres]

POOL = PoolName("smollm2")
IDLE_S = 2


def sleeping_pool(folder: Path) -> dict[str, object]:
    """Its replicas only run, and never answer."""
    host = {
        "kind": "processes",
        "command": ["sleep", "600"],
        "slots": ["0", "1", "2"],
        "folder": str(folder / "replicas"),
        "grace_s": 2,
    }
    return dict(process_pool(folder, minimum=1, maximum=3, unmeasured_start_s=600, host=host))


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[ProcessHost]:
    found = ProcessHost(settings=ProcessHostSettings.model_validate(sleeping_pool(tmp_path)["host"]))
    yield found
    for replica in await found.list():
        await found.stop(replica.id, among=0)

    async def empty() -> bool:
        return not await found.list()

    await comes_true(empty)


@pytest.fixture
def two(tmp_path: Path, running_redis: RedisServer, database_url: str) -> Iterator[tuple[FleetProcess, FleetProcess]]:
    """Two processes of one fleet, not started yet."""
    with ExitStack() as stack:
        found = [
            stack.enter_context(
                fleet_process(
                    tmp_path,
                    redis_url=running_redis.url,
                    database_url=database_url,
                    pool=sleeping_pool(tmp_path),
                    FLEET__LEADER_IDLE_S=str(IDLE_S),
                )
            )
            for _ in range(2)
        ]
        found[1].log = tmp_path / "second.log"
        yield found[0], found[1]


async def test_one_leads_and_another_takes_over_from_the_killed_and_the_frozen(
    two: tuple[FleetProcess, FleetProcess], host: ProcessHost, database_engine: AsyncEngine
) -> None:
    ledger = ledger_of(database_engine)
    for process in two:
        process.start()
    first, second = await led(two)

    first.kill()
    await comes_true(lambda: leads(second), within_s=IDLE_S + 5)
    first.start()

    # A frozen leader believes to lead when it wakes; meanwhile two replicas more are wanted.
    await comes_true(lambda: answers(first))
    with frozen(second.pid):
        await comes_true(lambda: leads(first), within_s=IDLE_S + 8)
        await ledger.set_floor(POOL, Floor(replicas=3, until=None, set_by="acct-1"))

        async def three() -> bool:
            return len(await host.list()) == 3

        await comes_true(three)
    await comes_true(lambda: has_lost(second))
    hosted = {replica.id for replica in await host.list()}
    assert len(hosted) == 3
    assert set((await ledger.book(POOL)).records) == hosted
    assert await leader_of(ledger) == f"{os.uname().nodename}/{first.pid}"
    assert not await leads(second)


async def led(two: tuple[FleetProcess, FleetProcess]) -> tuple[FleetProcess, FleetProcess]:
    """The one that leads, and the one that waits."""

    async def one() -> bool:
        return sum([await leads(process) for process in two]) == 1

    await comes_true(one)
    first, second = two
    return (first, second) if await leads(first) else (second, first)


async def leads(process: FleetProcess) -> bool:
    return await asyncio.to_thread(lambda: process.leads)


async def answers(process: FleetProcess) -> bool:
    return bool(await asyncio.to_thread(process.page, "/livez"))


async def has_lost(process: FleetProcess) -> bool:
    return any(line["event"] == "this process no longer leads the fleet" for line in process.lines())


async def leader_of(ledger: PostgresLedger) -> str:
    (shown,) = await ledger.rounds()
    return shown.leader


async def test_a_lead_goes_with_the_server_and_comes_back_with_it(tmp_path: Path) -> None:
    with ExitStack() as stack:
        server = stack.enter_context(postgres_server(tmp_path / "cluster", fsync=False, keep=True))
        upgrade(server.url)
        async with leadership(server.url) as leader:
            assert await leader.held()
            token = leader.token
            os.kill(server.pid, signal.SIGQUIT)

            async def lost() -> bool:
                return not await leader.held()

            await comes_true(lost)
            assert leader.token is None
            port = int(server.url.rpartition(":")[2].partition("/")[0])
            stack.enter_context(postgres_server(tmp_path / "cluster", fsync=False, port=port))
            await comes_true(leader.held)
            assert leader.token not in (None, token)
