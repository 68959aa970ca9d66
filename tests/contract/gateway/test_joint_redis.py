"""What is asked of Redis at the same moment is sent together, and answered to each as if it had asked alone."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import DataError, ResponseError

from gateway.adapters.joint_redis import JointRedis
from gateway.local.free_port import free_port
from gateway.local.redis_server import RedisServer


def joint_redis_of(url: str, *, most: int = 8) -> JointRedis:
    retry: Retry = Retry(NoBackoff(), 1)
    return JointRedis(BlockingConnectionPool.from_url(url, max_connections=most, timeout=None, retry=retry))


@pytest.fixture
async def joint(empty_redis: RedisServer) -> AsyncIterator[JointRedis]:
    made = joint_redis_of(empty_redis.url)
    yield made
    await made.aclose()


async def reads(client: Redis) -> int:
    return int((await client.info("stats"))["total_reads_processed"])


async def test_each_hears_its_own_answer(joint: JointRedis) -> None:
    assert await joint.echo("alone") == b"alone"
    answers = await asyncio.gather(*(joint.echo(str(number)) for number in range(350)))
    assert answers == [str(number).encode() for number in range(350)]


async def test_what_is_asked_at_the_same_moment_goes_together(joint: JointRedis, redis_client: Redis) -> None:
    await joint.ping()
    before = await reads(redis_client)
    await asyncio.gather(*(joint.incr("counted") for _ in range(100)))
    assert await reads(redis_client) - before < 20
    assert await joint.get("counted") == b"100"


async def test_answers_are_read_as_the_commands_want_it(joint: JointRedis) -> None:
    await joint.hset("h", mapping={"a": "1"})
    whole, one, there, info = await asyncio.gather(
        joint.hgetall("h"), joint.hget("h", "a"), joint.set("k", "v", nx=True), joint.info("server")
    )
    assert (whole, one, there) == ({b"a": b"1"}, b"1", True)
    assert "redis_version" in info


async def test_an_error_is_told_to_who_made_it(joint: JointRedis) -> None:
    await joint.set("text", "no number")
    good, bad, late = await asyncio.gather(
        joint.echo("good"), joint.incr("text"), joint.get("text"), return_exceptions=True
    )
    assert (good, late) == (b"good", b"no number")
    assert isinstance(bad, ResponseError)


async def test_a_script_that_redis_does_not_know_is_given_to_it(joint: JointRedis) -> None:
    script = joint.register_script("return {KEYS[1], ARGV[1]}")
    await joint.script_flush()
    answers = await asyncio.gather(*(script(keys=["k"], args=[number]) for number in range(3)))
    assert answers == [[b"k", b"%d" % number] for number in range(3)]


async def test_one_who_goes_leaves_the_others_their_answers(joint: JointRedis) -> None:
    staying = [asyncio.ensure_future(joint.echo(str(number))) for number in range(3)]
    going = asyncio.ensure_future(joint.echo("gone"))
    await asyncio.sleep(0)
    going.cancel()
    assert await asyncio.gather(*staying) == [b"0", b"1", b"2"]
    assert going.cancelled()
    assert await joint.echo("next") == b"next"


async def test_one_who_waits_no_longer_hears_nothing_and_the_others_do(joint: JointRedis) -> None:
    """A server that takes its time."""
    sleeping = asyncio.ensure_future(joint.execute_command("DEBUG", "SLEEP", "0.3"))
    other = asyncio.ensure_future(joint.echo("late"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await joint.echo("too late")
    assert await other == b"late"
    await asyncio.gather(sleeping, return_exceptions=True)


async def test_a_line_that_nobody_waits_on_any_longer_is_free_again(running_redis: RedisServer) -> None:
    joint = joint_redis_of(running_redis.url, most=1)
    for together in (1, 3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await asyncio.gather(*(joint.blpop([f"never-{number}"], 0) for number in range(together)))
        async with asyncio.timeout(5):
            assert await joint.echo("next") == b"next"
    await joint.aclose()


async def test_what_is_no_longer_wanted_is_not_sent(joint: JointRedis) -> None:
    going = asyncio.ensure_future(joint.incr("counted"))
    await asyncio.sleep(0)
    going.cancel()
    assert await joint.echo("next") == b"next"
    assert await joint.get("counted") is None


async def test_what_cannot_be_sent_is_told_to_who_asks_it(joint: JointRedis) -> None:
    unsendable = (None, "half a pair \ud83d")
    asked = [joint.echo("good"), *(joint.execute_command("ECHO", word) for word in unsendable)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(answer) for answer in answers] == [bytes, DataError, UnicodeEncodeError]


async def test_lines_that_were_cut_are_replaced(joint: JointRedis, redis_client: Redis) -> None:
    await asyncio.gather(*(joint.ping() for _ in range(3)))
    await redis_client.client_kill_filter(_type="normal", skipme=True)
    assert await asyncio.gather(*(joint.echo(str(number)) for number in range(3))) == [b"0", b"1", b"2"]
    await redis_client.client_kill_filter(_type="normal", skipme=True)
    assert await joint.echo("alone") == b"alone"


async def test_a_redis_that_is_not_there_is_told_to_everyone() -> None:
    joint = joint_redis_of(f"redis://127.0.0.1:{free_port()}")
    errors = await asyncio.gather(*(joint.ping() for _ in range(3)), return_exceptions=True)
    assert [type(error) for error in errors] == [NoConnection] * 3
    assert len({id(error) for error in errors}) == 3
    await joint.aclose()


async def test_whoever_still_waits_at_the_end_is_let_go(running_redis: RedisServer) -> None:
    joint = joint_redis_of(running_redis.url)
    waiting = asyncio.ensure_future(joint.blpop(["never"], 60))
    await asyncio.sleep(0.05)
    await joint.aclose()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_whoever_has_just_asked_at_the_end_is_let_go(running_redis: RedisServer) -> None:
    joint = joint_redis_of(running_redis.url)
    for rounds in range(1, 4):
        asking = asyncio.ensure_future(joint.blpop(["never"], 60))
        for _ in range(rounds):
            await asyncio.sleep(0)
        await joint.aclose()
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(5):
                await asking
