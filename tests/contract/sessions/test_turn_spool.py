"""What a spool promises: in one process, in a file, in Redis, and where one stands in for another."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from redis.asyncio import Redis

from sessions.adapters.local_turn_spool import LocalTurnSpool
from sessions.adapters.redis_turn_spool import RedisTurnSpool
from sessions.adapters.second_turn_spool import SecondTurnSpool
from sessions.adapters.spool_file import SpoolFile
from sessions.adapters.stored_spooled import packed
from sessions.domain.session import Session, SessionId
from sessions.domain.spooled import SpooledTurn
from sessions.errors import RecordsUnavailable, SessionMoved
from sessions.spool_ports import TurnSpool
from tests.support.records_world import session, turn

MOST = 5


def spooled(number: int, *, of: Session | None = None) -> SpooledTurn:
    before = of or session()
    return SpooledTurn(
        replace(before, version=number, turn_count=number - 1), turn(number, of=before, key=f"k{number}")
    )


def on_redis(client: Redis, *, most_bytes: int = 1 << 20) -> RedisTurnSpool:
    return RedisTurnSpool(client=client, most_turns=MOST, most_bytes=most_bytes, timeout_s=5)


@pytest.fixture(params=["memory", "file", "second", pytest.param("redis", marks=pytest.mark.redis)])
def spool(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TurnSpool]:
    match request.param:
        case "memory":
            yield LocalTurnSpool(most_turns=MOST, most_bytes=1 << 20)
        case "file":
            file = SpoolFile(folder=tmp_path, name="own")
            yield LocalTurnSpool(most_turns=MOST, most_bytes=1 << 20, file=file)
            file.close()
        case "second":
            full = LocalTurnSpool(most_turns=0, most_bytes=0)
            yield SecondTurnSpool(full, LocalTurnSpool(most_turns=MOST, most_bytes=1 << 20))
        case _:
            yield on_redis(request.getfixturevalue("redis_client"))


async def test_what_waits_comes_back_by_number(spool: TurnSpool) -> None:
    for number in (2, 1, 3):
        await spool.put(spooled(number))
    assert list(await spool.of(session().id)) == [spooled(number) for number in (1, 2, 3)]
    assert list(await spool.waiting(limit=9)) == [session().id]


async def test_a_turn_that_is_put_again_waits_once(spool: TurnSpool) -> None:
    await spool.put(spooled(1))
    await spool.put(spooled(1))
    assert list(await spool.of(session().id)) == [spooled(1)]


async def test_another_turn_of_the_same_number_is_refused(spool: TurnSpool) -> None:
    await spool.put(spooled(1))
    with pytest.raises(SessionMoved):
        await spool.put(replace(spooled(1), turn=replace(turn(1), text="another")))
    assert list(await spool.of(session().id)) == [spooled(1)]


async def test_a_full_spool_refuses_until_something_has_left(spool: TurnSpool) -> None:
    others = [session(f"other-{number}") for number in range(MOST)]
    for each in others:
        await spool.put(spooled(1, of=each))
    with pytest.raises(RecordsUnavailable):
        await spool.put(spooled(1))
    assert len(await spool.waiting(limit=99)) == MOST
    assert len(await spool.waiting(limit=2)) == 2
    await spool.remove(spooled(1, of=others[0]))
    await spool.put(spooled(1))


async def test_what_was_removed_or_set_aside_waits_no_longer(spool: TurnSpool) -> None:
    for number in (1, 2, 3):
        await spool.put(spooled(number))
    await spool.remove(spooled(1))
    await spool.remove(spooled(1))
    await spool.set_aside(spooled(2))
    assert list(await spool.of(session().id)) == [spooled(3)]
    await spool.remove(spooled(3))
    assert list(await spool.waiting(limit=9)) == []
    assert list(await spool.of(session().id)) == []


async def test_sessions_do_not_share(spool: TurnSpool) -> None:
    await spool.put(spooled(1))
    await spool.put(spooled(1, of=session("other")))
    await spool.remove(spooled(1))
    assert list(await spool.waiting(limit=9)) == [session("other").id]


@pytest.mark.redis
async def test_bytes_are_bounded_in_redis(redis_client: Redis) -> None:
    spool = on_redis(redis_client, most_bytes=len(packed(spooled(1))))
    await spool.put(spooled(1))
    with pytest.raises(RecordsUnavailable):
        await spool.put(spooled(2))


async def test_bytes_are_bounded_in_memory() -> None:
    spool = LocalTurnSpool(most_turns=9, most_bytes=len(packed(spooled(1))))
    await spool.put(spooled(1))
    with pytest.raises(RecordsUnavailable):
        await spool.put(spooled(2))


@pytest.mark.redis
async def test_one_process_at_a_time_is_told_what_waits(redis_client: Redis) -> None:
    one, other = on_redis(redis_client), on_redis(redis_client)
    await one.put(spooled(1))
    assert list(await other.waiting(limit=9)) == [session().id]
    assert list(await one.waiting(limit=9)) == []
    assert list(await other.waiting(limit=9)) == [session().id]
    await redis_client.delete("dy:spool:drainer")  # it is dead
    assert list(await one.waiting(limit=9)) == [session().id]
    assert 0 < await redis_client.pttl("dy:spool:drainer") <= 10_000


@pytest.mark.redis
async def test_what_was_set_aside_can_be_read_by_a_person(redis_client: Redis) -> None:
    spool = on_redis(redis_client)
    await spool.put(spooled(1))
    await spool.set_aside(spooled(1))
    assert await redis_client.lrange("dy:spool:aside", 0, -1) == [packed(spooled(1))]
    assert await spool.count() == (0, 1)
    assert b'"number":1' in packed(spooled(1))


@pytest.mark.redis
async def test_many_at_once_are_counted_right(redis_client: Redis) -> None:
    spool = on_redis(redis_client)
    others = [spooled(1, of=session(f"other-{number}")) for number in range(20)]
    outcomes = await asyncio.gather(*(spool.put(each) for each in others), return_exceptions=True)
    assert [type(each) for each in outcomes if each is not None] == [RecordsUnavailable] * (20 - MOST)
    assert (await spool.count())[0] == MOST
    await asyncio.gather(*(spool.remove(each) for each in others))
    assert await redis_client.hgetall("dy:spool:size") == {b"turns": b"0", b"bytes": b"0"}


@pytest.mark.redis
async def test_what_cannot_be_read_is_as_if_it_were_not_there(redis_client: Redis) -> None:
    spool = on_redis(redis_client)
    await spool.put(spooled(1))
    await redis_client.hset(f"dy:spool:{session().id}", "2", b"noise")
    assert list(await spool.of(session().id)) == [spooled(1)]


async def test_a_redis_that_is_away_has_nothing_and_takes_nothing() -> None:
    client = Redis(port=1, socket_connect_timeout=0.2)
    spool = on_redis(client)
    with pytest.raises(RecordsUnavailable):
        await spool.put(spooled(1))
    assert list(await spool.of(SessionId(UUID(int=1)))) == []
    assert list(await spool.waiting(limit=9)) == []
    await spool.remove(spooled(1))
    assert spool.failures == 4
    await client.aclose()


async def test_both_spools_are_read_where_an_answer_was_lost() -> None:
    first, second = (LocalTurnSpool(most_turns=2, most_bytes=1 << 20) for _ in range(2))
    both = SecondTurnSpool(first, second)
    await second.put(spooled(1))
    await both.put(spooled(1))
    await both.put(spooled(2))
    assert list(await both.of(session().id)) == [spooled(1), spooled(2)]
    assert list(await both.waiting(limit=9)) == [session().id]
    await both.remove(spooled(1))
    assert (first.count, second.count) == (1, 0)
    await both.set_aside(spooled(2))
    assert list(await both.waiting(limit=9)) == []
