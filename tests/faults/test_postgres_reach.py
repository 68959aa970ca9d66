"""A Postgres that hangs, is gone or comes back: how soon that is known, and what becomes of who waits for it."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.local.free_port import free_port
from gateway.local.postgres_server import postgres_server
from gateway.wiring.background import background
from sessions.adapters.postgres.engine import asking_engine, postgres_engine
from sessions.adapters.postgres.reach import PostgresReach
from sessions.adapters.postgres.transaction import begun
from sessions.errors import RecordsUnavailable
from tests.support.eventually import eventually
from tests.support.frozen import frozen

pytestmark = [pytest.mark.postgres]

PATIENCE_S = 1.0


@dataclass
class Watched:
    engine: AsyncEngine
    reach: PostgresReach

    async def ask(self, seconds: float = 0.0) -> None:
        async with begun(self.engine) as transaction:
            await transaction.all(text(f"select pg_sleep({seconds})"))

    async def refusal_s(self) -> float:
        """How long somebody waits to hear that it is away."""
        began = time.monotonic()
        with pytest.raises(RecordsUnavailable):
            await self.ask()
        return time.monotonic() - began


@asynccontextmanager
async def watched(url: str) -> AsyncIterator[Watched]:
    engine, asking = postgres_engine(url), asking_engine(url)
    reach = PostgresReach(engine=engine, asking=asking, patience_s=PATIENCE_S)
    assert await reach.ask() is None
    try:
        async with background(reach.run()):
            yield Watched(engine, reach)
    finally:
        await engine.dispose()
        await asking.dispose()


async def test_whoever_waits_for_a_hung_postgres_hears_of_it_and_the_next_do_not_wait(tmp_path: Path) -> None:
    with postgres_server(tmp_path, fsync=False) as server:
        async with watched(server.url) as house:
            await asyncio.gather(*(house.ask(0.2) for _ in range(20)))  # every line of the pool is open now
            with frozen(server.pid):
                first = await asyncio.gather(*(house.refusal_s() for _ in range(30)))
                assert max(first) < PATIENCE_S + 1.5
                assert house.reach.is_away
                assert max(await asyncio.gather(*(house.refusal_s() for _ in range(30)))) < 0.2
            await eventually(lambda: not house.reach.is_away)
            await asyncio.gather(*(house.ask() for _ in range(10)))
            assert house.reach.outages == 1


async def test_a_killed_postgres_is_away_at_once_and_back_by_itself(tmp_path: Path) -> None:
    port = free_port()
    with postgres_server(tmp_path, port=port, fsync=False, keep=True) as server:
        async with watched(server.url) as house:
            await house.ask()
            os.kill(server.pid, signal.SIGKILL)
            began = time.monotonic()
            await eventually(lambda: house.reach.is_away)
            assert time.monotonic() - began < 1.0
            assert await house.refusal_s() < 0.2
            with postgres_server(tmp_path, port=port, fsync=False):
                await eventually(lambda: not house.reach.is_away)
                await house.ask()


async def test_a_long_statement_is_no_reason_to_give_postgres_up(database_url: str) -> None:
    async with watched(database_url) as house:
        await house.ask(2.5 * PATIENCE_S)
        assert house.reach.outages == 0


async def test_every_connection_in_use_is_no_reason_to_give_postgres_up(database_url: str) -> None:
    async with watched(database_url) as house:
        await asyncio.gather(*(house.ask(1.5 * PATIENCE_S) for _ in range(25)))
        assert house.reach.outages == 0
