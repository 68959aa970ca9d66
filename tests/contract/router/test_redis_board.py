"""What only the board in Redis can show: outages and contents that are not ours."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.local.redis_server import redis_server
from router.adapters.redis_board import RedisBoard
from router.domain.board import RouterId
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.errors import BoardUnavailable
from tests.support.redis_fixture import redis_client_of

pytestmark = pytest.mark.redis


async def test_two_processes_see_one_board(redis_client: Redis) -> None:
    one, two = RedisBoard(client=redis_client), RedisBoard(client=redis_client)
    await one.drain(ReplicaId("a"), within_s=9)
    await one.report(RouterId("one"), {ReplicaId("a"): 2})
    assert (await two.read()).drains == (await one.read()).drains
    assert (await two.read()).routers == (await one.read()).routers


@pytest.mark.parametrize(
    ("key", "field", "value"),
    [
        ("dy:board:added", "a", "{}"),
        ("dy:board:added", "a", "no JSON"),
        ("dy:board:added", "a", '{"url": "u", "models": [1]}'),
        ("dy:board:drains", "a", "1"),
        ("dy:board:drains", "a", "1 2 3"),
        ("dy:board:routers", "r", "9999999999 []"),
        ("dy:board:routers", "r", '9999999999 {"a": "1"}'),
    ],
)
async def test_contents_that_are_not_ours_are_an_error_in_our_words(
    redis_client: Redis, key: str, field: str, value: str
) -> None:
    await redis_client.hset(key, field, value)
    with pytest.raises(BoardUnavailable):
        await RedisBoard(client=redis_client).read()


async def test_a_lost_redis_is_unavailable(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        board = RedisBoard(client=client)
        await board.read()
    for call in (board.read(), board.add(ReplicaSpec(ReplicaId("a"), "http://a")), board.remove(ReplicaId("a"))):
        with pytest.raises(BoardUnavailable):
            await call
    await client.aclose()
