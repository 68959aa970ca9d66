"""What the turn lock promises, in one process and on Redis."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.local.redis_server import redis_server
from sessions.adapters.memory_turn_lock import MemoryTurnLock
from sessions.adapters.redis_turn_lock import RedisTurnLock
from sessions.errors import SessionBusy, TurnLockUnavailable
from sessions.ports import TurnLease, TurnLock
from tests.support.records_world import session
from tests.support.redis_fixture import redis_client_of

ONE, OTHER = session("one").id, session("other").id
KEY = f"dy:turn:{ONE}"


class _Broken(Exception):
    pass


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.redis)])
def lock(request: pytest.FixtureRequest) -> TurnLock:
    if request.param == "memory":
        return MemoryTurnLock()
    return RedisTurnLock(client=request.getfixturevalue("redis_client"), lease_s=10)


async def _until_lost(lease: TurnLease) -> None:
    async with asyncio.timeout(10):
        while lease.is_held:  # noqa: ASYNC110 - it is a property, nobody sets an event
            await asyncio.sleep(0.01)


async def test_a_lease_is_held_for_the_block_and_no_longer(lock: TurnLock) -> None:
    async with lock.hold(ONE) as lease:
        assert lease.is_held
    assert not lease.is_held


async def test_a_held_session_is_busy_and_says_when_to_try_again(lock: TurnLock) -> None:
    async with lock.hold(ONE):
        with pytest.raises(SessionBusy) as busy:
            await lock.hold(ONE).__aenter__()
    assert 1 <= busy.value.retry_after_s <= 2


async def test_being_busy_takes_nothing_from_the_holder(lock: TurnLock) -> None:
    async with lock.hold(ONE) as lease:
        for _ in range(3):
            with pytest.raises(SessionBusy):
                await lock.hold(ONE).__aenter__()
        assert lease.is_held


async def test_sessions_do_not_wait_for_each_other(lock: TurnLock) -> None:
    async with lock.hold(ONE) as lease, lock.hold(OTHER) as other:
        assert lease.is_held
        assert other.is_held


async def test_of_many_who_want_it_one_gets_it(lock: TurnLock) -> None:
    async with AsyncExitStack() as held:
        asked = (held.enter_async_context(lock.hold(ONE)) for _ in range(20))
        answers = await asyncio.gather(*asked, return_exceptions=True)
    assert sorted(isinstance(answer, SessionBusy) for answer in answers) == [False] + [True] * 19


async def test_a_lease_that_was_taken_before_is_held_from_here_on(lock: TurnLock) -> None:
    async with lock.hold(ONE, taken="mine"), lock.hold(ONE, taken="mine") as lease:
        assert lease.is_held
    async with lock.hold(ONE) as other:
        assert other.is_held
        with pytest.raises(SessionBusy):
            await lock.hold(ONE, taken="mine").__aenter__()


@pytest.mark.redis
async def test_a_lease_that_was_taken_by_a_script_is_renewed_and_given_back_here(redis_client: Redis) -> None:
    await redis_client.set(KEY, "mine", px=10_000)
    async with RedisTurnLock(client=redis_client, lease_s=60).hold(ONE, taken="mine"):
        assert await redis_client.pttl(KEY) > 10_000
    assert not await redis_client.exists(KEY)


async def test_an_error_of_the_block_comes_out_as_it_is_and_frees_the_session(lock: TurnLock) -> None:
    with pytest.raises(_Broken):
        async with lock.hold(ONE):
            raise _Broken
    async with lock.hold(ONE) as lease:
        assert lease.is_held


async def test_a_cancelled_block_frees_the_session(lock: TurnLock) -> None:
    inside, never = asyncio.Event(), asyncio.Event()

    async def turn() -> None:
        async with lock.hold(ONE):
            inside.set()
            await never.wait()

    task = asyncio.create_task(turn())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with lock.hold(ONE) as lease:
        assert lease.is_held


async def test_a_time_out_around_the_block_stays_a_time_out(lock: TurnLock) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05), lock.hold(ONE):
            await asyncio.Event().wait()
    async with lock.hold(ONE) as lease:
        assert lease.is_held


async def test_a_lease_may_be_given_back_by_another_task(lock: TurnLock) -> None:
    held = AsyncExitStack()
    lease = await held.enter_async_context(lock.hold(ONE))
    await asyncio.create_task(held.aclose())
    assert not lease.is_held
    async with lock.hold(ONE) as again:
        assert again.is_held


async def test_nothing_runs_on_after_the_block(lock: TurnLock) -> None:
    before = asyncio.all_tasks()
    async with lock.hold(ONE):
        pass
    assert asyncio.all_tasks() == before


@pytest.mark.redis
async def test_a_lease_is_renewed_while_it_is_held(redis_client: Redis) -> None:
    async with RedisTurnLock(client=redis_client, lease_s=0.3).hold(ONE) as lease:
        await asyncio.sleep(1.0)  # more than three leases long
        assert lease.is_held
        assert await redis_client.exists(KEY)
        with pytest.raises(SessionBusy):
            await RedisTurnLock(client=redis_client, lease_s=0.3).hold(ONE).__aenter__()
    assert not await redis_client.exists(KEY)


@pytest.mark.redis
async def test_a_lease_of_a_dead_holder_expires(redis_client: Redis) -> None:
    await redis_client.set(KEY, "somebody who died", px=200)
    lock = RedisTurnLock(client=redis_client, lease_s=10)
    with pytest.raises(SessionBusy) as busy:
        await lock.hold(ONE).__aenter__()
    assert busy.value.retry_after_s == 1
    await asyncio.sleep(0.3)
    async with lock.hold(ONE) as lease:
        assert lease.is_held


@pytest.mark.redis
async def test_the_time_to_try_again_is_short_since_the_holder_may_end_at_any_moment(redis_client: Redis) -> None:
    for left_ms, told_s in ((300, 1), (1500, 2), (7500, 2)):
        await redis_client.set(KEY, "somebody", px=left_ms)
        with pytest.raises(SessionBusy) as busy:
            await RedisTurnLock(client=redis_client, lease_s=10).hold(ONE).__aenter__()
        assert busy.value.retry_after_s == told_s


@pytest.mark.redis
async def test_a_lost_lease_is_neither_revived_nor_taken_from_its_new_owner(redis_client: Redis) -> None:
    async with RedisTurnLock(client=redis_client, lease_s=0.3).hold(ONE) as lease:
        await redis_client.set(KEY, "the next owner", px=60_000)
        await _until_lost(lease)
        assert await redis_client.get(KEY) == b"the next owner"
    assert await redis_client.get(KEY) == b"the next owner"
    assert await redis_client.pttl(KEY) > 50_000


@pytest.mark.redis
async def test_an_expired_lease_is_not_written_again(redis_client: Redis) -> None:
    async with RedisTurnLock(client=redis_client, lease_s=0.3).hold(ONE) as lease:
        await redis_client.delete(KEY)
        await _until_lost(lease)
        assert not await redis_client.exists(KEY)


@pytest.mark.redis
async def test_scripts_that_redis_forgot_are_sent_again(redis_client: Redis) -> None:
    async with RedisTurnLock(client=redis_client, lease_s=0.3).hold(ONE) as lease:
        await redis_client.script_flush()
        await asyncio.sleep(0.5)
        assert lease.is_held
        await redis_client.script_flush()
    assert not await redis_client.exists(KEY)


@pytest.mark.redis
async def test_asking_again_after_a_lost_answer_is_no_conflict(redis_client: Redis) -> None:
    lock = RedisTurnLock(client=redis_client, lease_s=10)
    take = lock._take
    assert await take(keys=[KEY], args=["me", 10_000]) == -1
    assert await take(keys=[KEY], args=["me", 10_000]) == -1
    assert await take(keys=[KEY], args=["you", 10_000]) > 9_000


@pytest.mark.redis
@pytest.mark.parametrize("rounds", range(20))
async def test_being_cancelled_while_asking_leaves_no_lease(redis_client: Redis, rounds: int) -> None:
    lock = RedisTurnLock(client=redis_client, lease_s=10)

    async def turn() -> None:
        async with lock.hold(ONE):
            await asyncio.Event().wait()

    task = asyncio.create_task(turn())
    for _ in range(rounds):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not await redis_client.exists(KEY)


@asynccontextmanager
async def _own_redis(folder: Path) -> AsyncIterator[tuple[int, Redis]]:
    with redis_server(folder) as server:
        client = redis_client_of(server.url)
        try:
            yield server.pid, client
        finally:
            await client.aclose()


@pytest.mark.redis
async def test_a_redis_that_dies_costs_the_lease_and_not_the_turn(tmp_path: Path) -> None:
    async with _own_redis(tmp_path) as (pid, client):
        async with RedisTurnLock(client=client, lease_s=0.6, timeout_s=0.2).hold(ONE) as lease:
            os.kill(pid, signal.SIGKILL)
            assert lease.is_held
            await _until_lost(lease)
        with pytest.raises(TurnLockUnavailable):
            await RedisTurnLock(client=client, lease_s=0.6).hold(ONE).__aenter__()


@pytest.mark.redis
async def test_a_redis_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    async with _own_redis(tmp_path) as (pid, client):
        lock = RedisTurnLock(client=client, lease_s=0.6, timeout_s=0.2)
        async with lock.hold(ONE) as lease:
            os.kill(pid, signal.SIGSTOP)
            try:
                await _until_lost(lease)
                async with asyncio.timeout(2):
                    with pytest.raises(TurnLockUnavailable):
                        await lock.hold(OTHER).__aenter__()
            finally:
                os.kill(pid, signal.SIGCONT)


@pytest.mark.redis
async def test_a_short_absence_of_redis_costs_nothing(tmp_path: Path) -> None:
    async with (
        _own_redis(tmp_path) as (pid, client),
        RedisTurnLock(client=client, lease_s=3, timeout_s=0.2).hold(ONE) as lease,
    ):
        os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(1.3)  # one renewal fails meanwhile
        os.kill(pid, signal.SIGCONT)
        await asyncio.sleep(2.2)  # past the first lease
        assert lease.is_held
