"""The way of a turn: pin, place, claim, open, try elsewhere."""

import asyncio
from collections.abc import Sequence

import pytest
from typing_extensions import override

from router.adapters.static_fleet import StaticFleet
from router.domain.exchange import ChatRequest, Message, StreamItem, TextPiece
from router.domain.fleet import AffinityKey, Health, Replica, ReplicaId
from router.domain.health import Observation
from router.domain.pin import Pin, PinDecision
from router.domain.rendezvous import rank
from router.errors import (
    EngineBroke,
    EngineBusy,
    EngineError,
    EngineRejected,
    EngineTimedOut,
    EngineUnreachable,
    NoReplicaAvailable,
    PinStoreUnavailable,
)
from router.ports import PinStore
from router.service import Router
from router.settings import RouterSettings
from tests.support.fake_engine import WHOLE_REPLY, FakeEngine
from tests.support.fragile_pins import FragilePins

KEY = AffinityKey("session-1")
A, B, C = ReplicaId("a"), ReplicaId("b"), ReplicaId("c")
FIRST, SECOND, THIRD = rank(KEY, [A, B, C])
REQUEST = ChatRequest("smollm2", (Message("user", "hello"),), 16, 0.0, "tenant-1", "request-1")


class House:
    """A router over three ready replicas, and all it stands on."""

    def __init__(self, *, pins: PinStore | None = None, max_attempts: int = 2) -> None:
        self.fleet = StaticFleet(replicas=[Replica(name, f"http://{name}", Health.READY) for name in (A, B, C)])
        self.engine = FakeEngine()
        self.fragile = FragilePins()
        self.pins = self.fragile if pins is None else pins
        settings = RouterSettings(max_attempts=max_attempts)
        self.router = Router(pins=self.pins, fleet=self.fleet, engine=self.engine, settings=settings)

    async def turn(
        self, key: AffinityKey = KEY, *, prefer: ReplicaId | None = None
    ) -> tuple[ReplicaId, PinDecision, Sequence[StreamItem]]:
        async with self.router.turn(key, REQUEST, prefer=prefer) as routed:
            items = [item async for item in routed]
            return routed.replica, routed.pin, items

    def take_down(self, *replicas: ReplicaId) -> None:
        for replica in replicas:
            self.fleet.saw_failure(replica, "taken down")


async def test_a_new_session_goes_to_its_favourite_and_stays_there() -> None:
    house = House()
    assert await house.turn() == (FIRST, PinDecision.NEW, list(WHOLE_REPLY))
    assert await house.turn() == (FIRST, PinDecision.KEPT, list(WHOLE_REPLY))
    assert await house.pins.get(KEY) == Pin(FIRST, 1)


async def test_sessions_spread_over_the_replicas() -> None:
    house = House()
    for number in range(30):
        await house.turn(AffinityKey(f"session-{number}"))
    assert await house.router.sessions() == {A: 10, B: 10, C: 10}


async def test_a_session_whose_pin_was_lost_returns_to_the_replica_of_its_last_turn() -> None:
    for replica in (A, B, C):
        assert (await House().turn(prefer=replica))[0] == replica


async def test_a_session_whose_replica_is_down_moves() -> None:
    house = House()
    await house.turn()
    house.take_down(FIRST)
    assert (await house.turn())[:2] == (SECOND, PinDecision.MOVED)
    assert await house.pins.get(KEY) == Pin(SECOND, 2)
    assert await house.router.sessions() == {FIRST: 0, SECOND: 1, THIRD: 0}


async def test_an_unreachable_replica_is_marked_down_and_the_turn_goes_elsewhere() -> None:
    house = House()
    await house.turn()
    house.engine.refuses(EngineUnreachable(FIRST, "connection refused"))
    assert (await house.turn())[:2] == (SECOND, PinDecision.MOVED)
    down = house.router.fleet().get(FIRST)
    assert down is not None
    assert (down.health, down.reason) == (Health.DOWN, "connection refused")


@pytest.mark.parametrize("kind", [EngineTimedOut, EngineBusy])
async def test_a_replica_that_refuses_is_left_without_being_marked_down(kind: type[EngineError]) -> None:
    house = House()
    house.engine.refuses(kind(FIRST, "not now"))
    assert (await house.turn())[:2] == (SECOND, PinDecision.MOVED)
    assert len(house.router.fleet().ready) == 3


@pytest.mark.parametrize("kind", [EngineBroke, EngineTimedOut])
async def test_a_stream_that_fails_before_its_first_item_is_asked_for_elsewhere(kind: type[EngineError]) -> None:
    house = House()
    house.engine.streams(FIRST, kind(FIRST, "died"))
    assert await house.turn() == (SECOND, PinDecision.MOVED, list(WHOLE_REPLY))
    assert house.engine.open == 0


async def test_a_replica_that_failed_is_never_asked_again_in_the_same_turn() -> None:
    house = House(max_attempts=5)
    for replica in (A, B, C):
        house.engine.refuses(EngineBusy(replica, "full"))
    with pytest.raises(EngineBusy) as caught:
        await house.turn()
    assert house.engine.asked == [FIRST, SECOND, THIRD]
    assert caught.value.replica == THIRD


async def test_no_more_replicas_are_asked_than_allowed() -> None:
    house = House(max_attempts=2)
    for replica in (A, B, C):
        house.engine.refuses(EngineUnreachable(replica, "refused"))
    with pytest.raises(EngineUnreachable):
        await house.turn()
    assert len(house.engine.asked) == 2


async def test_a_wrong_request_is_not_sent_elsewhere() -> None:
    house = House()
    house.engine.refuses(EngineRejected(FIRST, "too long"))
    with pytest.raises(EngineRejected):
        await house.turn()
    assert house.engine.asked == [FIRST]


async def test_a_reply_that_breaks_after_its_first_item_ends_with_the_error() -> None:
    house = House()
    house.engine.streams(FIRST, TextPiece("Good"), EngineBroke(FIRST, "cut off"))
    async with house.router.turn(KEY, REQUEST) as routed:
        assert await anext(routed) == TextPiece("Good")
        with pytest.raises(EngineBroke):
            await anext(routed)
    assert house.engine.asked == [FIRST]
    assert (house.engine.open, house.router.numbers().in_flight) == (0, {})


async def test_no_ready_replica_is_said_with_the_count_and_the_time_to_wait() -> None:
    house = House()
    house.take_down(A, B, C)
    with pytest.raises(NoReplicaAvailable) as caught:
        await house.turn()
    assert (caught.value.ready, caught.value.known, caught.value.retry_after_s) == (0, 3, 2.0)


async def test_a_replica_that_came_back_takes_sessions_again() -> None:
    house = House()
    house.take_down(A, B, C)
    house.fleet.observe(B, Observation.ACCEPTED)
    assert (await house.turn())[0] == B


async def test_without_the_pin_store_a_session_keeps_coming_to_the_same_replica() -> None:
    house = House()
    house.fragile.broken = True
    assert (await house.turn())[:2] == (FIRST, PinDecision.NONE)
    assert (await house.turn())[:2] == (FIRST, PinDecision.NONE)
    assert (await house.turn(prefer=THIRD))[:2] == (THIRD, PinDecision.NONE)
    numbers = house.router.numbers()
    assert (numbers.turns, numbers.pin_failures, numbers.pins_lost) == ({PinDecision.NONE: 3}, 3, True)


async def test_without_the_pin_store_a_failed_replica_is_left_too() -> None:
    house = House()
    house.fragile.broken = True
    house.engine.refuses(EngineUnreachable(FIRST, "refused"))
    assert (await house.turn())[:2] == (SECOND, PinDecision.NONE)


async def test_without_the_pin_store_and_a_ready_replica_nothing_can_be_done() -> None:
    house = House()
    house.fragile.broken = True
    house.take_down(A, B, C)
    with pytest.raises(NoReplicaAvailable):
        await house.turn()


async def test_ending_a_session_frees_its_place_and_needs_no_pin_store() -> None:
    house = House()
    await house.turn()
    await house.router.end(KEY)
    assert await house.router.sessions() == {A: 0, B: 0, C: 0}
    house.fragile.broken = True
    await house.router.end(KEY)
    with pytest.raises(PinStoreUnavailable):
        await house.router.sessions()


class RivalPins(FragilePins):
    """Another router is always one step ahead, and pins to a replica that this one sees as down."""

    def __init__(self, rival: ReplicaId, *, times: int) -> None:
        super().__init__()
        self._rival = rival
        self._times = times

    @override
    async def claim(
        self,
        key: AffinityKey,
        candidates: Sequence[ReplicaId],
        *,
        replacing: Pin | None,
        prefer: ReplicaId | None = None,
    ) -> Pin:
        if self._times:
            self._times -= 1
            await super().claim(key, [self._rival], replacing=replacing)
        return await super().claim(key, candidates, replacing=replacing, prefer=prefer)


async def test_the_pin_of_a_faster_router_is_obeyed() -> None:
    house = House(pins=RivalPins(THIRD, times=1))
    assert (await house.turn())[0] == THIRD
    assert await house.pins.get(KEY) == Pin(THIRD, 1)


async def test_the_pin_of_a_faster_router_is_replaced_when_its_replica_is_down() -> None:
    house = House(pins=RivalPins(THIRD, times=1))
    house.take_down(THIRD)
    assert (await house.turn())[:2] == (FIRST, PinDecision.MOVED)
    assert await house.pins.get(KEY) == Pin(FIRST, 2)


async def test_two_routers_that_disagree_do_not_fight_for_ever() -> None:
    house = House(pins=RivalPins(THIRD, times=1_000))
    house.take_down(THIRD)
    with pytest.raises(NoReplicaAvailable):
        await house.turn()


async def test_two_routers_that_place_one_session_at_once_agree() -> None:
    pins = FragilePins()
    houses = [House(pins=pins), House(pins=pins)]
    places = await asyncio.gather(*(house.turn(prefer=prefer) for house, prefer in zip(houses, (A, B), strict=True)))
    assert len({place[0] for place in places}) == 1


async def test_a_turn_that_is_left_early_gives_everything_back() -> None:
    house = House()
    async with house.router.turn(KEY, REQUEST) as routed:
        assert house.router.numbers().in_flight == {routed.replica: 1}
        await anext(routed)
    assert (house.engine.open, house.router.numbers().in_flight) == (0, {})


async def test_a_turn_cancelled_while_it_waits_for_the_first_token_gives_everything_back() -> None:
    house = House()
    house.engine.frozen = {A, B, C}
    task = asyncio.ensure_future(house.turn())
    for _ in range(20):
        await asyncio.sleep(0)
    assert house.engine.open == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (house.engine.open, house.router.numbers().in_flight) == (0, {})


@pytest.mark.parametrize("steps", range(12))
async def test_a_turn_cancelled_at_any_step_gives_everything_back(steps: int) -> None:
    house = House()
    house.engine.refuses(EngineBusy(FIRST, "full"))
    task = asyncio.ensure_future(house.turn())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert (house.engine.open, house.router.numbers().in_flight) == (0, {})


async def test_the_numbers_tell_what_happened() -> None:
    house = House()
    house.engine.refuses(EngineBusy(FIRST, "full"))
    await house.turn()
    await house.turn()
    numbers = house.router.numbers()
    assert numbers.turns == {PinDecision.MOVED: 1, PinDecision.KEPT: 1}
    assert numbers.failures == {(FIRST, "EngineBusy"): 1}
    assert (numbers.retries, numbers.pin_failures, numbers.pins_lost) == (1, 0, False)
