"""The promise of `PinStore`, on memory and on a real Redis."""

import asyncio
import random
import time
from collections.abc import Callable

import pytest
from redis.asyncio import Redis

from router.adapters.memory_pins import MemoryPins
from router.adapters.redis_pins import RedisPins
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Pin
from router.ports import PinStore

pytestmark = pytest.mark.redis

KEY, OTHER = AffinityKey("session-1"), AffinityKey("会话:2")
A, B, C = ReplicaId("a"), ReplicaId("b"), ReplicaId("c")
Stores = Callable[[int], PinStore]


@pytest.fixture(params=["memory", "redis"])
def stores(request: pytest.FixtureRequest, redis_client: Redis) -> Stores:
    """Makes a store with the given time to live in seconds."""
    if request.param == "memory":
        return lambda ttl_s: MemoryPins(ttl_s=ttl_s)
    return lambda ttl_s: RedisPins(client=redis_client, ttl_s=ttl_s, timeout_s=5.0)


@pytest.fixture
def pins(stores: Stores) -> PinStore:
    return stores(3600)


async def until_gone(pins: PinStore) -> None:
    """Wait for the pin of KEY to be forgotten, without using it."""
    deadline = time.monotonic() + 10
    while (await pins.sessions([A]))[A]:
        assert time.monotonic() < deadline, "the pin outlived its time to live"
        await asyncio.sleep(0.05)


async def test_nothing_is_pinned_at_first(pins: PinStore) -> None:
    assert await pins.get(KEY) is None
    assert await pins.sessions([A, B]) == {A: 0, B: 0}
    assert await pins.sessions([]) == {}


async def test_the_first_claim_wins(pins: PinStore) -> None:
    assert await pins.claim(KEY, [A], replacing=None) == Pin(A, 1)
    assert await pins.claim(KEY, [B], replacing=None) == Pin(A, 1)
    assert await pins.get(KEY) == Pin(A, 1)
    assert await pins.sessions([A, B]) == {A: 1, B: 0}


async def test_keys_of_any_language_stand_apart(pins: PinStore) -> None:
    await pins.claim(KEY, [A], replacing=None)
    await pins.claim(OTHER, [ReplicaId("副本")], replacing=None)
    assert await pins.get(KEY) == Pin(A, 1)
    assert await pins.get(OTHER) == Pin(ReplicaId("副本"), 1)


async def test_a_move_takes_the_next_generation_and_carries_the_session_over(pins: PinStore) -> None:
    first = await pins.claim(KEY, [A], replacing=None)
    assert await pins.claim(KEY, [B], replacing=first) == Pin(B, 2)
    assert await pins.sessions([A, B]) == {A: 0, B: 1}


async def test_a_router_that_read_an_old_generation_does_not_win(pins: PinStore) -> None:
    first = await pins.claim(KEY, [A], replacing=None)
    second = await pins.claim(KEY, [B], replacing=first)
    third = await pins.claim(KEY, [A], replacing=second)
    assert third == Pin(A, 3)
    assert await pins.claim(KEY, [C], replacing=first) == third
    assert await pins.get(KEY) == third
    assert await pins.sessions([A, B, C]) == {A: 1, B: 0, C: 0}


async def test_a_pin_that_was_lost_meanwhile_can_be_claimed(pins: PinStore) -> None:
    assert await pins.claim(KEY, [B], replacing=Pin(A, 4)) == Pin(B, 5)
    assert await pins.get(KEY) == Pin(B, 5)


async def test_the_preferred_candidate_is_taken_even_if_it_has_more_sessions(pins: PinStore) -> None:
    await pins.claim(OTHER, [B], replacing=None)
    assert await pins.claim(KEY, [A, B], replacing=None, prefer=B) == Pin(B, 1)


async def test_a_preference_that_is_no_candidate_is_nothing(pins: PinStore) -> None:
    assert await pins.claim(KEY, [A, B], replacing=None, prefer=C) == Pin(A, 1)


async def test_the_candidate_with_the_fewest_sessions_is_taken_and_the_earlier_of_equals(pins: PinStore) -> None:
    chosen = [(await pins.claim(AffinityKey(f"s-{number}"), [B, A, C], replacing=None)).replica for number in range(7)]
    assert chosen == [B, A, C, B, A, C, B]


async def test_an_ended_session_frees_its_place_and_ending_twice_is_nothing(pins: PinStore) -> None:
    await pins.claim(KEY, [A], replacing=None)
    await pins.end(KEY)
    await pins.end(KEY)
    assert await pins.get(KEY) is None
    assert await pins.sessions([A]) == {A: 0}
    assert await pins.claim(KEY, [B], replacing=None) == Pin(B, 1)


async def test_a_pin_nobody_uses_is_forgotten_and_counts_no_longer(stores: Stores) -> None:
    pins = stores(1)
    await pins.claim(KEY, [A], replacing=None)
    await until_gone(pins)
    assert await pins.get(KEY) is None
    assert await pins.claim(KEY, [A, B], replacing=None) == Pin(A, 1)


async def test_a_pin_in_use_is_kept(stores: Stores) -> None:
    pins = stores(1)
    await pins.claim(KEY, [A], replacing=None)
    started = time.monotonic()
    while time.monotonic() < started + 1.5:
        assert await pins.get(KEY) == Pin(A, 1)
        await asyncio.sleep(0.1)
    assert await pins.sessions([A]) == {A: 1}


async def test_claims_at_once_have_one_winner(pins: PinStore) -> None:
    claims = [pins.claim(KEY, [replica], replacing=None) for replica in (A, B, C) * 10]
    won = await asyncio.gather(*claims)
    assert len(set(won)) == 1
    assert sum((await pins.sessions([A, B, C])).values()) == 1


async def test_moves_at_once_have_one_winner(pins: PinStore) -> None:
    first = await pins.claim(KEY, [A], replacing=None)
    won = await asyncio.gather(*(pins.claim(KEY, [replica], replacing=first) for replica in (B, C) * 10))
    assert len(set(won)) == 1
    assert won[0].generation == 2
    assert sum((await pins.sessions([A, B, C])).values()) == 1


@pytest.mark.parametrize("seed", range(5))
async def test_redis_and_memory_give_the_same_answers_to_the_same_calls(seed: int, redis_client: Redis) -> None:
    dice = random.Random(seed)  # noqa: S311
    twins: tuple[PinStore, PinStore] = (
        MemoryPins(ttl_s=3600),
        RedisPins(client=redis_client, ttl_s=3600, timeout_s=5.0),
    )
    keys = [AffinityKey(f"s-{number}") for number in range(12)]
    names = [ReplicaId(f"r-{number}") for number in range(5)]
    for _ in range(400):
        key = dice.choice(keys)
        candidates = dice.sample(names, dice.randint(1, 5))
        replacing = dice.choice([None, await twins[0].get(key), Pin(dice.choice(names), dice.randint(1, 4))])
        prefer = dice.choice([None, *names])
        match dice.randrange(5):
            case 0:
                assert await twins[0].get(key) == await twins[1].get(key)
            case 1:
                await twins[0].end(key)
                await twins[1].end(key)
            case _:
                answers = [await store.claim(key, candidates, replacing=replacing, prefer=prefer) for store in twins]
                assert answers[0] == answers[1]
        assert await twins[0].sessions(names) == await twins[1].sessions(names)
