"""Calls of a session that are no turns: they use its pin, leave it and its turns alone, and give way to all turns."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from router.carrying import Carried
from router.domain.asks import Asks, Ticket
from router.domain.chat_call import chat_call
from router.domain.fleet import AffinityKey, Health, ReplicaId
from router.domain.pin import Pin, PinDecision
from router.domain.pin_key import pin_key
from router.errors import EngineBroke, EngineBusy, EngineTimedOut, NoRoom
from router.settings import RouterSettings
from tests.support.fake_engine import WHOLE_REPLY
from tests.support.router_house import KEY, MODEL, REQUEST, A, B, C, House, until

NOTE = replace(REQUEST, request_id="note-1", priority=1)
BATCH = Asks(ticket=Ticket(priority=1))
PINNED = pin_key(MODEL, KEY)


def small(**fields: object) -> RouterSettings:
    """One call at a replica at a time, and little patience."""
    return RouterSettings.model_validate({"max_in_flight": 1, "queue_timeout_s": 0.05, **fields})


async def settled(settings: RouterSettings | None = None) -> tuple[House, ReplicaId]:
    """A house whose session has had a turn, and where."""
    house = House(settings=settings)
    return house, (await house.turn())[0]


@dataclass(frozen=True, slots=True)
class Full:
    """A house that has no room left at any replica, and whose sessions wait."""

    house: House
    home: ReplicaId
    running: list[Carried]
    served: list[str] = field(default_factory=list)

    async def play(self, name: str, key: AffinityKey, asks: Asks) -> None:
        await self.house.turn(key, asks=asks)
        self.served.append(name)

    def make_room(self) -> None:
        next(each for each in self.running if each.replica == self.home).close()

    def is_idle_in_the_end(self) -> bool:
        for each in self.running:
            each.close()
        return self.house.is_idle()


async def filled() -> Full:
    house, home = await settled(small(queue_timeout_s=10))
    running = [
        await house.router.carry(chat_call(REQUEST), session=AffinityKey(f"at-{name}"), asks=Asks(prefer=name))
        for name in (A, B, C)
    ]
    return Full(house, home, running)


async def why(house: House) -> list[str]:
    decision = await house.router.decision(NOTE.request_id)
    assert decision is not None
    return [each.why for each in decision.attempts]


async def test_it_runs_where_its_session_is_pinned_and_is_counted_apart() -> None:
    house, home = await settled()
    assert await house.turn(request=NOTE) == (home, PinDecision.KEPT, list(WHOLE_REPLY))
    numbers = house.router.numbers()
    assert (numbers.background, numbers.turns) == (1, {PinDecision.NEW: 1})
    assert house.is_idle()


async def test_it_is_no_turn_of_its_session() -> None:
    house, home = await settled()
    async with house.router.turn(KEY, NOTE):
        assert not house.in_flight.is_running(PINNED)
        assert house.in_flight.counts() == {home: 1}, "a drain waits for it all the same"
    remembered = house.prompts.get(PINNED)
    assert remembered is not None
    assert remembered.request_id == REQUEST.request_id


async def test_it_cuts_no_prewarm_off() -> None:
    house, home = await settled()
    house.fake.frozen.add(home)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(house.prewarming.run())
        await asyncio.sleep(0)
        await house.router.prewarm(KEY, REQUEST)
        await until(lambda: len(house.fake.asked) == 2)
        for _ in range(3):
            await asyncio.sleep(0)  # until the prewarm is stuck there
        house.fake.frozen.clear()
        await house.turn(request=NOTE)
        assert not house.tally.prewarms
        await house.turn()
        await until(lambda: bool(house.tally.prewarms))
        running.cancel()


async def test_it_pins_no_session_and_goes_where_that_was() -> None:
    house = House()
    assert (await house.turn(request=NOTE))[1] is PinDecision.NONE
    assert await why(house) == ["background: its session has no replica that can take it"]
    assert (await house.turn(request=NOTE, asks=Asks(prefer=C)))[0] == C
    assert await house.router.pins(KEY) == {}
    house, home = await settled()
    await house.pins.end(PINNED)
    for _ in range(3):
        assert (await house.turn(request=NOTE))[0] == home


async def test_it_waits_for_its_replica_moves_no_session_and_is_refused_in_the_end() -> None:
    house, home = await settled(small())
    other = await house.router.carry(chat_call(REQUEST), session=AffinityKey("other"), asks=Asks(prefer=home))
    with pytest.raises(NoRoom):
        await house.turn(request=NOTE)
    assert await house.router.pins(KEY) == {MODEL: Pin(home, 1)}
    assert (house.tally.no_room, house.tally.moves) == (1, {})
    other.close()
    assert (await house.turn(request=NOTE))[:2] == (home, PinDecision.KEPT)
    assert house.is_idle()


async def test_turns_that_wait_go_first() -> None:
    full = await filled()
    async with asyncio.TaskGroup() as group:
        group.create_task(full.play("background", KEY, BATCH))
        await until(lambda: full.house.room.length == 1)
        for number in range(2):
            group.create_task(full.play("turn", AffinityKey(f"new-{number}"), Asks()))
            await until(lambda n=number: full.house.room.length == n + 2)  # type: ignore[misc]
        full.make_room()
    assert full.served == ["turn", "turn", "background"]
    assert full.is_idle_in_the_end()


async def test_it_does_not_pass_by_turns_that_are_just_being_called() -> None:
    full = await filled()
    async with asyncio.TaskGroup() as group:
        group.create_task(full.play("turn", AffinityKey("new"), Asks()))
        await until(lambda: full.house.room.length == 1)
        full.make_room()
        group.create_task(full.play("background", KEY, BATCH))
    assert full.served == ["turn", "background"]
    assert full.is_idle_in_the_end()


async def test_where_its_replica_fails_it_it_goes_elsewhere_without_its_session() -> None:
    house, home = await settled()
    house.fake.refuses(EngineBusy(home, "broken"))
    replica, pin, items = await house.turn(request=NOTE)
    assert (replica != home, pin, items) == (True, PinDecision.NONE, list(WHOLE_REPLY))
    house.fake.heal()
    assert (await house.turn())[:2] == (home, PinDecision.KEPT)


async def test_a_reply_that_breaks_off_is_continued_elsewhere_without_its_session() -> None:
    house, home = await settled()
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=3)
    replica, _, items = await house.turn(request=NOTE)
    assert (replica != home, "".join(getattr(each, "text", "") for each in items)) == (
        True,
        "".join(getattr(each, "text", "") for each in WHOLE_REPLY),
    )
    assert await house.router.pins(KEY) == {MODEL: Pin(home, 1)}


@pytest.mark.parametrize("fields", [{"health": Health.DOWN}, {"id": ReplicaId("another")}], ids=["down", "left"])
async def test_away_from_a_replica_that_is_gone_it_moves_its_session_as_the_next_turn_would(
    fields: dict[str, object],
) -> None:
    house, home = await settled()
    house.fleet.change(home, **fields)
    replica, decision, _ = await house.turn(request=NOTE)
    assert (replica != home, decision) == (True, PinDecision.MOVED)
    assert (await house.turn())[:2] == (replica, PinDecision.KEPT)


async def test_an_engine_that_leaves_it_waiting_is_not_thought_broken() -> None:
    house, home = await settled(RouterSettings(breaker_failures=1))
    house.fake.refuses(EngineTimedOut(home, "silent"))
    await house.turn(request=NOTE)
    assert not house.router.numbers().breakers_open
    await house.turn()
    assert house.router.numbers().breakers_open == {home}


@pytest.mark.parametrize("is_on", [True, False])
async def test_the_engine_is_told_where_it_goes_by_priorities(is_on: bool) -> None:
    house = House(settings=RouterSettings(engine_priority=is_on))
    await house.turn()
    await house.turn(request=NOTE)
    await house.turn(asks=BATCH)
    told = [dict(call.headers).get("X-Vllm-Priority") for call in house.fake.calls]
    assert told == [None, *(["1", "1"] if is_on else [None, None])]
    assert {call.body for call in house.fake.calls} == {house.fake.calls[0].body}


async def test_without_the_pin_store_it_goes_where_its_session_would() -> None:
    house, home = await settled()
    house.fragile.broken = True
    assert (await house.turn(request=NOTE))[:2] == (home, PinDecision.NONE)
