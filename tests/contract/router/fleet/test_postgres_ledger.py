"""What only the ledger in Postgres can show: who may not write, and a database that cannot be asked."""

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from router.domain.fleet import ReplicaId
from router.fleet.adapters.fence import GATE, LOCKS
from router.fleet.domain.demand import PoolName
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_book import Floor, Round
from router.fleet.domain.replica_record import ordered
from router.fleet.errors import LedgerUnavailable, NotLeading
from sessions.adapters.postgres.engine import postgres_engine
from tests.support.engine_process import free_port
from tests.support.fleet_ledger import leadership, leading_ledger, ledger_of

pytestmark = pytest.mark.postgres

POOL = PoolName("m")
RECORD = ordered(ReplicaId("a"), POOL, now=1_800_000_000.0)
START = PastStart(began=0.0, ended=60.0, went_warm=True)
FLOOR = Floor(replicas=1, until=None, set_by="acct-1")


async def test_who_does_not_lead_writes_nothing_and_may_look(database_engine: AsyncEngine, database_url: str) -> None:
    ledger = ledger_of(database_engine)
    async with leading_ledger(database_engine, database_url) as leading:
        await leading.save(RECORD)
    for write in (
        ledger.save(RECORD),
        ledger.forget(RECORD),
        ledger.tell(POOL, START),
        ledger.show(Round(pool=POOL, at=0.0, leader="x", wanted=0, ready=0, present=0)),
    ):
        with pytest.raises(NotLeading):
            await write
    await ledger.set_floor(POOL, FLOOR)
    book = await ledger.read(POOL)
    assert (dict(book.records), book.starts, book.floor) == ({RECORD.id: RECORD}, (), FLOOR)
    assert await ledger.rounds() == []


async def test_a_leader_whose_line_was_ended_writes_nothing_though_it_believes_to_lead(
    database_engine: AsyncEngine, database_url: str
) -> None:
    async with leadership(database_url) as leader:
        assert await leader.held()
        ledger = ledger_of(database_engine, leader)
        await ledger.save(RECORD)
        async with database_engine.begin() as connection:
            await connection.execute(
                text(
                    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'drillyard fleet'"
                )
            )
        assert leader.token is not None
        with pytest.raises(NotLeading, match="lost its lead"):
            await ledger.forget(RECORD)
        assert (await ledger.read(POOL)).records == {RECORD.id: RECORD}


async def test_nobody_leads_anew_while_a_write_of_the_last_leader_goes_on(
    database_engine: AsyncEngine, database_url: str
) -> None:
    async with leadership(database_url, "old") as old, leadership(database_url, "new") as new:
        assert await old.held()
        async with database_engine.begin() as writing:
            await writing.execute(text(f"select pg_advisory_xact_lock_shared({LOCKS}, {GATE})"))
            await old.close()
            asking = asyncio.ensure_future(new.held())
            await waits_at_the_gate(database_engine)
            assert not asking.done()
        assert await asking


async def waits_at_the_gate(engine: AsyncEngine) -> None:
    looking = text("select count(*) from pg_locks where not granted and classid = :locks and objid = :gate")
    async with asyncio.timeout(5):
        while True:
            async with engine.begin() as connection:
                if await connection.scalar(looking, {"locks": LOCKS, "gate": GATE}):
                    return


async def test_writes_of_one_leader_do_not_wait_for_each_other(database_engine: AsyncEngine, database_url: str) -> None:
    async with leading_ledger(database_engine, database_url) as ledger, database_engine.begin() as writing:
        await writing.execute(text(f"select pg_advisory_xact_lock_shared({LOCKS}, {GATE})"))
        async with asyncio.timeout(5):
            await asyncio.gather(*(ledger.tell(POOL, START) for _ in range(5)))


async def test_a_database_without_tables_says_what_is_to_be_done(empty_database_url: str) -> None:
    engine = postgres_engine(empty_database_url)
    with pytest.raises(LedgerUnavailable, match="drillyard db migrate"):
        await ledger_of(engine).read(POOL)
    await engine.dispose()


async def test_a_database_that_is_away_is_unavailable() -> None:
    engine = postgres_engine(f"postgresql://nobody:secret-word@127.0.0.1:{free_port()}/none")
    with pytest.raises(LedgerUnavailable, match="cannot be asked") as found:
        await ledger_of(engine).read(POOL)
    assert "secret-word" not in str(found.value)
    await engine.dispose()
