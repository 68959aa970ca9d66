"""What stream tickets promise, on a dictionary and on Redis."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from gateway.access_ports import Tickets
from gateway.adapters.memory_tickets import MemoryTickets
from gateway.adapters.redis_tickets import RedisTickets
from gateway.domain.tickets import Grant
from gateway.errors import TicketsUnavailable
from tests.support.redis_fixture import redis_client_of

GRANT = Grant(uuid4(), uuid4(), uuid4(), 3)


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.redis)])
async def tickets(request: pytest.FixtureRequest) -> AsyncIterator[Tickets]:
    if request.param == "memory":
        yield MemoryTickets(clock=asyncio.get_running_loop().time)
        return
    client = redis_client_of(request.getfixturevalue("empty_redis").url)
    yield RedisTickets(client=client)
    await client.aclose()


async def test_a_ticket_is_redeemed_once(tickets: Tickets) -> None:
    await tickets.give(GRANT, "a", for_s=30)
    assert await tickets.redeem("b") is None
    assert await tickets.redeem("a") == GRANT
    assert await tickets.redeem("a") is None


async def test_of_many_who_show_the_same_ticket_one_is_let_in(tickets: Tickets) -> None:
    await tickets.give(GRANT, "a", for_s=30)
    found = await asyncio.gather(*(tickets.redeem("a") for _ in range(20)))
    assert [one for one in found if one is not None] == [GRANT]


async def test_a_ticket_is_over_soon(tickets: Tickets) -> None:
    await tickets.give(GRANT, "late", for_s=0.02)
    await asyncio.sleep(0.05)
    assert await tickets.redeem("late") is None


@pytest.mark.redis
async def test_who_reads_the_store_finds_no_ticket(redis_client: Redis) -> None:
    await RedisTickets(client=redis_client).give(GRANT, "the-secret-ticket", for_s=30)
    (key,) = await redis_client.keys("dy:ticket:*")
    assert "the-secret-ticket" not in f"{key!r} {await redis_client.get(key)!r}"
    assert 0 < await redis_client.pttl(key) <= 30_000


async def test_without_redis_nobody_can_tell() -> None:
    client = redis_client_of("redis://127.0.0.1:1/0")
    tickets = RedisTickets(client=client)
    with pytest.raises(TicketsUnavailable):
        await tickets.give(GRANT, "a", for_s=30)
    with pytest.raises(TicketsUnavailable):
        await tickets.redeem("a")
    await client.aclose()
