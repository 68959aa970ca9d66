"""What working sets promise, in one process and on Redis."""

import asyncio
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.local.redis_server import redis_server
from sessions.adapters.memory_working_sets import MemoryWorkingSets
from sessions.adapters.redis_working_sets import RedisWorkingSets
from sessions.adapters.stored_history import packed
from sessions.domain.history import History, history, with_turn
from sessions.domain.session import Session
from sessions.ports import WorkingSets
from tests.support.records_world import note, session, turn
from tests.support.redis_fixture import redis_client_of

HISTORY = history([note(1, to_turn=2)], [turn(number) for number in range(1, 6)])
KEY = f"dy:set:{session().id}"


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.redis)])
def sets(request: pytest.FixtureRequest) -> WorkingSets:
    if request.param == "memory":
        return MemoryWorkingSets()
    return on_redis(request.getfixturevalue("redis_client"))


@pytest.fixture
def redis_sets(redis_client: Redis) -> RedisWorkingSets:
    return on_redis(redis_client)


def on_redis(client: Redis, *, timeout_s: float = 5.0) -> RedisWorkingSets:
    return RedisWorkingSets(client=client, ttl_s=60, timeout_s=timeout_s)


def at(version: int, notes: int = 0) -> Session:
    return replace(session(), version=version, note_count=notes)


async def test_what_was_kept_comes_back_for_that_very_row(sets: WorkingSets) -> None:
    await sets.put(at(5, 1), HISTORY)
    assert await sets.get(at(5, 1)) == HISTORY


@pytest.mark.parametrize("other", [at(4, 1), at(6, 1), at(5, 0), at(5, 2)])
async def test_for_another_row_there_is_nothing(sets: WorkingSets, other: Session) -> None:
    await sets.put(at(5, 1), HISTORY)
    assert await sets.get(other) is None


async def test_the_latest_is_known_without_the_row(sets: WorkingSets) -> None:
    assert await sets.latest(session().id) is None
    await sets.put(at(5, 1), HISTORY)
    await sets.put(at(4, 1), History())
    assert await sets.latest(session().id) == (at(5, 1), HISTORY)
    await sets.drop(session().id)
    assert await sets.latest(session().id) is None


async def test_an_empty_store_has_nothing(sets: WorkingSets) -> None:
    assert await sets.get(at(1)) is None


@pytest.mark.parametrize("older", [at(4, 1), at(5, 0), at(4, 2)])
async def test_an_older_one_never_replaces_a_newer_one(sets: WorkingSets, older: Session) -> None:
    await sets.put(at(5, 1), HISTORY)
    await sets.put(older, History())
    assert await sets.get(at(5, 1)) == HISTORY
    assert await sets.get(older) is None


@pytest.mark.parametrize("newer", [at(6, 1), at(5, 2), at(6, 0), at(5, 1), at(10, 1)])
async def test_a_newer_one_and_one_of_the_same_row_replace(sets: WorkingSets, newer: Session) -> None:
    await sets.put(at(5, 1), History())
    await sets.put(newer, HISTORY)
    assert await sets.get(newer) == HISTORY


async def test_sessions_do_not_share(sets: WorkingSets) -> None:
    other = replace(at(5, 1), id=session("other").id)
    await sets.put(at(5, 1), HISTORY)
    assert await sets.get(other) is None
    await sets.drop(other.id)
    assert await sets.get(at(5, 1)) == HISTORY


async def test_what_is_dropped_is_gone_and_can_come_back(sets: WorkingSets) -> None:
    await sets.put(at(5, 1), HISTORY)
    await sets.drop(session().id)
    assert await sets.get(at(5, 1)) is None
    await sets.put(at(1), History())
    assert await sets.get(at(1)) == History()


async def test_of_many_writers_at_once_the_newest_stays(sets: WorkingSets) -> None:
    grown = [HISTORY]
    for number in range(6, 26):
        grown.append(with_turn(grown[-1], turn(number)))
    rows = [at(version, 1) for version in range(5, 5 + len(grown))]
    pairs = list(zip(rows, grown, strict=True))
    await asyncio.gather(*(sets.put(row, kept) for row, kept in reversed(pairs)), *(sets.put(*pair) for pair in pairs))
    assert await sets.get(rows[-1]) == grown[-1]


@pytest.mark.redis
async def test_hits_and_misses_are_counted(redis_sets: RedisWorkingSets) -> None:
    await redis_sets.put(at(5, 1), HISTORY)
    for row in (at(5, 1), at(5, 1), at(6, 1)):
        await redis_sets.get(row)
    assert (redis_sets.hits, redis_sets.misses, redis_sets.failures) == (2, 1, 0)


@pytest.mark.redis
async def test_they_expire(redis_sets: RedisWorkingSets, redis_client: Redis) -> None:
    await redis_sets.put(at(5, 1), HISTORY)
    assert 50_000 < await redis_client.pttl(KEY) <= 60_000


@pytest.mark.redis
@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xff", b"\x93\x01", packed(session("other").id, HISTORY), b"\x91" * 5000],
    ids=["empty", "noise", "cut", "foreign", "deep"],
)
async def test_what_cannot_be_read_is_as_if_it_were_not_there(
    redis_sets: RedisWorkingSets, redis_client: Redis, data: bytes
) -> None:
    await redis_sets.put(at(5, 1), HISTORY)
    for field in ("history", "session"):
        await redis_sets.put(at(5, 1), HISTORY)
        await redis_client.hset(KEY, field, data)
        assert await redis_sets.latest(session().id) is None
        assert (await redis_sets.get(at(5, 1)) is None) is (field == "history")
    await redis_sets.put(at(5, 1), HISTORY)
    assert await redis_sets.get(at(5, 1)) == HISTORY


@pytest.mark.redis
async def test_a_key_of_another_kind_is_replaced(redis_sets: RedisWorkingSets, redis_client: Redis) -> None:
    await redis_client.set(KEY, "somebody else's")
    assert await redis_sets.get(at(5, 1)) is None
    await redis_sets.put(at(5, 1), HISTORY)
    assert await redis_sets.get(at(5, 1)) == HISTORY


@pytest.mark.redis
async def test_what_is_too_large_is_not_kept(redis_sets: RedisWorkingSets, redis_client: Redis) -> None:
    await redis_sets.put(at(5), history([], [replace(turn(1), reply="x" * (1 << 20))]))
    assert not await redis_client.exists(KEY)


@pytest.mark.redis
async def test_a_redis_that_is_away_is_counted_and_nobody_waits_for_it(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        sets = on_redis(client)
        await sets.put(at(5, 1), HISTORY)
        sets = on_redis(client, timeout_s=0.1)
        os.kill(server.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            assert await sets.get(at(5, 1)) is None
            await sets.put(at(6, 1), HISTORY)
            await sets.drop(session().id)
            assert await sets.latest(session().id) is None
            assert time.monotonic() - began < 5
        finally:
            os.kill(server.pid, signal.SIGCONT)
        assert (sets.hits, sets.misses, sets.failures) == (0, 1, 4)
        sets = on_redis(client)
        await sets.put(at(7, 1), HISTORY)
        assert await sets.get(at(7, 1)) == HISTORY
    assert await sets.get(at(7, 1)) is None
    assert sets.failures == 1
    await client.aclose()
