"""What only the Redis store can show: outages, scripts that were flushed, keys that are left behind."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.local.redis_server import redis_server
from router.adapters.redis_pins import RedisPins
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand, Pin, PinnedLoad
from router.domain.pin_record import PinRecord, Touched
from router.errors import PinStoreUnavailable
from tests.support.redis_fixture import redis_client_of

pytestmark = pytest.mark.redis

KEY, A, B = AffinityKey("session-1"), ReplicaId("a"), ReplicaId("b")
ONE = Demand()


def store(client: Redis, timeout_s: float = 5.0) -> RedisPins:
    return RedisPins(client=client, ttl_s=3600, timeout_s=timeout_s)


async def test_flushed_scripts_are_loaded_again(redis_client: Redis) -> None:
    pins = store(redis_client)
    await pins.claim(KEY, [A], replacing=None, demand=ONE)
    await redis_client.script_flush()
    assert await pins.get(KEY) == Pin(A, 1)


async def test_every_key_has_our_prefix_and_goes_by_itself(redis_client: Redis) -> None:
    pins = store(redis_client)
    await pins.claim(KEY, [A], replacing=None, demand=Demand(5, "scenario"))
    await pins.get(KEY)
    await pins.touch([(KEY, Pin(A, 1))])
    keys = sorted(await redis_client.keys("*"))
    assert keys == [
        b"dy:p2:cohort:scenario",
        b"dy:p2:epoch",
        b"dy:p2:kv",
        b"dy:p2:oldest",
        b"dy:p2:pin:session-1",
        b"dy:p2:sessions",
        b"dy:p2:use:a",
    ]
    for key in keys:
        assert 3_500 < await redis_client.ttl(key) <= 3_660


async def test_nothing_but_time_marks_are_left_when_all_have_ended(redis_client: Redis) -> None:
    pins = store(redis_client)
    await pins.claim(KEY, [A], replacing=None, demand=Demand(5, "scenario"))
    await pins.end(KEY)
    await pins.loads([A])
    keys = sorted(await redis_client.keys("*"))
    assert keys == [b"dy:p2:cohort:scenario", b"dy:p2:epoch", b"dy:p2:kv", b"dy:p2:oldest", b"dy:p2:sessions"]
    assert await redis_client.hkeys("dy:p2:kv") == await redis_client.hkeys("dy:p2:sessions") == [b""]


@pytest.mark.parametrize("lost", ["dy:p2:sessions", "dy:p2:kv"])
async def test_sums_that_were_lost_are_worked_out_anew(redis_client: Redis, lost: str) -> None:
    pins = store(redis_client)
    for number in range(4):
        await pins.claim(AffinityKey(f"s-{number}"), [A], replacing=None, demand=Demand(10 + number))
    await redis_client.delete(lost)
    await pins.end(AffinityKey("s-0"))
    assert await pins.loads([A]) == {A: PinnedLoad(3, 36)}
    await redis_client.delete(lost)
    assert await pins.loads([A]) == {A: PinnedLoad(3, 36)}


async def test_a_pin_without_its_replicas_list_is_none(redis_client: Redis) -> None:
    pins = store(redis_client)
    await pins.claim(KEY, [A], replacing=None, demand=ONE)
    await redis_client.delete("dy:p2:use:a")
    assert await pins.get(KEY) is None
    assert await pins.claim(KEY, [B], replacing=None, demand=ONE) == Pin(B, 1)
    assert await pins.loads([A, B]) == {A: PinnedLoad(), B: PinnedLoad(1, 1)}


async def test_the_clock_is_the_one_of_redis_unless_told(redis_client: Redis) -> None:
    await store(redis_client).claim(KEY, [A], replacing=None, demand=ONE)
    assert abs((await redis_client.zscore("dy:p2:use:a", "1:session-1") or 0) / 1000 - time.time()) < 5


async def test_touching_keeps_and_says_what_is_wrong(redis_client: Redis) -> None:
    pins = store(redis_client)
    assert await pins.touch([]) == Touched("", {})
    await pins.claim(KEY, [A], replacing=None, demand=Demand(5, "c"))
    touched = await pins.touch([(KEY, Pin(A, 1)), (AffinityKey("gone"), Pin(A, 1))])
    assert touched.epoch != ""
    assert touched.wrong == {AffinityKey("gone"): None}
    wrong = (await pins.touch([(KEY, Pin(B, 1)), (KEY, Pin(A, 1))])).wrong
    assert wrong == {KEY: PinRecord(Pin(A, 1), Demand(5, "c"))}
    assert (await pins.touch([])).epoch == touched.epoch
    await redis_client.flushall()
    assert (await pins.touch([])).epoch == ""


async def test_restoring_writes_what_is_missing_only(redis_client: Redis) -> None:
    pins = store(redis_client)
    await pins.claim(KEY, [B], replacing=None, demand=ONE)
    lost = [(KEY, PinRecord(Pin(A, 3), ONE)), (AffinityKey("lost"), PinRecord(Pin(A, 3), Demand(7, "c")))]
    restored = [PinRecord(Pin(B, 1), ONE), PinRecord(Pin(A, 4), Demand(7, "c"))]
    assert await pins.restore(lost) == restored
    assert await pins.restore(lost) == restored
    assert await pins.loads([A, B]) == {A: PinnedLoad(1, 7), B: PinnedLoad(1, 1)}


@pytest.mark.parametrize("value", ["not a hash", None])
async def test_contents_that_are_not_ours_are_an_error_in_our_words(redis_client: Redis, value: str | None) -> None:
    if value is None:
        await redis_client.hset("dy:p2:pin:session-1", mapping={"replica": "a", "generation": "many", "kv": "1"})
        await redis_client.zadd("dy:p2:use:a", {"1:session-1": 1e15})
    else:
        await redis_client.set("dy:p2:pin:session-1", value)
    with pytest.raises(PinStoreUnavailable):
        await store(redis_client).get(KEY)


async def test_memory_per_session_stays_small(redis_client: Redis) -> None:
    pins = store(redis_client)
    names = [ReplicaId(f"replica-{number}") for number in range(20)]

    async def used() -> int:
        return int((await redis_client.info("memory"))["used_memory_dataset"])

    before = await used()
    for number in range(2_000):
        key = AffinityKey(f"a-model-name\n{number:032}")
        await pins.claim(key, names, replacing=None, demand=Demand(2_000, "tenant:scenario:7"))
    assert (await used() - before) / 2_000 < 1_000


async def test_a_redis_that_ends_is_unavailable_and_a_new_one_is_used_again(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        pins = store(client)
        await pins.claim(KEY, [A], replacing=None, demand=ONE)
    for call in (
        pins.get(KEY),
        pins.claim(KEY, [A], replacing=None, demand=ONE),
        pins.end(KEY),
        pins.loads([A]),
        pins.pinned(A, limit=1),
    ):
        with pytest.raises(PinStoreUnavailable):
            await call
    port = int(server.url.rsplit(":", 1)[1].split("/")[0])
    with redis_server(tmp_path, port=port):
        assert await pins.claim(KEY, [A], replacing=None, demand=ONE) == Pin(A, 1)
        await client.aclose()


async def test_a_frozen_redis_costs_a_turn_no_more_than_the_time_out(tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        client = redis_client_of(server.url)
        pins = store(client, timeout_s=0.2)
        await pins.claim(KEY, [A], replacing=None, demand=ONE)
        os.kill(server.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(PinStoreUnavailable, match=r"within 0\.2 s"):
                await pins.get(KEY)
            assert time.monotonic() - began < 1.0
        finally:
            os.kill(server.pid, signal.SIGCONT)
        assert await pins.get(KEY) == Pin(A, 1)
        await client.aclose()


async def test_calls_that_were_cancelled_do_not_mix_up_later_answers(redis_client: Redis) -> None:
    pins = store(redis_client)
    keys = [AffinityKey(f"s-{number}") for number in range(40)]
    for number, key in enumerate(keys):
        await pins.claim(key, [ReplicaId(f"r-{number}")], replacing=None, demand=ONE)
    tasks = [asyncio.ensure_future(pins.get(key)) for key in keys]
    for task in tasks[::2]:
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.wait(tasks)
    for number, key in enumerate(keys):
        assert await pins.get(key) == Pin(ReplicaId(f"r-{number}"), 1)
