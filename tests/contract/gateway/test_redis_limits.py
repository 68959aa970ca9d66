"""The gate on Redis: several processes, those that die, and a Redis that is late, empty or away."""

import asyncio
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from gateway.adapters.limit_scripts import LimitScripts
from gateway.adapters.redis_limits import RedisGate
from gateway.domain.limits import AccountLimits, DrillLimits, Spent
from gateway.errors import AccountLimitReached, DrillAtWatermark, DrillFull, LimitsUnavailable
from gateway.local.redis_server import RedisServer
from sessions.adapters.redis_turn_lock import RedisTurnLock
from sessions.domain.session import SessionId
from sessions.errors import SessionBusy
from tests.support.cut_line import CutLine, cut_line
from tests.support.frozen import frozen
from tests.support.limit_claims import ACCOUNT, DRILL, TENANT, request_of, seat_of, turn_of
from tests.support.redis_fixture import redis_client_of

pytestmark = pytest.mark.redis

RUNNING, RATES = (f"dy:lim:{kind}:{TENANT}:{ACCOUNT}" for kind in ("running", "rates"))
ONE_AT_ONCE = AccountLimits(turns_in_flight=1)


def scripts_on(client: Redis, *, lease_s: float = 20, timeout_s: float = 10) -> LimitScripts:
    return LimitScripts(client=client, lease_s=lease_s, seat_s=600, timeout_s=timeout_s)


@pytest.fixture
async def gate(redis_client: Redis) -> AsyncIterator[RedisGate]:
    async with RedisGate(scripts_on(redis_client)) as gate:
        yield gate


@asynccontextmanager
async def claiming(url: str, count: int, *, lease_s: float = 20) -> AsyncIterator[Process]:
    """Another process that is ready to claim."""
    arguments = ["-m", "tests.support.claiming_process", url, str(count), str(lease_s)]
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=PIPE, stdout=PIPE)
    try:
        assert await said(process) == "ready"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if process.stdin is not None:
            process.stdin.close()


async def said(process: Process) -> str:
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), 30)).decode().strip()


def tell(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")


async def until_empty(client: Redis, *keys: str, within_s: float) -> float:
    """How long it took until nothing of the keys counts any more."""
    began = time.monotonic()
    while True:
        now_s, us = await client.time()
        counts = [await client.zcount(key, f"({now_s * 1_000_000 + us}", "+inf") for key in keys]
        if not any(counts):
            return time.monotonic() - began
        assert time.monotonic() < began + within_s
        await asyncio.sleep(0.02)


async def everything(client: Redis) -> dict[bytes, bytes | None]:
    return {key: await client.dump(key) async for key in client.scan_iter("*")}


async def test_two_processes_let_in_exactly_as_many_as_one_may(redis_client: Redis, running_redis: RedisServer) -> None:
    async with claiming(running_redis.url, 100) as one, claiming(running_redis.url, 100) as other:
        for process in (one, other):
            tell(process)
        assert int(await said(one)) + int(await said(other)) == 50
        assert await redis_client.zcard(RUNNING) == 50


async def test_the_places_of_a_killed_process_are_free_within_one_lease(
    redis_client: Redis, running_redis: RedisServer
) -> None:
    lease_s = 2.5
    async with claiming(running_redis.url, 60, lease_s=lease_s) as process:
        tell(process)
        assert await said(process) == "50"
        await asyncio.sleep(1.2 * lease_s)  # it renews what it holds
        assert await redis_client.zcard(RUNNING) == 50
        process.send_signal(signal.SIGKILL)
        await process.wait()
        assert await until_empty(redis_client, RUNNING, within_s=lease_s + 1) > 0
    async with RedisGate(scripts_on(redis_client)) as gate, gate.admit(turn_of(None, ONE_AT_ONCE)):
        assert await redis_client.zcard(RUNNING) == 1


async def test_a_refused_claim_changes_no_key(gate: RedisGate, redis_client: Redis) -> None:
    session, drill = uuid4(), DrillLimits(seats=0, walk_ins=1, turns_in_flight=1)
    limits = AccountLimits(requests_per_minute=2, input_tokens_per_minute=10, turns_in_flight=2)
    async with gate.admit(turn_of(session, limits, drill=DRILL, drill_limits=drill)):
        await redis_client.zadd(RUNNING, {"long over": 1})
        before = await everything(redis_client)
        for claim in (
            turn_of(session, limits),
            turn_of(None, limits, tokens=(11, 0), drill=DRILL, drill_limits=drill),
            turn_of(None, ONE_AT_ONCE),
            turn_of(None, AccountLimits(requests_per_minute=2, request_burst=1)),
        ):
            with pytest.raises((SessionBusy, AccountLimitReached, DrillAtWatermark)):
                async with gate.admit(claim):
                    pytest.fail("it was let in")
        with pytest.raises(DrillFull):
            await gate.seat(seat_of(drill_limits=drill))
        assert await everything(redis_client) == before


async def test_an_emptied_redis_costs_leases_and_nothing_else(redis_client: Redis) -> None:
    limits = AccountLimits(requests_per_minute=60, output_tokens_per_minute=100, turns_in_flight=1)
    async with RedisGate(scripts_on(redis_client, lease_s=0.6)) as gate:
        async with gate.admit(turn_of(None, limits, tokens=(0, 10))) as admission:
            await redis_client.flushall()
            await redis_client.script_flush()
            async with gate.admit(turn_of(None, limits, tokens=(0, 10))) as other:
                other.settle(Spent(0, 10))
            async with asyncio.timeout(10):
                while not gate.counters()["limit_leases_lost"]:  # noqa: ASYNC110 - a figure, nobody sets an event
                    await asyncio.sleep(0.02)
            admission.settle(Spent(0, 90))
        async with gate.admit(turn_of(None, limits, tokens=(0, 50))) as after:
            assert after.standing[1].remaining >= 40
        assert gate.gauges() == {"limit_leases_held": 0, "limit_settlements_owed": 0}


async def test_a_held_claim_is_renewed_for_as_long_as_it_lasts(redis_client: Redis) -> None:
    drill = DrillLimits(seats=0, turns_in_flight=1)
    async with RedisGate(scripts_on(redis_client, lease_s=1.5)) as gate:
        claim = turn_of(drill=DRILL, drill_limits=drill)
        async with gate.admit(claim) as admission:
            await asyncio.sleep(2)
            assert await redis_client.get(f"dy:turn:{claim.session}") == admission.lease.encode()
            assert await redis_client.zcard(f"dy:lim:drill:{DRILL}") == 1
        assert gate.counters()["limit_leases_lost"] == 0


async def test_the_turn_lock_sees_the_lease_and_the_gate_sees_the_locks(gate: RedisGate, redis_client: Redis) -> None:
    session, lock = uuid4(), RedisTurnLock(client=redis_client, lease_s=20)
    async with gate.admit(turn_of(session)) as admission:
        with pytest.raises(SessionBusy):
            await lock.hold(SessionId(session)).__aenter__()
        async with lock.hold(SessionId(session), taken=admission.lease) as lease:
            assert lease.is_held
    async with lock.hold(SessionId(session)):
        with pytest.raises(SessionBusy):
            await gate.admit(turn_of(session)).__aenter__()


async def test_a_claim_that_is_cut_off_while_it_asks_leaves_nothing(
    redis_client: Redis, running_redis: RedisServer
) -> None:
    """Redis takes it and nobody hears: whether the claim comes before its end or after, it leaves nothing."""
    limits = AccountLimits(requests_per_minute=60, turns_in_flight=5)
    async with RedisGate(scripts_on(redis_client)) as gate:
        with frozen(running_redis.pid):
            asking = [asyncio.create_task(gate.admit(turn_of(None, limits)).__aenter__()) for _ in range(4)]
            await asyncio.sleep(0.1)
            for one in asking:
                one.cancel()
            answers = await asyncio.gather(*asking, return_exceptions=True)
            assert all(isinstance(answer, asyncio.CancelledError) for answer in answers)
    async with RedisGate(scripts_on(redis_client)) as gate, gate.admit(request_of(limits)) as admission:
        assert admission.standing[0].remaining == 59
        assert await redis_client.zcard(RUNNING) == 1


async def test_a_claim_that_comes_after_its_own_end_takes_nothing(redis_client: Redis) -> None:
    scripts, claim = scripts_on(redis_client), turn_of(None, AccountLimits(requests_per_minute=60))
    assert not await scripts.settle("late", claim, None)
    assert (await scripts.admit("late", claim)).refused_by == "over"
    assert await redis_client.exists(RUNNING, RATES, f"dy:turn:{claim.session}") == 0


@pytest.fixture
async def line(running_redis: RedisServer) -> AsyncIterator[CutLine]:
    async with cut_line(int(running_redis.url.rsplit(":", 1)[1].split("/")[0])) as line:
        yield line


async def test_a_redis_that_is_away_is_told_within_the_time_limit(running_redis: RedisServer) -> None:
    async with AsyncExitStack() as stack:
        client = redis_client_of(running_redis.url)
        stack.push_async_callback(client.aclose)
        await client.ping()
        gate = await stack.enter_async_context(RedisGate(scripts_on(client, timeout_s=0.3)))
        with frozen(running_redis.pid):
            began = time.monotonic()
            with pytest.raises(LimitsUnavailable):
                await gate.admit(turn_of()).__aenter__()
            with pytest.raises(LimitsUnavailable):
                await gate.seat(seat_of())
            assert time.monotonic() - began < 2


async def test_what_could_not_be_settled_is_settled_later(redis_client: Redis, line: CutLine) -> None:
    limits = AccountLimits(output_tokens_per_minute=1_000, turns_in_flight=1)
    client, leaving = redis_client_of(line.url.replace("http", "redis")), uuid4()
    async with RedisGate(scripts_on(client, lease_s=3)) as gate:
        async with gate.admit(turn_of(None, limits, tokens=(0, 900))) as admission:
            await gate.seat(seat_of(leaving, sessions=2))
            line.cut()
            admission.settle(Spent(0, 100))
            await gate.unseat(TENANT, DRILL, leaving)
        async with asyncio.timeout(5):
            while gate.gauges()["limit_settlements_owed"] < 2:  # noqa: ASYNC110 - a figure, nobody sets an event
                await asyncio.sleep(0.01)
        line.mend()
        await until_empty(redis_client, RUNNING, within_s=10)
        async with asyncio.timeout(10):
            while gate.gauges()["limit_settlements_owed"]:  # noqa: ASYNC110 - a figure, nobody sets an event
                await asyncio.sleep(0.01)
        assert gate.counters()["limit_settlements_late"] == 2
        await gate.seat(seat_of(sessions=2))
        async with gate.admit(turn_of(None, limits, tokens=(0, 800))) as after:
            assert after.standing[0].remaining >= 100
    await client.aclose()


async def test_a_cancelled_turn_is_settled_all_the_same_and_before_the_end(redis_client: Redis) -> None:
    limits = AccountLimits(requests_per_minute=60)
    async with RedisGate(scripts_on(redis_client)) as gate:
        inside = asyncio.Event()

        async def a_turn() -> None:
            async with gate.admit(turn_of(None, limits)):
                inside.set()
                await asyncio.Event().wait()

        turns = [asyncio.create_task(a_turn()) for _ in range(20)]
        await inside.wait()
        for turn in turns:
            turn.cancel()
        await asyncio.wait(turns)
    assert await redis_client.zcard(RUNNING) == 0
    assert not [key async for key in redis_client.scan_iter("dy:turn:*")]
    async with RedisGate(scripts_on(redis_client)) as gate, gate.admit(request_of(limits)) as admission:
        assert admission.standing[0].remaining == 59
