"""Sessions leave a draining replica: between two turns, warm while there is time."""

import asyncio
import json
from collections import Counter

from router.domain.asks import Asks
from router.domain.board import RouterId
from router.domain.chat_call import chat_call
from router.domain.fleet import AffinityKey, Health, ReplicaId
from router.domain.pin import Demand, Pin, PinDecision
from router.domain.pin_key import pin_key
from router.errors import EngineUnreachable
from router.mover import Moved
from router.settings import RouterSettings
from tests.support.drain_house import Routers, sessions, settled
from tests.support.eventually import eventually
from tests.support.router_house import KEY, MODEL, REQUEST, A, B, C

LIVES = (B, C)


async def pinned_at(routers: Routers, replica: ReplicaId, keys: list[AffinityKey]) -> list[AffinityKey]:
    found = [(key, await routers.pin(key)) for key in keys]
    return [key for key, pin in found if pin is not None and pin.replica == replica]


async def drain(routers: Routers, replica: ReplicaId, *, within_s: float = 100.0) -> None:
    await routers.hear()
    await routers.board.drain(replica, within_s=within_s)


async def drained_session(routers: Routers) -> ReplicaId:
    """The replica of `KEY`, which is being drained."""
    replica = (await routers.first.turn())[0]
    await drain(routers, replica)
    return replica


async def prewarm_begins(routers: Routers) -> None:
    """Return in the step in which the first request after one turn has reached an engine."""
    for _ in range(1_000):
        if len(routers.first.fake.calls) == 2:
            return
        await asyncio.sleep(0)
    raise AssertionError("nothing was sent")


async def test_idle_sessions_move_warm_and_their_next_turn_runs_where_it_was_warmed() -> None:
    routers = Routers("r1")
    keys = sessions(30)
    await routers.first.has_turns(keys)
    moving = await pinned_at(routers, A, keys)
    staying = {key: await routers.pin(key) for key in keys if key not in moving}
    assert len(moving) == 10
    turns_asked = len(routers.first.fake.calls)
    await drain(routers, A)
    async with routers.running():
        await routers.hear_until_empty(A)
    assert routers.first.mover.moved == {Moved.WARM: 10}
    prewarms = routers.first.fake.calls[turns_asked:]
    assert all(json.loads(call.body)["max_tokens"] == 1 for call in prewarms)
    warmed = Counter(routers.first.fake.asked[turns_asked:])
    assert warmed == {B: 5, C: 5}
    assert {key: await routers.pin(key) for key in staying} == staying
    for key in moving:
        pin = await routers.pin(key)
        assert pin is not None
        assert (await routers.first.turn(key))[:2] == (pin.replica, PinDecision.KEPT)
    assert routers.first.is_idle()


async def test_a_session_in_a_turn_moves_after_it() -> None:
    routers = Routers("r1")
    await routers.first.turn()
    async with routers.running():
        async with routers.first.router.turn(KEY, REQUEST) as stream:
            await drain(routers, stream.replica)
            for _ in range(5):
                await routers.hear()
                await asyncio.sleep(0)
            assert await routers.left_at(stream.replica) == 1
            replica = stream.replica
            assert [item async for item in stream]
        await routers.hear_until_empty(replica)
    assert routers.first.mover.moved == {Moved.WARM: 1}


async def test_a_turn_that_is_faster_than_its_prewarm_runs_where_it_was_and_moves_after_it() -> None:
    routers = Routers("r1")
    replica = await drained_session(routers)
    others = {A, B, C} - {replica}
    async with routers.running():
        routers.first.fake.frozen = set(others)
        await routers.hear()
        await eventually(lambda: routers.first.fake.asked[-1] in others)
        assert (await routers.first.turn())[:2] == (replica, PinDecision.KEPT)
        assert routers.first.mover.moved == {}
        routers.first.fake.heal()
        await routers.hear_until_empty(replica)
    assert routers.first.mover.moved == {Moved.WARM: 1}


async def test_what_no_router_remembers_moves_once_half_of_the_time_is_over() -> None:
    routers = Routers("r1", "r2", "r3")
    await routers.first.has_turns(sessions(30))
    dead = routers.houses.pop(0)
    await drain(routers, A)
    async with routers.running():
        await routers.hear(after_s=49.0)
        await asyncio.sleep(0)
        assert await routers.left_at(A) == 10
        await routers.hear(after_s=1.0)
        await routers.hear_until_empty(A)
    moved = [house.mover.moved.get(Moved.COLD, 0) for house in routers.houses]
    assert (sum(moved), dead.mover.moved) == (10, {})
    assert all(moved), "each has moved some"
    assert all(not house.fake.calls for house in routers.houses)


async def test_past_the_deadline_one_router_moves_all_that_is_left_at_once() -> None:
    routers = Routers("r1", "r2")
    await routers.first.has_turns(sessions(900))
    del routers.houses[0]
    await drain(routers, A)
    async with routers.running():
        routers.clock.now += 100.0
        await routers.hear()
        await eventually(lambda: routers.first.mover.moved.get(Moved.COLD, 0) == 300)
    loads = await routers.pins.loads([A, B, C])
    assert [loads[each].sessions for each in (A, B, C)] == [0, 450, 450]


async def test_past_the_deadline_running_turns_are_handed_over() -> None:
    routers = Routers("r1")
    await routers.first.turn()
    async with routers.running(), routers.first.router.turn(KEY, REQUEST) as stream:
        before = stream.replica
        await anext(stream)
        await drain(routers, before)
        await routers.hear(after_s=200.0)
        await asyncio.sleep(0)
        text = "".join([getattr(item, "text", "") async for item in stream])
        assert text == "day, what can I do for you?"
        assert (stream.replica != before, stream.continued) == (True, 1)
    pin = await routers.pin(KEY)
    assert pin is not None
    assert pin.replica != before


async def test_a_prewarm_that_fails_is_tried_again_while_there_is_time() -> None:
    routers = Routers("r1")
    replica = await drained_session(routers)
    for other in {A, B, C} - {replica}:
        routers.first.fake.refuses(EngineUnreachable(other, "refused"))
    async with routers.running():
        for _ in range(5):
            await routers.hear()
            await settled()
        assert await routers.left_at(replica) == 1
        routers.first.fake.heal()
        await routers.hear_until_empty(replica)
    assert routers.first.mover.moved == {Moved.WARM: 1}


async def test_in_the_second_half_a_session_whose_prewarm_fails_moves_cold() -> None:
    routers = Routers("r1")
    replica = await drained_session(routers)
    for other in {A, B, C} - {replica}:
        routers.first.fake.refuses(EngineUnreachable(other, "refused"))
    async with routers.running():
        await routers.hear(after_s=60.0)
        await routers.hear_until_empty(replica)
    assert routers.first.mover.moved == {Moved.COLD: 1}


async def test_without_prewarming_sessions_move_cold_at_once() -> None:
    routers = Routers("r1", settings=RouterSettings(prewarm_share=0.0))
    replica = await drained_session(routers)
    async with routers.running():
        await routers.hear_until_empty(replica)
    assert routers.first.mover.moved == {Moved.COLD: 1}


async def test_an_undone_drain_leaves_everybody_where_they_are() -> None:
    routers = Routers("r1")
    replica = await drained_session(routers)
    others = {A, B, C} - {replica}
    async with routers.running():
        routers.first.fake.frozen = set(others)
        await routers.hear()
        await eventually(lambda: routers.first.fake.asked[-1] in others)
        await routers.board.drain(replica, within_s=None)
        await routers.hear()
        routers.first.fake.heal()
        routers.first.prewarming.drop(pin_key(MODEL, KEY))
        await routers.hear()
    assert await routers.left_at(replica) == 1
    assert (await routers.first.turn())[:2] == (replica, PinDecision.KEPT)


async def test_a_prewarm_that_ends_after_the_drain_was_undone_moves_nobody() -> None:
    routers = Routers("r1")
    replica = await drained_session(routers)
    async with routers.running():
        routers.first.mover.saw(await routers.board.read())
        await prewarm_begins(routers)
        await routers.board.drain(replica, within_s=None)
        routers.first.mover.saw(await routers.board.read())
        await eventually(lambda: routers.first.tally.prewarms.total() == 1)
    assert (await routers.left_at(replica), routers.first.mover.moved) == (1, {})


async def test_without_another_replica_sessions_stay() -> None:
    routers = Routers("r1")
    replica = await drained_session(routers)
    for other in {A, B, C} - {replica}:
        routers.first.fleet.change(other, health=Health.DOWN)
    async with routers.running():
        await routers.hear(after_s=500.0)
        await settled()
        assert await routers.left_at(replica) == 1
        assert (await routers.first.turn())[0] == replica


async def test_a_target_that_is_lost_meanwhile_gets_nobody() -> None:
    routers = Routers("r1")
    replica = await drained_session(routers)
    others = {A, B, C} - {replica}
    async with routers.running():
        routers.first.fake.frozen = set(others)
        await routers.hear()
        await eventually(lambda: routers.first.fake.asked[-1] in others)
        target = routers.first.fake.asked[-1]
        routers.first.fake.heal()
        routers.first.prewarming.drop(pin_key(MODEL, KEY))
        routers.first.fleet.change(target, health=Health.DOWN)
        await routers.hear_until_empty(replica)
    pin = await routers.pin(KEY)
    assert pin is not None
    assert pin.replica in others - {target}


async def test_a_session_that_ended_meanwhile_does_not_come_back() -> None:
    routers = Routers("r1")
    replica = await drained_session(routers)
    async with routers.running():
        await routers.hear()
        await prewarm_begins(routers)
        await routers.pins.end(pin_key(MODEL, KEY))  # by way of another router
        await eventually(lambda: routers.first.tally.prewarms.total() == 1)
        await settled()
    assert await routers.pin(KEY) is None
    assert (await routers.left_at(replica), routers.first.mover.moved) == (0, {})


async def test_while_the_pin_store_is_away_nothing_moves_and_afterwards_all_does() -> None:
    routers = Routers("r1")
    replica = await drained_session(routers)
    async with routers.running():
        routers.pins.broken = True
        await routers.hear()
        await settled()
        routers.pins.broken = False
        await routers.hear()
        await asyncio.sleep(0)
        routers.pins.broken = True
        await settled()
        routers.pins.broken = False
        await routers.hear_until_empty(replica)
    assert routers.first.mover.moved == {Moved.WARM: 1}


async def test_what_a_router_remembers_is_found_behind_many_that_it_does_not() -> None:
    routers = Routers("r1")
    for number in range(600):
        key = pin_key(MODEL, AffinityKey(f"other-{number}"))
        await routers.pins.claim(key, [A], replacing=None, demand=Demand())
    await routers.first.turn(asks=Asks(prefer=A))
    await drain(routers, A)
    async with routers.running():
        await routers.hear()
        await eventually(lambda: routers.first.mover.moved == {Moved.WARM: 1})
    assert await routers.left_at(A) == 600


async def test_a_session_takes_along_what_it_asked_for_and_one_that_nobody_knows_the_mean() -> None:
    routers = Routers("r1")
    await routers.first.turn(asks=Asks(demand=Demand(3_000), prefer=A))
    other = pin_key(MODEL, AffinityKey("other"))
    await routers.pins.claim(other, [A], replacing=None, demand=Demand(1_000))
    await drain(routers, A)
    async with routers.running():
        await routers.hear()
        await eventually(lambda: routers.first.mover.moved == {Moved.WARM: 1})
        await routers.hear(after_s=60.0)
        await routers.hear_until_empty(A)
    loads = await routers.pins.loads(LIVES)
    assert sorted(load.kv_tokens for load in loads.values()) == [1_000, 3_000]


async def test_two_pools_do_not_mix() -> None:
    routers = Routers("r1")
    key = pin_key("another model", KEY)
    await routers.pins.claim(key, [A], replacing=None, demand=Demand())
    await drain(routers, A)
    async with routers.running():
        await routers.hear(after_s=500.0)
        await settled()
    assert await routers.pins.get(key) == Pin(A, 1)


async def test_a_router_that_knows_a_later_prompt_prewarms_it_where_another_one_has_moved_the_session() -> None:
    routers = Routers("r1", "r2")
    await routers.houses[1].turn()  # the earlier turn
    async with routers.running():
        async with routers.first.router.turn(KEY, REQUEST) as stream:
            replica = stream.replica
            routers.first.prompts.remember(pin_key(MODEL, KEY), chat_call(REQUEST), None, replica)
            await drain(routers, replica)
            await routers.hear_until_empty(replica)
            await routers.hear()
            await settled()
            assert len(routers.first.fake.calls) == 1
            assert [item async for item in stream]
        await routers.hear()
        await eventually(lambda: len(routers.first.fake.calls) == 2)
    assert routers.houses[1].mover.moved == {Moved.WARM: 1}
    pin = await routers.pin(KEY)
    assert pin is not None
    assert routers.first.fake.asked == [replica, pin.replica]
    assert routers.first.fake.calls[1].request_id == f"prewarm-{REQUEST.request_id}"


async def test_a_session_that_was_gone_before_this_router_looked_is_followed_too() -> None:
    routers = Routers("r1", "r2")
    replica = (await routers.first.turn())[0]
    pinned = pin_key(MODEL, KEY)
    call = routers.first.prompts.get(pinned)
    assert call is not None
    routers.first.prompts.remember(pinned, call, None, replica)
    pin = await routers.pins.get(pinned)
    other = next(iter({A, B, C} - {replica}))
    await drain(routers, replica)
    await routers.pins.claim(pinned, [other], replacing=pin, demand=Demand())
    async with routers.running():
        await routers.hear()
        await eventually(lambda: len(routers.first.fake.calls) == 2)
    assert routers.first.fake.asked == [replica, other]


async def test_a_session_that_left_by_its_end_or_stays_after_an_undone_drain_is_not_followed() -> None:
    routers = Routers("r1", settings=RouterSettings(prewarm_share=0.25))
    replica = await drained_session(routers)
    others = {A, B, C} - {replica}
    async with routers.running():
        routers.first.fake.frozen = set(others)
        await routers.hear()
        await eventually(lambda: len(routers.first.fake.calls) == 2)
        await routers.board.drain(replica, within_s=None)
        await routers.hear()
        await settled()
        await routers.board.drain(replica, within_s=100.0)
        await routers.hear()
        await settled()
        await routers.pins.end(pin_key(MODEL, KEY))
        await routers.hear()
        await settled()
    assert len(routers.first.fake.calls) == 2


async def test_two_routers_at_once_move_each_session_once() -> None:
    routers = Routers("r1", "r2")
    keys = sessions(30)
    for house in routers.houses:
        await house.has_turns(keys)
    await drain(routers, A)
    async with routers.running():
        await routers.hear_until_empty(A)
    assert sum(sum(house.mover.moved.values()) for house in routers.houses) == 10
    pins = [await routers.pin(key) for key in keys]
    assert Counter(pin.generation for pin in pins if pin is not None) == {1: 20, 2: 10}
    assert routers.houses[1].name == RouterId("r2")


async def test_routers_that_move_at_once_do_not_all_take_the_same_room() -> None:
    routers = Routers("one", "two", "three")
    for number, house in enumerate(routers.houses):
        for key in sessions(24)[number::3]:
            await house.turn(key, asks=Asks(prefer=A))
    for number in range(8):
        await routers.first.turn(AffinityKey(f"of-c-{number}"), asks=Asks(prefer=C))
    async with routers.running():
        await routers.board.drain(A, within_s=60.0)
        await routers.hear_until_empty(A)
    loads = await routers.pins.loads([B, C])
    assert [loads[each].sessions for each in (B, C)] == [16, 16]
