"""The way of a turn: pin, place, claim, open, try elsewhere."""

import asyncio

import pytest

from router.domain.asks import Asks
from router.domain.chat_call import chat_call
from router.domain.exchange import ChatRequest, Message
from router.domain.fleet import AffinityKey, Health, Replica, ReplicaId
from router.domain.pin import Pin, PinDecision, PinnedLoad
from router.domain.pin_key import pin_key
from router.errors import (
    EngineBroke,
    EngineBusy,
    EngineError,
    EngineRejected,
    EngineTimedOut,
    EngineUnreachable,
    ModelUnknown,
    NoReplicaAvailable,
    PinStoreUnavailable,
)
from router.settings import RouterSettings
from router.tally import MoveReason, Takeover
from tests.support.fake_engine import WHOLE_REPLY
from tests.support.fragile_pins import FragilePins
from tests.support.rival_pins import RivalPins
from tests.support.router_house import KEY, MODEL, REQUEST, A, B, C, House, until

PIN_KEY = pin_key(MODEL, KEY)
EVERYBODY = (A, B, C)


def others(replica: ReplicaId) -> set[ReplicaId]:
    return {A, B, C} - {replica}


async def settled() -> tuple[House, ReplicaId]:
    """A house whose session has had a turn, and where."""
    house = House(settings=RouterSettings(max_attempts=3))
    home, decision, _ = await house.turn()
    assert decision is PinDecision.NEW
    return house, home


async def test_a_new_session_stays_where_its_first_turn_was() -> None:
    house, home = await settled()
    assert await house.turn() == (home, PinDecision.KEPT, list(WHOLE_REPLY))
    assert await house.router.pins(KEY) == {MODEL: Pin(home, 1)}
    assert house.is_idle()


async def test_sessions_spread_over_the_replicas() -> None:
    house = House()
    for number in range(30):
        await house.turn(AffinityKey(f"session-{number}"))
    loads = await house.router.loads()
    assert {replica: load.sessions for replica, load in loads.items()} == {A: 10, B: 10, C: 10}


async def test_a_session_whose_pin_was_lost_returns_to_the_replica_of_its_last_turn() -> None:
    for replica in EVERYBODY:
        assert (await House().turn(asks=Asks(prefer=replica)))[0] == replica


async def test_two_models_never_share_a_pin() -> None:
    replicas = [
        Replica(name, f"http://{name}", Health.READY, models=frozenset({model}))
        for name, model in ((A, "small"), (B, "large"))
    ]
    house = House(replicas=replicas)
    for model, home in (("small", A), ("large", B)):
        for decision in (PinDecision.NEW, PinDecision.KEPT):
            request = ChatRequest(model, REQUEST.messages, 16, 0.0, "", "r")
            assert (await house.turn(request=request))[:2] == (home, decision)
    assert await house.router.pins(KEY) == {"small": Pin(A, 1), "large": Pin(B, 1)}
    await house.router.end(KEY)
    assert await house.router.pins(KEY) == {}


async def test_a_session_whose_replica_is_down_moves() -> None:
    house, home = await settled()
    house.take_down(home)
    replica, decision, _ = await house.turn()
    assert (replica in others(home), decision) == (True, PinDecision.MOVED)
    assert await house.router.pins(KEY) == {MODEL: Pin(replica, 2)}
    assert (await house.router.loads())[home] == PinnedLoad()
    assert house.router.numbers().moves == {MoveReason.REPLICA_LOST: 1}


async def test_an_unreachable_replica_is_marked_down_and_the_turn_goes_elsewhere() -> None:
    house, home = await settled()
    house.fake.refuses(EngineUnreachable(home, "connection refused"))
    replica, decision, items = await house.turn()
    assert (replica in others(home), decision, items) == (True, PinDecision.MOVED, list(WHOLE_REPLY))
    down = house.router.fleet().get(home)
    assert down is not None
    assert (down.health, down.reason) == (Health.DOWN, "connection refused")
    assert house.router.numbers().moves == {MoveReason.TURN_FAILED: 1}


@pytest.mark.parametrize("kind", [EngineTimedOut, EngineBusy])
async def test_a_replica_that_refuses_is_left_without_being_marked_down(kind: type[EngineError]) -> None:
    house, home = await settled()
    house.fake.refuses(kind(home, "not now"))
    replica, decision, _ = await house.turn()
    assert (replica in others(home), decision) == (True, PinDecision.MOVED)
    assert len(house.router.fleet().ready) == 3


async def test_a_replica_that_failed_is_never_asked_again_in_the_same_turn() -> None:
    house = House(settings=RouterSettings(max_attempts=5))
    for replica in EVERYBODY:
        house.fake.refuses(EngineBusy(replica, "full"))
    with pytest.raises(EngineBusy) as caught:
        await house.turn()
    assert sorted(house.fake.asked) == [A, B, C]
    assert caught.value.replica == house.fake.asked[-1]
    assert house.is_idle()


async def test_no_more_replicas_are_asked_than_allowed() -> None:
    house = House(settings=RouterSettings(max_attempts=2))
    for replica in EVERYBODY:
        house.fake.refuses(EngineUnreachable(replica, "refused"))
    with pytest.raises(EngineUnreachable):
        await house.turn()
    assert len(house.fake.asked) == 2


async def test_a_wrong_request_is_not_sent_elsewhere() -> None:
    house, home = await settled()
    house.fake.refuses(EngineRejected(home, "too long", body=b"{}"))
    with pytest.raises(EngineRejected):
        await house.turn()
    assert house.fake.asked == [home, home]
    assert house.is_idle()


async def test_no_ready_replica_is_said_with_the_count_and_the_time_to_wait() -> None:
    house = House()
    house.take_down(A, B, C)
    with pytest.raises(NoReplicaAvailable) as caught:
        await house.turn()
    assert (caught.value.ready, caught.value.known, caught.value.retry_after_s) == (0, 3, 2.0)
    assert house.router.numbers().no_replica == 1


async def test_a_model_that_nobody_serves_is_unknown() -> None:
    request = ChatRequest("another", (Message("user", "hello"),), 16, 0.0, "", "r")
    with pytest.raises(ModelUnknown) as caught:
        await House().turn(request=request)
    assert caught.value.served == (MODEL,)
    unasked = Replica(A, "http://a", Health.UNKNOWN)
    served = Replica(B, "http://b", Health.READY, models=frozenset({MODEL}))
    with pytest.raises(NoReplicaAvailable):
        await House(replicas=[unasked, served]).turn(request=request)


async def test_a_replica_that_came_back_takes_sessions_again() -> None:
    house = House()
    house.take_down(A, B, C)
    house.fleet.change(B, health=Health.READY)
    assert (await house.turn())[0] == B


async def test_without_the_pin_store_a_session_keeps_coming_to_the_same_replica() -> None:
    house, home = await settled()
    house.fragile.broken = True
    for _ in range(2):
        assert (await house.turn())[:2] == (home, PinDecision.NONE)
    third = next(iter(others(home)))
    assert (await house.turn(asks=Asks(prefer=third)))[:2] == (third, PinDecision.NONE)
    numbers = house.router.numbers()
    assert (numbers.turns[PinDecision.NONE], numbers.pin_failures, numbers.pins_lost) == (3, 3, True)


async def test_without_the_pin_store_two_routers_send_an_unknown_session_to_the_same_replica() -> None:
    houses = [House(), House()]
    for house in houses:
        house.fragile.broken = True
    assert len({(await house.turn())[0] for house in houses}) == 1


async def test_a_session_returns_to_where_it_ran_while_the_pin_store_was_away() -> None:
    house = House()
    house.fragile.broken = True
    away = (await house.turn())[0]
    house.fragile.broken = False
    assert (await house.turn())[:2] == (away, PinDecision.NEW)
    assert (await house.turn())[:2] == (away, PinDecision.KEPT)


async def test_without_the_pin_store_a_failed_replica_is_left_too() -> None:
    house, home = await settled()
    house.fragile.broken = True
    house.fake.refuses(EngineUnreachable(home, "refused"))
    replica, decision, _ = await house.turn()
    assert (replica in others(home), decision) == (True, PinDecision.NONE)


async def test_without_the_pin_store_and_a_ready_replica_nothing_can_be_done() -> None:
    house = House()
    house.fragile.broken = True
    house.take_down(A, B, C)
    with pytest.raises(NoReplicaAvailable):
        await house.turn()


async def test_ending_a_session_frees_its_place_and_needs_no_pin_store() -> None:
    house, home = await settled()
    await house.router.end(KEY)
    assert (await house.router.loads())[home] == PinnedLoad()
    assert house.prompts.get(PIN_KEY) is None
    house.fragile.broken = True
    await house.router.end(KEY)
    with pytest.raises(PinStoreUnavailable):
        await house.router.loads()


async def test_decisions_tell_what_is_pinned_to_their_candidates() -> None:
    house, home = await settled()
    async with asyncio.TaskGroup() as group:
        watch = group.create_task(house.router.watch_loads())
        await until(lambda: not house.router._placing.has_claimed)
        watch.cancel()
    await house.turn(AffinityKey("another"))
    decision = await house.router.decision(REQUEST.request_id)
    assert decision is not None
    assert {each.replica: each.sessions for each in decision.candidates} == {A: 0, B: 0, C: 0} | {home: 1}


async def test_loads_that_nobody_can_tell_stop_no_watch() -> None:
    house, _ = await settled()
    house.fragile.broken = True
    async with asyncio.TaskGroup() as group:
        watch = group.create_task(house.router.watch_loads())
        await until(lambda: house.router.numbers().pin_failures > 0)
        assert not watch.done()
        watch.cancel()


async def test_the_pin_of_a_faster_router_is_obeyed() -> None:
    house = House(pins=RivalPins(C, times=1))
    assert (await house.turn())[0] == C
    assert await house.router.pins(KEY) == {MODEL: Pin(C, 1)}


async def test_the_pin_of_a_faster_router_is_replaced_when_its_replica_is_down() -> None:
    house = House(pins=RivalPins(C, times=1))
    house.take_down(C)
    replica = (await house.turn())[0]
    assert await house.router.pins(KEY) == {MODEL: Pin(replica, 2)}
    assert replica in (A, B)


async def test_two_routers_that_disagree_do_not_fight_for_ever() -> None:
    house = House(pins=RivalPins(C, times=1_000))
    house.take_down(C)
    with pytest.raises(NoReplicaAvailable):
        await house.turn()
    assert house.is_idle()


async def test_two_routers_that_place_one_session_at_once_agree() -> None:
    pins = FragilePins()
    houses = [House(pins=pins), House(pins=pins)]
    asks = [Asks(prefer=replica) for replica in (A, B)]
    places = await asyncio.gather(*(house.turn(asks=each) for house, each in zip(houses, asks, strict=True)))
    assert len({place[0] for place in places}) == 1


async def test_a_turn_that_is_left_early_gives_everything_back() -> None:
    house = House()
    async with house.router.turn(KEY, REQUEST) as routed:
        assert house.router.numbers().in_flight == {routed.replica: 1}
        assert house.in_flight.is_running(PIN_KEY)
        await anext(routed)
    assert house.is_idle()
    assert house.router.numbers().attempts == {(routed.replica, "cancelled"): 1}


@pytest.mark.parametrize("steps", range(16))
async def test_a_turn_cancelled_at_any_step_gives_everything_back(steps: int) -> None:
    house, home = await settled()
    house.fake.refuses(EngineBusy(home, "full"))
    task = asyncio.ensure_future(house.turn())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert house.is_idle()


async def test_a_thousand_turns_left_at_any_moment_leave_nothing_behind() -> None:
    house = House()
    for number in range(1_000):
        task = asyncio.ensure_future(house.turn(AffinityKey(f"session-{number % 50}")))
        for _ in range(number % 23):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
    assert house.is_idle()
    assert house.router.numbers().in_flight == {}


async def test_the_numbers_tell_what_happened() -> None:
    house, home = await settled()
    house.fake.refuses(EngineBusy(home, "full"))
    replica, _, _ = await house.turn()
    await house.turn()
    numbers = house.router.numbers()
    assert numbers.turns == {PinDecision.NEW: 1, PinDecision.MOVED: 1, PinDecision.KEPT: 1}
    assert numbers.attempts == {(home, "completed"): 1, (home, "EngineBusy"): 1, (replica, "completed"): 2}
    assert numbers.takeovers == {Takeover.ASKED_ANEW: 1}
    assert (numbers.retries, numbers.pin_failures, numbers.pins_lost, numbers.waiting) == (1, 0, False, 0)


async def test_the_decision_of_a_turn_can_be_asked_for() -> None:
    house, home = await settled()
    house.fake.refuses(EngineBusy(home, "full"))
    replica, _, _ = await house.turn()
    decision = await house.router.decision(REQUEST.request_id)
    assert decision is not None
    assert (decision.pin, decision.generation, decision.at) == (PinDecision.MOVED, 2, 1_000.0)
    assert [(attempt.replica, attempt.outcome) for attempt in decision.attempts] == [
        (home, "EngineBusy"),
        (replica, "completed"),
    ]
    assert await house.router.decision("unheard of") is None


async def test_a_prompt_is_computed_beforehand_where_the_session_is_pinned() -> None:
    house, home = await settled()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(house.prewarming.run())
        await asyncio.sleep(0)
        assert await house.router.prewarm_call(KEY, chat_call(REQUEST))
        await until(lambda: bool(house.tally.prewarms))
        running.cancel()
    assert house.fake.asked == [home, home]
    assert not house.fake.calls[-1].is_streamed
    assert house.is_idle()


async def test_a_prompt_is_not_computed_beforehand_where_that_helps_nobody() -> None:
    house = House()
    call = chat_call(REQUEST)
    assert not await house.router.prewarm_call(KEY, call), "it has no replica yet"
    home, _, _ = await house.turn()
    async with house.router.turn(KEY, REQUEST):
        assert not await house.router.prewarm_call(KEY, call), "its turn runs"
    house.fragile.broken = True
    await house.router.prewarm(KEY, REQUEST)
    house.fragile.broken = False
    house.take_down(home)
    assert not await house.router.prewarm_call(KEY, call)


async def test_a_broken_reply_that_may_not_be_continued_ends_with_the_error() -> None:
    house = House(settings=RouterSettings(continue_replies=False))
    for replica in EVERYBODY:
        house.fake.fails(replica, EngineBroke(replica, "cut off"), after_events=2)
    async with house.router.turn(KEY, REQUEST) as routed:
        await anext(routed)
        with pytest.raises(EngineBroke):
            await anext(routed)
    assert house.is_idle()
    assert len(house.fake.asked) == 1
