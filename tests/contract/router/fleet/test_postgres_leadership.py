"""At most one process leads, by a lock of a real Postgres."""

import asyncio
from itertools import pairwise

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.testing import capture_logs

from router.fleet.adapters.postgres_leadership import PostgresLeadership
from tests.support.cut_line import cut_line
from tests.support.engine_process import free_port
from tests.support.eventually import comes_true, eventually
from tests.support.fleet_ledger import leadership
from tests.support.postgres_fixture import libpq_url

pytestmark = pytest.mark.postgres


async def end_lines(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        await connection.execute(
            text("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'drillyard fleet'")
        )


async def test_one_of_two_leads_and_goes_on_leading(database_url: str) -> None:
    async with leadership(database_url, "one") as one, leadership(database_url, "two") as two:
        assert (one.name, one.token) == ("one", None)
        for _ in range(3):
            assert (await one.held(), await two.held()) == (True, False)
        assert two.token is None


async def test_the_other_leads_once_the_first_has_let_go(database_url: str) -> None:
    async with leadership(database_url, "one") as one, leadership(database_url, "two") as two:
        assert await one.held()
        assert not await two.held()
        token = one.token
        await one.close()
        await comes_true(two.held)
        assert not await one.held()
        assert two.token != token


async def test_many_at_once_make_one_leader(database_url: str) -> None:
    leaders = [PostgresLeadership(address=libpq_url(database_url), name=str(number)) for number in range(6)]
    for _ in range(3):
        assert sum(await asyncio.gather(*(each.held() for each in leaders))) == 1
    for each in leaders:
        await each.close()


async def test_who_lost_its_line_says_so_and_leads_anew_by_another_token(
    database_engine: AsyncEngine, database_url: str
) -> None:
    async with leadership(database_url) as leader:
        assert await leader.held()
        token = leader.token
        await end_lines(database_engine)
        assert not await leader.held()
        assert leader.token is None
        assert await leader.held()
        assert leader.token not in (None, token)


async def test_who_does_not_ask_for_too_long_has_lost(database_url: str) -> None:
    async with leadership(database_url, "one", idle_s=0.3) as one, leadership(database_url, "two") as two:
        assert await one.held()
        await comes_true(two.held)
        assert not await one.held()


async def test_asking_beside_the_rounds_keeps_the_lead(database_url: str) -> None:
    async with leadership(database_url, "one", idle_s=1.2) as one, leadership(database_url, "two") as two:
        asking = asyncio.ensure_future(one.run())
        await eventually(lambda: one.token is not None)
        tokens = []
        for _ in range(15):
            await asyncio.sleep(0.1)
            tokens.append(one.token)
            assert not await two.held()
        assert all(a == b is not None for a, b in pairwise(tokens))
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


@pytest.mark.parametrize("address", ["postgresql://u:hush@127.0.0.1:nonsense/x", "hush", "postgresql://u@h/x?hush=1"])
async def test_an_address_that_cannot_be_read_is_not_repeated(address: str) -> None:
    with capture_logs() as logs:
        assert not await PostgresLeadership(address=address, name="one").held()
    assert len(logs) == 1
    assert "hush" not in str(logs)


async def test_a_server_that_is_away_or_silent_makes_no_leader(database_url: str) -> None:
    nowhere = PostgresLeadership(address=f"postgresql://u:hush@127.0.0.1:{free_port()}/none", name="one")
    with capture_logs() as logs:
        assert [await nowhere.held() for _ in range(3)] == [False, False, False]
    assert [entry["event"] for entry in logs] == ["nobody can be asked who leads the fleet"]
    assert "hush" not in str(logs)
    port = int(libpq_url(database_url).rsplit(":", 1)[1].split("/")[0])
    async with cut_line(port) as line:
        ours = libpq_url(database_url).replace(f":{port}/", f":{line.url.rsplit(':', 1)[1]}/")
        leader = PostgresLeadership(address=ours, name="two", patience_s=0.3)
        assert await leader.held()
        line.delay_s = 30.0
        async with asyncio.timeout(5):
            assert not await leader.held()
        await leader.close()
