"""What happens to records when Postgres dies, hangs, or is asked by tasks that are cancelled."""

import asyncio
import gc
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.adapters.postgres_accounts import PostgresAccounts
from gateway.domain.access import KeyId
from gateway.errors import KeysUnavailable
from gateway.local.free_port import free_port
from gateway.local.postgres_server import PostgresServer, postgres_server
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.postgres.transaction import Transaction
from sessions.domain.session import SessionFilter
from sessions.errors import RecordsUnavailable
from sessions.migrations import upgrade
from tests.support.records_fixture import add_sessions, write_scenarios
from tests.support.records_world import HERE, session, settle, turn

pytestmark = [pytest.mark.postgres]

ANY = SessionFilter()


@contextmanager
def _server(folder: Path, port: int) -> Iterator[PostgresServer]:
    with postgres_server(folder, port=port, fsync=False, keep=True) as server:
        yield server


@asynccontextmanager
async def _records(engine: AsyncEngine) -> AsyncIterator[PostgresRecords]:
    await settle(engine)
    records = PostgresRecords(engine=engine)
    await write_scenarios(records)
    await add_sessions(records, session())
    yield records
    await engine.dispose()


async def _count(records: PostgresRecords) -> int:
    async with records.begin() as work:
        return len((await work.sessions.list(HERE.teacher, ANY, limit=99)).items)


async def _advance(records: PostgresRecords, entered: asyncio.Event, go_on: asyncio.Event) -> None:
    async with records.begin(HERE.tenant) as work:
        await work.turns.add(turn(1))
        entered.set()
        await go_on.wait()
        await work.sessions.advance(replace(session(), version=2, turn_count=1))


async def test_a_killed_postgres_loses_nothing_and_needs_no_restart_of_ours(tmp_path: Path) -> None:
    port = free_port()
    with _server(tmp_path, port) as server:
        upgrade(server.url)
        engine = postgres_engine(server.url, pool_timeout_s=2, connect_timeout_s=2)
        async with _records(engine) as records:
            entered, go_on = asyncio.Event(), asyncio.Event()
            inside = asyncio.create_task(_advance(records, entered, go_on))
            await entered.wait()
            os.kill(server.pid, signal.SIGKILL)
            go_on.set()
            with pytest.raises(RecordsUnavailable):
                await inside
            for _ in range(3):
                with pytest.raises(RecordsUnavailable):
                    await _count(records)
                with pytest.raises(KeysUnavailable):
                    await PostgresAccounts(engine=engine).find(KeyId("k"))
            with _server(tmp_path, port):
                # The first question after the restart is answered: what was written stands, what was not is gone.
                assert await _count(records) == 1
                async with records.begin() as work:
                    assert await work.sessions.get(HERE.teacher, session().id) == session()
                    assert await work.turns.all(session().id) == []


async def test_a_postgres_restarted_between_transactions_is_not_noticed(tmp_path: Path) -> None:
    port = free_port()
    with _server(tmp_path, port) as server:
        upgrade(server.url)
        engine = postgres_engine(server.url)
        async with _records(engine) as records:
            await asyncio.gather(*(_count(records) for _ in range(10)))
            os.kill(server.pid, signal.SIGKILL)
            with _server(tmp_path, port):
                assert await asyncio.gather(*(_count(records) for _ in range(10))) == [1] * 10


async def test_a_postgres_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    with _server(tmp_path, free_port()) as server:
        upgrade(server.url)
        engine = postgres_engine(server.url)
        async with _records(engine):
            family = _family(server.pid)
            records = PostgresRecords(engine=engine, limit_s=0.3)
            keys = PostgresAccounts(engine=engine, limit_s=0.3)
            _signal(family, signal.SIGSTOP)
            try:
                async with asyncio.timeout(30):  # the driver itself takes ten seconds to give up on its connection
                    outcomes = await asyncio.gather(_count(records), keys.find(KeyId("k")), return_exceptions=True)
            finally:
                _signal(family, signal.SIGCONT)
            assert [type(outcome) for outcome in outcomes] == [RecordsUnavailable, KeysUnavailable]
            assert await _count(PostgresRecords(engine=engine)) == 1


async def test_a_time_out_of_the_block_itself_is_left_alone(database_url: str) -> None:
    engine = postgres_engine(database_url)
    with pytest.raises(TimeoutError):
        async with PostgresRecords(engine=engine).begin():
            raise TimeoutError
    await engine.dispose()


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, number)


async def test_a_postgres_that_never_was_is_told_in_our_words() -> None:
    engine = postgres_engine("postgresql://nobody:nothing@127.0.0.1:1/nowhere")
    with pytest.raises(RecordsUnavailable, match="cannot be asked"):
        await _count(PostgresRecords(engine=engine))
    await engine.dispose()


async def test_a_database_without_tables_says_what_to_do(empty_database_url: str) -> None:
    engine = postgres_engine(empty_database_url)
    with pytest.raises(RecordsUnavailable, match="drillyard db migrate"):
        await _count(PostgresRecords(engine=engine))
    await engine.dispose()


async def test_a_full_pool_is_told_in_our_words(database_url: str) -> None:
    engine = postgres_engine(database_url, pool_size=1, pool_timeout_s=0.2)
    records = PostgresRecords(engine=engine)
    async with records.begin():
        with pytest.raises(RecordsUnavailable, match="in use"):
            await _count(records)
    assert await _count(records) == 0
    await engine.dispose()


async def test_a_statement_that_takes_too_long_is_ended(database_url: str) -> None:
    engine = postgres_engine(database_url, statement_timeout_s=0.2)
    with pytest.raises(RecordsUnavailable, match="timeout"):
        async with engine.connect() as connection:
            await Transaction(connection).all(text("select pg_sleep(30)"))
    await engine.dispose()


async def test_a_row_that_stays_locked_is_not_waited_for(database_url: str) -> None:
    engine = postgres_engine(database_url, lock_timeout_s=0.2)
    async with _records(engine) as records, records.begin() as work:
        await work.sessions.advance(replace(session(), version=2, turn_count=1))
        with pytest.raises(RecordsUnavailable, match="lock timeout"):
            async with records.begin() as other:
                await other.sessions.advance(replace(session(), version=2, turn_count=1))


# The driver's cancelled generators are collected with a complaint of Python's ("generator already executing"), which is
# harmless; collecting them here keeps it out of other tests.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <generator object:pytest.PytestUnraisableExceptionWarning")
async def test_tasks_cancelled_while_they_ask_leave_no_connection_behind(database_url: str) -> None:
    engine = postgres_engine(database_url, pool_size=10)
    async with _records(engine) as records:

        async def ask(slowly: bool) -> None:
            async with engine.begin() as connection:
                await Transaction(connection).all(text("select pg_sleep(:s)").bindparams(s=5 if slowly else 0.01))

        for moment in range(4):
            tasks = [asyncio.create_task(ask(number % 2 == 0)) for number in range(50)]
            await asyncio.sleep(0.05 * moment)
            for task in tasks:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)]
            # The traceback of a connection that was cut while it opened keeps its socket; until that is collected the
            # server waits for the password, and creates and drops no database meanwhile.
            del outcomes, tasks, task
            gc.collect()
        assert engine.pool.checkedout() == 0  # type: ignore[attr-defined]
        assert await asyncio.gather(*(_count(records) for _ in range(20))) == [1] * 20
        async with engine.connect() as connection:
            busy = await connection.execute(
                text(
                    "select count(*) from pg_stat_activity where datname = current_database()"
                    " and state <> 'idle' and pid <> pg_backend_pid()"
                )
            )
            assert busy.scalar_one() == 0
