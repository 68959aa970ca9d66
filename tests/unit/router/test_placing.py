"""Where a turn goes when there is room, when there is little, and when there is none."""

import asyncio
from collections import Counter

import pytest

from router.carrying import Carried
from router.domain.asks import Asks, Ticket
from router.domain.chat_call import chat_call
from router.domain.decision import Candidate
from router.domain.engine_metrics import EngineMetrics
from router.domain.fleet import AffinityKey, Health, Replica, ReplicaId
from router.domain.pin import Demand, PinDecision, PinMode
from router.domain.pin_key import pin_key
from router.errors import EngineBusy, NoReplicaAvailable, NoRoom
from router.settings import RouterSettings
from router.tally import MoveReason
from tests.support.rival_pins import SlowPins
from tests.support.router_house import KEY, MODEL, REQUEST, A, B, C, House, three_replicas, until

CALL = chat_call(REQUEST)
HARD = Asks(mode=PinMode.HARD)
PINNED = pin_key(MODEL, KEY)


def small(**fields: object) -> RouterSettings:
    """One turn at a replica at a time, and little patience."""
    return RouterSettings.model_validate({"max_in_flight": 1, "queue_timeout_s": 0.05, **fields})


async def held(house: House, *names: str, asks: Asks | None = None) -> list[Carried]:
    """Turns of these sessions, still running."""
    return [
        await house.router.carry(CALL, session=AffinityKey(name), asks=Asks() if asks is None else asks)
        for name in names
    ]


async def waiting(house: House, count: int) -> None:
    await until(lambda: house.room.length >= count)


async def test_requests_without_a_session_take_turns_and_then_go_where_the_fewest_are() -> None:
    house = House()
    one_by_one = [await house.router.carry(CALL, session=None) for _ in range(6)]
    assert Counter(each.replica for each in one_by_one) == {A: 2, B: 2, C: 2}
    assert {each.pin for each in one_by_one} == {PinDecision.NONE}
    for each in one_by_one:
        if each.replica != C:
            each.close()
    house.book.saw_metrics(A, EngineMetrics(running=5, waiting=0))
    assert (await house.router.carry(CALL, session=None)).replica == B
    for _ in range(9):
        (await house.router.carry(CALL, session=None)).close()
    assert house.tally.unpinned == 16


async def test_a_request_without_a_session_waits_too_and_is_refused_in_the_end() -> None:
    house = House(settings=small())
    running = [await house.router.carry(CALL, session=None) for _ in range(3)]
    with pytest.raises(NoRoom):
        await house.router.carry(CALL, session=None)
    for each in running:
        each.close()
    house.take_down(A, B, C)
    with pytest.raises(NoReplicaAvailable):
        await house.router.carry(CALL, session=None)
    assert house.is_idle()


async def test_of_first_turns_at_once_one_is_new_and_the_others_find_its_pin() -> None:
    house = House(pins=SlowPins())
    turns = await asyncio.gather(*(house.router.carry(CALL, session=KEY) for _ in range(5)))
    assert len({turn.replica for turn in turns}) == 1
    assert Counter(turn.pin for turn in turns) == {PinDecision.NEW: 1, PinDecision.KEPT: 4}
    for turn in turns:
        turn.close()
    assert house.is_idle()


async def test_of_moves_at_once_one_is_counted_and_all_are_told() -> None:
    house = House(pins=SlowPins())
    home = (await house.turn())[0]
    house.take_down(home)
    turns = await asyncio.gather(*(house.router.carry(CALL, session=KEY) for _ in range(5)))
    assert Counter(turn.pin for turn in turns) == {PinDecision.MOVED: 5}
    assert house.tally.moves == {MoveReason.REPLICA_LOST: 1}


async def test_fifty_starts_at_once_spread_evenly() -> None:
    house = House()
    turns = await asyncio.gather(*(house.router.carry(CALL, session=AffinityKey(f"s-{n}")) for n in range(51)))
    assert Counter(turn.replica for turn in turns) == {A: 17, B: 17, C: 17}


async def test_a_new_session_finds_the_replica_that_has_room() -> None:
    house = House(settings=small())
    first = await held(house, "one", "two", "three")
    assert {turn.replica for turn in first} == {A, B, C}
    with pytest.raises(NoRoom):
        await house.turn()
    first[1].close()
    assert (await house.turn())[0] == first[1].replica
    assert (house.tally.no_room, house.tally.waited) == (1, 1)


async def test_a_soft_pin_gives_way_when_its_replica_is_full() -> None:
    house = House(settings=small())
    home = (await house.turn())[0]
    await held(house, "other", asks=Asks(prefer=home))
    replica, decision, _ = await house.turn()
    assert (replica != home, decision) == (True, PinDecision.MOVED)
    assert house.tally.moves == {MoveReason.REPLICA_FULL: 1}


async def test_a_hard_pin_waits_for_its_own_replica() -> None:
    house = House(settings=small(queue_timeout_s=10))
    home = (await house.turn())[0]
    (other,) = await held(house, "other", asks=Asks(prefer=home))
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(house.turn(asks=HARD))
        await waiting(house, 1)
        assert house.router.numbers().waiting == 1
        other.close()
    assert turn.result()[:2] == (home, PinDecision.KEPT)
    assert house.is_idle()


@pytest.mark.parametrize("queue_length", [10, 0])
async def test_an_admitted_session_is_never_refused_a_turn_for_want_of_room(queue_length: int) -> None:
    house = House(settings=small(queue_length=queue_length))
    home = (await house.turn())[0]
    await held(house, "other", asks=Asks(prefer=home))
    assert (await house.turn(asks=HARD))[:2] == (home, PinDecision.KEPT)
    for name, replica in (("second", A), ("third", B), ("fourth", C)):
        if replica != home:
            await held(house, name, asks=Asks(prefer=replica))
    assert (await house.turn())[:2] == (home, PinDecision.KEPT)
    assert house.tally.no_room == 0


async def test_a_session_whose_replica_fails_while_all_others_are_full_goes_to_one_of_them_anyway() -> None:
    house = House(settings=small())
    home = (await house.turn())[0]
    await held(house, *("one", "two", "three"))
    house.fake.refuses(EngineBusy(home, "broken"))
    replica, decision, _ = await house.turn()
    assert (replica != home, decision) == (True, PinDecision.MOVED)


async def test_those_who_wait_are_served_before_who_comes_later() -> None:
    house = House(settings=small(queue_timeout_s=10))
    running = await held(house, "one", "two", "three")
    served: list[str] = []

    async def play(name: str) -> None:
        await house.turn(AffinityKey(name))
        served.append(name)

    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(play(f"early-{number}"))
            await waiting(house, number + 1)
        running[0].close()
        group.create_task(play("late"))
    assert served == [*(f"early-{number}" for number in range(4)), "late"]
    for each in running[1:]:
        each.close()
    assert house.is_idle()


async def test_a_newcomer_does_not_pass_by_those_who_are_just_being_called() -> None:
    house = House(pins=SlowPins(), settings=small(queue_timeout_s=10))
    running = await held(house, "one", "two", "three")
    served: list[str] = []

    async def play(name: str, asks: Asks) -> None:
        session = AffinityKey(name) if name != "nobody" else None
        carried = await house.router.carry(CALL, session=session, asks=asks)
        served.append(name)
        carried.close()

    async with asyncio.TaskGroup() as group:
        for number in range(3):
            group.create_task(play(f"early-{number}", Asks()))
            await waiting(house, number + 1)
        running[0].close()
        await asyncio.sleep(0)
        group.create_task(play("late", Asks()))
        group.create_task(play("nobody", Asks()))
    assert served[0] == "early-0"
    assert sorted(served) == ["early-0", "early-1", "early-2", "late", "nobody"]
    for each in running[1:]:
        each.close()
    assert house.is_idle()


async def test_room_that_comes_back_for_many_serves_many() -> None:
    house = House(settings=small(queue_timeout_s=10))
    running = await held(house, "one", "two", "three")
    async with asyncio.TaskGroup() as group:
        for number in range(6):
            group.create_task(house.turn(AffinityKey(f"early-{number}")))
        await waiting(house, 6)
        house.fleet.change(A, health=Health.READY, url="http://elsewhere")
        running[0].close()
    for each in running[1:]:
        each.close()
    assert house.is_idle()


async def test_one_drill_that_floods_the_queue_does_not_starve_another() -> None:
    house = House(settings=small(queue_timeout_s=10))
    running = await held(house, "one", "two", "three")
    served: list[str] = []

    async def play(drill: str, number: int) -> None:
        await house.turn(AffinityKey(f"{drill}-{number}"), asks=Asks(ticket=Ticket(drill=drill, account=drill)))
        served.append(drill)

    async with asyncio.TaskGroup() as group:
        for number in range(8):
            group.create_task(play("flood", number))
        await waiting(house, 8)
        group.create_task(play("small", 0))
        await waiting(house, 9)
        running[0].close()
    assert served.index("small") <= 1
    for each in running[1:]:
        each.close()


@pytest.mark.parametrize("steps", range(12))
async def test_a_turn_that_stops_waiting_leaves_nothing_and_passes_its_chance_on(steps: int) -> None:
    house = House(settings=small(queue_timeout_s=10))
    running = await held(house, "one", "two", "three")
    async with asyncio.TaskGroup() as group:
        leaving = group.create_task(house.turn(AffinityKey("leaves")))
        await waiting(house, 1)
        staying = group.create_task(house.turn(AffinityKey("stays")))
        await waiting(house, 2)
        running[0].close()
        for _ in range(steps):
            await asyncio.sleep(0)
        leaving.cancel()
    assert staying.result()[2]
    for each in running[1:]:
        each.close()
    assert house.is_idle()


async def test_the_wait_is_part_of_the_decision() -> None:
    house = House(settings=small(queue_timeout_s=10))
    running = await held(house, "one", "two", "three")
    async with asyncio.TaskGroup() as group:
        group.create_task(house.turn())
        await waiting(house, 1)
        running[0].close()
    decision = await house.router.decision(REQUEST.request_id)
    assert decision is not None
    assert decision.waited_ms > 0


async def test_the_candidates_of_a_placement_are_told_and_those_refused_with_the_reason() -> None:
    house = House(settings=RouterSettings(max_in_flight=2))
    house.fleet.change(B, is_draining=True)
    house.take_down(C)
    await house.turn(AffinityKey("earlier"))
    await house.router.loads()
    await house.turn()
    decision = await house.router.decision(REQUEST.request_id)
    assert decision is not None
    assert decision.candidates == (
        Candidate(A, sessions=1, kv_tokens=1, in_flight=0),
        Candidate(B, sessions=0, kv_tokens=0, in_flight=0, refused="draining"),
        Candidate(C, sessions=0, kv_tokens=0, in_flight=0, refused="down"),
    )
    assert decision.attempts[0].why == "new session"
    await house.turn()
    kept = await house.router.decision(REQUEST.request_id)
    assert kept is not None
    assert (kept.candidates, kept.attempts[0].why) == ((), "pinned")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"is_draining": True}, ", which is draining"),
        ({"health": Health.DOWN}, ", which is down"),
        ({"id": ReplicaId("another")}, ", which has left"),
        ({}, ""),
    ],
)
@pytest.mark.parametrize("asks", [Asks(), Asks(prefer=A)], ids=["remembered here", "told by the caller"])
async def test_a_pin_that_was_moved_between_two_turns_is_kept_and_says_so_once(
    change: dict[str, object], told: str, asks: Asks
) -> None:
    house = House()
    if asks.prefer is None:
        await house.turn(asks=Asks(prefer=A))
        before = await house.pins.get(PINNED)
    else:  # by another router
        before = await house.pins.claim(PINNED, [A], replacing=None, demand=Demand())
    await house.pins.claim(PINNED, [B], replacing=before, demand=Demand())
    house.fleet.change(A, **change)
    whys = []
    for _ in range(2):
        assert (await house.turn(asks=asks))[:2] == (B, PinDecision.KEPT)
        decision = await house.router.decision(REQUEST.request_id)
        assert decision is not None
        whys.append(decision.attempts[0].why)
    assert whys == [f"pinned; moved here since its last turn, from a{told}", "pinned"]


async def test_a_replica_that_was_left_in_this_turn_or_is_full_or_shut_off_says_so() -> None:
    house = House(settings=small(breaker_failures=1, queue_timeout_s=10))
    house.fake.refuses(EngineBusy(A, "broken"))
    await house.turn(asks=Asks(prefer=A))
    decision = await house.router.decision(REQUEST.request_id)
    assert decision is not None
    assert {each.replica: each.refused for each in decision.candidates}[A] == "failed in this turn"
    await held(house, "other", asks=Asks(prefer=B))
    (third,) = await held(house, "third")
    assert third.replica == C
    third.close()
    decision = await house.router.decision(REQUEST.request_id)
    assert decision is not None
    assert {each.replica: each.refused for each in decision.candidates} == {
        A: "its breaker is open",
        B: "full",
        C: "",
    }


async def test_a_turn_that_failed_goes_where_a_breaker_is_open_before_it_goes_nowhere() -> None:
    house = House(settings=RouterSettings(breaker_failures=1))
    for replica in (B, C):
        house.fake.refuses(EngineBusy(replica, "broken"))
        await house.turn(AffinityKey(f"first-at-{replica}"), asks=Asks(prefer=replica))
    house.fake.heal()
    assert house.router.numbers().breakers_open == {B, C}
    house.fake.refuses(EngineBusy(A, "broken"))
    replica, pin, _ = await house.turn(asks=Asks(prefer=A))
    assert (replica in {B, C}, pin) == (True, PinDecision.MOVED)
    assert house.router.numbers().breakers_open == {A, B, C} - {replica}


async def test_a_new_turn_goes_nowhere_while_every_breaker_is_open() -> None:
    house = House(settings=RouterSettings(breaker_failures=1, max_attempts=3))
    for replica in (A, B, C):
        house.fake.refuses(EngineBusy(replica, "broken"))
    with pytest.raises(EngineBusy):
        await house.turn()
    with pytest.raises(NoReplicaAvailable, match="0 of 3 ready"):
        await house.turn(AffinityKey("another"))


async def test_a_pool_that_only_drains_is_called_so() -> None:
    house = House(replicas=three_replicas()[:1])
    house.fleet.change(A, is_draining=True)
    with pytest.raises(NoReplicaAvailable, match=r"0 of 1 ready, 1 draining") as caught:
        await house.turn()
    assert (caught.value.ready, caught.value.draining, caught.value.known) == (0, 1, 1)


async def test_at_most_five_of_each_kind_are_told() -> None:
    replicas = [
        Replica(ReplicaId(f"r-{n:02}"), "http://x", Health.READY if n % 2 else Health.DOWN, models=frozenset({MODEL}))
        for n in range(20)
    ]
    house = House(replicas=replicas)
    await house.turn()
    decision = await house.router.decision(REQUEST.request_id)
    assert decision is not None
    assert len(decision.candidates) == 10
    assert sum(1 for each in decision.candidates if each.refused) == 5


async def test_without_the_pin_store_a_full_replica_is_passed_by_but_nobody_is_refused() -> None:
    house = House(settings=small())
    house.fragile.broken = True
    home = (await house.turn())[0]
    running = await held(house, "other", asks=Asks(prefer=home))
    assert (await house.turn())[0] != home
    running += await held(house, "one", "two", "three")
    assert (await house.turn())[1] is PinDecision.NONE
    assert house.tally.waited == 0


async def test_a_session_that_has_ended_is_not_sent_back_to_where_it_was() -> None:
    house = House()
    home = (await house.turn())[0]
    await house.router.end(KEY)
    await house.turn(AffinityKey("other"), asks=Asks(prefer=home))
    assert (await house.turn())[1] is PinDecision.NEW


async def test_only_so_many_last_replicas_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("router.placing._MOST_REMEMBERED", 3)
    house = House()
    house.fragile.broken = True
    homes = {n: (await house.turn(AffinityKey(f"s-{n}"), asks=Asks(prefer=(A, B, C)[n % 3])))[0] for n in range(6)}
    again = {n: (await house.turn(AffinityKey(f"s-{n}")))[0] for n in (3, 4, 5)}
    assert again == {n: homes[n] for n in (3, 4, 5)}
