"""The promise of `PinStore`, on memory and on a real Redis."""

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest
from redis.asyncio import Redis

from gateway.local.redis_server import RedisServer
from router.adapters.memory_pins import MemoryPins
from router.adapters.pin_cache import CachedPins
from router.adapters.redis_pins import RedisPins
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Demand, Pin, PinnedLoad
from router.ports import PinStore
from tests.support.cached_pins import cached_pins

pytestmark = pytest.mark.redis

KEY, OTHER = AffinityKey("model\nsession-1"), AffinityKey("模型\n会话:2")
A, B, C = ReplicaId("a"), ReplicaId("b"), ReplicaId("c")
ONE, BIG = Demand(), Demand(kv_tokens=5_000)
TTL_S = 3600


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "redis", "cached"])
async def pins(
    request: pytest.FixtureRequest, redis_client: Redis, running_redis: RedisServer, clock: Clock
) -> AsyncIterator[PinStore]:
    match request.param:
        case "memory":
            yield MemoryPins(ttl_s=TTL_S, clock=clock)
        case "redis":
            yield redis_pins(redis_client, clock)
        case _:
            async with cached_pins(
                running_redis.url, redis_pins(redis_client, clock), ttl_s=TTL_S, clock=clock
            ) as pins:
                yield pins


def redis_pins(client: Redis, clock: Clock) -> RedisPins:
    return RedisPins(client=client, ttl_s=TTL_S, timeout_s=5.0, clock=clock)


def session(number: int) -> AffinityKey:
    return AffinityKey(f"model\ns-{number}")


async def sessions_at(pins: PinStore, *replicas: ReplicaId) -> list[int]:
    loads = await pins.loads(replicas)
    return [loads[replica].sessions for replica in replicas]


async def test_nothing_is_pinned_at_first(pins: PinStore) -> None:
    assert await pins.get(KEY) is None
    assert await pins.loads([A, B]) == {A: PinnedLoad(), B: PinnedLoad()}
    assert await pins.loads([]) == {}
    assert await pins.pinned(A, limit=10) == []


async def test_the_first_claim_wins(pins: PinStore) -> None:
    assert await pins.claim(KEY, [A], replacing=None, demand=ONE) == Pin(A, 1)
    assert await pins.claim(KEY, [B], replacing=None, demand=ONE) == Pin(A, 1)
    assert await pins.get(KEY) == Pin(A, 1)
    assert await sessions_at(pins, A, B) == [1, 0]


async def test_keys_of_any_language_stand_apart(pins: PinStore) -> None:
    await pins.claim(KEY, [A], replacing=None, demand=ONE)
    await pins.claim(OTHER, [ReplicaId("副本")], replacing=None, demand=Demand(3, "租户 一"))
    assert await pins.get(KEY) == Pin(A, 1)
    assert await pins.get(OTHER) == Pin(ReplicaId("副本"), 1)
    assert await pins.pinned(ReplicaId("副本"), limit=9) == [(OTHER, Pin(ReplicaId("副本"), 1))]


async def test_a_move_takes_the_next_generation_and_carries_the_load_over(pins: PinStore) -> None:
    first = await pins.claim(KEY, [A], replacing=None, demand=Demand(100))
    assert await pins.claim(KEY, [B], replacing=first, demand=Demand(250)) == Pin(B, 2)
    assert await pins.loads([A, B]) == {A: PinnedLoad(), B: PinnedLoad(1, 250)}
    assert await pins.pinned(A, limit=9) == []


async def test_a_router_that_read_an_old_generation_does_not_win(pins: PinStore) -> None:
    first = await pins.claim(KEY, [A], replacing=None, demand=ONE)
    second = await pins.claim(KEY, [B], replacing=first, demand=ONE)
    third = await pins.claim(KEY, [A], replacing=second, demand=ONE)
    assert third == Pin(A, 3)
    assert await pins.claim(KEY, [C], replacing=first, demand=ONE) == third
    assert await pins.get(KEY) == third
    assert await sessions_at(pins, A, B, C) == [1, 0, 0]


async def test_a_pin_that_was_lost_meanwhile_can_be_claimed(pins: PinStore) -> None:
    assert await pins.claim(KEY, [B], replacing=Pin(A, 4), demand=ONE) == Pin(B, 5)
    assert await pins.get(KEY) == Pin(B, 5)


async def test_the_preferred_candidate_is_taken_even_if_it_has_more(pins: PinStore) -> None:
    await pins.claim(OTHER, [B], replacing=None, demand=BIG)
    assert await pins.claim(KEY, [A, B], replacing=None, demand=ONE, prefer=B) == Pin(B, 1)


async def test_a_preference_that_is_no_candidate_is_nothing(pins: PinStore) -> None:
    assert (await pins.claim(KEY, [A, B], replacing=None, demand=ONE, prefer=C)).replica in (A, B)


async def test_expected_kv_counts_before_sessions(pins: PinStore) -> None:
    await pins.claim(session(0), [A], replacing=None, demand=BIG)
    for number in range(1, 4):
        assert await pins.claim(session(number), [A, B], replacing=None, demand=Demand(1_000)) == Pin(B, 1)
    assert await pins.loads([A, B]) == {A: PinnedLoad(1, 5_000), B: PinnedLoad(3, 3_000)}


@pytest.mark.parametrize("cohort", ["", "scenario"])
async def test_a_hundred_starts_at_once_spread_evenly(pins: PinStore, cohort: str) -> None:
    names = [ReplicaId(f"r-{number}") for number in range(7)]
    demand = Demand(2_000, cohort)
    await asyncio.gather(*(pins.claim(session(n), names, replacing=None, demand=demand) for n in range(100)))
    counts = await sessions_at(pins, *names)
    assert sum(counts) == 100
    assert max(counts) - min(counts) <= (1 if not cohort else 3)


async def test_equal_replicas_are_not_all_tried_from_the_first(pins: PinStore) -> None:
    names = [ReplicaId(f"r-{number}") for number in range(50)]
    firsts = set()
    for number in range(20):
        firsts.add((await pins.claim(session(number), names, replacing=None, demand=ONE)).replica)
        await pins.end(session(number))
    assert len(firsts) > 10


async def test_a_cohort_goes_where_its_prefix_is_inside_the_bound(pins: PinStore) -> None:
    await pins.claim(session(0), [B], replacing=None, demand=Demand(10, "scenario"))
    await pins.claim(session(1), [C], replacing=None, demand=Demand(10))
    for number in range(2, 6):
        await pins.claim(session(number), [A], replacing=None, demand=Demand(4))
    assert await pins.claim(session(6), [A, B, C], replacing=None, demand=Demand(10, "scenario")) == Pin(B, 1)
    assert (await pins.claim(session(7), [A, B, C], replacing=None, demand=Demand(10, "scenario"))).replica == C


async def test_a_cohort_that_was_silent_for_an_hour_holds_no_prefix(pins: PinStore, clock: Clock) -> None:
    await pins.claim(session(0), [B], replacing=None, demand=Demand(10, "scenario"))
    await pins.end(session(0))
    clock.now += 3_599
    await pins.claim(session(2), [A], replacing=None, demand=Demand(1, "other"))
    await pins.end(session(2))
    chosen = {(await pins.claim(session(n), [A, B, C], replacing=None, demand=ONE)).replica for n in range(3)}
    assert chosen == {A, B, C}
    assert await pins.claim(KEY, [A, B, C], replacing=None, demand=Demand(1, "scenario")) == Pin(B, 1)
    clock.now += 3_600
    await pins.claim(session(1), [B], replacing=None, demand=ONE)
    assert (await pins.claim(session(5), [A, B], replacing=None, demand=Demand(1, "scenario"))).replica == A


async def test_a_replica_does_not_attract_sessions_by_losing_some_to_others(pins: PinStore, clock: Clock) -> None:
    for number in range(9):
        await pins.claim(session(number), [A, B, C], replacing=None, demand=ONE)
    lost = await pins.pinned(A, limit=9)
    for key, pin in lost:
        await pins.claim(key, [B, C], replacing=pin, demand=ONE)
    # Another router has not seen yet that it is lost.
    for number in range(6):
        await pins.claim(session(100 + number), [A, B, C], replacing=None, demand=ONE)
    assert (await sessions_at(pins, A))[0] <= 3
    clock.now += 5.0
    for number in range(2):
        await pins.claim(session(200 + number), [A, B, C], replacing=None, demand=ONE)
    assert (await sessions_at(pins, A))[0] >= 4


async def test_an_ended_session_frees_its_place_and_ending_twice_is_nothing(pins: PinStore) -> None:
    await pins.claim(KEY, [A], replacing=None, demand=BIG)
    await pins.end(KEY)
    await pins.end(KEY)
    assert await pins.get(KEY) is None
    assert await pins.loads([A]) == {A: PinnedLoad()}
    assert await pins.claim(KEY, [B], replacing=None, demand=ONE) == Pin(B, 1)


async def test_a_pin_nobody_uses_is_forgotten_and_counts_no_longer(pins: PinStore, clock: Clock) -> None:
    await pins.claim(KEY, [A], replacing=None, demand=BIG)
    clock.now += TTL_S
    assert await pins.get(KEY) is None
    assert await sessions_at(pins, A) == [0]
    assert await pins.claim(KEY, [A], replacing=None, demand=ONE) == Pin(A, 1)
    assert await pins.loads([A]) == {A: PinnedLoad(1, 1)}


async def test_a_pin_in_use_is_kept(pins: PinStore, clock: Clock) -> None:
    await pins.claim(KEY, [A], replacing=None, demand=ONE)
    for _ in range(5):
        clock.now += TTL_S - 1
        assert await pins.get(KEY) == Pin(A, 1)
    assert await sessions_at(pins, A) == [1]


async def test_claims_free_the_places_of_sessions_nobody_uses(pins: PinStore, clock: Clock) -> None:
    for number in range(8):
        await pins.claim(session(number), [A], replacing=None, demand=BIG)
    clock.now += TTL_S
    await pins.claim(OTHER, [B], replacing=None, demand=ONE)
    assert await pins.claim(KEY, [A, B], replacing=None, demand=ONE) == Pin(A, 1)


async def test_what_is_pinned_is_listed_by_last_use_and_limited(pins: PinStore, clock: Clock) -> None:
    for number in range(4):
        clock.now += 1
        await pins.claim(session(number), [A], replacing=None, demand=ONE)
    clock.now += 1
    await pins.get(session(1))
    if isinstance(pins, CachedPins):
        await pins.touch_used()  # which happens every other second
    listed = await pins.pinned(A, limit=3)
    assert listed == [(session(0), Pin(A, 1)), (session(2), Pin(A, 1)), (session(3), Pin(A, 1))]
    clock.now += TTL_S - 2
    assert [key for key, _ in await pins.pinned(A, limit=9)] == [session(3), session(1)]


async def test_claims_at_once_have_one_winner(pins: PinStore) -> None:
    claims = [pins.claim(KEY, [replica], replacing=None, demand=ONE) for replica in (A, B, C) * 10]
    won = await asyncio.gather(*claims)
    assert (len(set(won)), sum(pin.is_won for pin in won)) == (1, 1)
    assert sum(await sessions_at(pins, A, B, C)) == 1


async def test_moves_at_once_have_one_winner(pins: PinStore) -> None:
    first = await pins.claim(KEY, [A], replacing=None, demand=ONE)
    won = await asyncio.gather(*(pins.claim(KEY, [r], replacing=first, demand=ONE) for r in (B, C) * 10))
    assert (len(set(won)), sum(pin.is_won for pin in won)) == (1, 1)
    assert won[0].generation == 2
    assert sum(await sessions_at(pins, A, B, C)) == 1


async def test_two_routers_see_each_others_moves_and_agree(redis_client: Redis, clock: Clock) -> None:
    one, two = redis_pins(redis_client, clock), redis_pins(redis_client, clock)
    first = await one.claim(KEY, [A], replacing=None, demand=ONE)
    assert await two.get(KEY) == first
    won = await asyncio.gather(
        one.claim(KEY, [B], replacing=first, demand=ONE), two.claim(KEY, [C], replacing=first, demand=ONE)
    )
    assert won[0] == won[1] == await one.get(KEY) == await two.get(KEY)


@pytest.mark.parametrize("seed", range(8))
async def test_redis_and_memory_give_the_same_answers_to_the_same_calls(
    seed: int, redis_client: Redis, clock: Clock
) -> None:
    dice = Random(seed)  # noqa: S311
    twins: tuple[PinStore, PinStore] = (MemoryPins(ttl_s=TTL_S, clock=clock), redis_pins(redis_client, clock))
    keys = [session(number) for number in range(12)]
    names = [ReplicaId(f"r-{number}") for number in range(5)]
    for _ in range(300):
        clock.now += dice.choice([0, 0.25, 1, 600, 1_800])
        loads = await twins[0].loads(names)
        assert await twins[1].loads(names) == loads
        assert all(load.sessions >= 0 and load.kv_tokens >= 0 for load in loads.values())
        key = dice.choice(keys)
        match dice.randrange(6):
            case 0:
                assert await twins[0].get(key) == await twins[1].get(key)
            case 1:
                await twins[0].end(key)
                await twins[1].end(key)
            case 2:
                name = dice.choice(names)
                assert dict(await twins[0].pinned(name, limit=20)) == dict(await twins[1].pinned(name, limit=20))
            case _:
                candidates = dice.sample(names, dice.randint(1, 5))
                replacing = dice.choice([None, await twins[0].get(key), Pin(dice.choice(names), dice.randint(1, 4))])
                await twins[1].get(key)
                prefer = dice.choice([None, None, *names])
                demand = Demand(dice.choice([1, 7, 1_000, 8_000]), dice.choice(["", "one", "two"]))
                answers = [
                    await store.claim(key, candidates, replacing=replacing, demand=demand, prefer=prefer)
                    for store in twins
                ]
                assert answers[0] == answers[1]
    truth = [len(await twins[0].pinned(name, limit=99)) for name in names]
    assert truth == await sessions_at(twins[1], *names)
