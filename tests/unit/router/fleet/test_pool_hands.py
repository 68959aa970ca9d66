"""What is done is written before it is done, and what one deed meets keeps no other from being done."""

from dataclasses import replace

import pytest

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.domain.hosted import Mark
from router.fleet.domain.matching import Change
from router.fleet.domain.reconcile import Mend
from router.fleet.domain.replica_record import Milestone, ReplicaRecord, ordered
from router.fleet.domain.scaling import Action, Move
from router.fleet.errors import NotLeading
from router.fleet.keeping import Pool
from router.fleet.pool_hands import PoolHands
from tests.support.fleet_house import POOL, FleetHouse

A = ReplicaId("a")
NOW = 500.0
ORDER = ordered(A, POOL, now=100.0)
WARM = ORDER.at(Milestone.SCHEDULED, 105.0).at(Milestone.PREFIXES_WARM, 150.0)
SERVING = WARM.at(Milestone.JOINED, 155.0)
DRAINING = SERVING.at(Milestone.DRAINING, 300.0)


async def hands_on(house: FleetHouse, *records: ReplicaRecord) -> PoolHands:
    house.clock.now = NOW
    hands = PoolHands(
        pool=Pool(POOL, house.rules, house.host), around=house.around(), now=NOW, new_id=lambda _: ReplicaId("new")
    )
    await hands.take_over({record.id: record for record in records}, [Change(record) for record in records])
    return hands


async def kept(house: FleetHouse) -> ReplicaRecord:
    (record,) = (await house.ledger.book(POOL)).records.values()
    return record


async def test_a_start_is_written_also_where_the_host_cannot_be_asked() -> None:
    house = FleetHouse()
    house.machines.is_cut = True
    hands = await hands_on(house)
    await hands.act(Action(Move.START, "1 is wanted"))
    assert await kept(house) == ordered(ReplicaId("new"), POOL, now=NOW)
    (deed,) = hands.deeds
    assert (deed.what, deed.replica, deed.reason) == ("start", "new", "1 is wanted")
    assert deed.trouble == "the simulated host cannot be asked"


@pytest.mark.parametrize("is_forgotten", [True, False])
async def test_one_that_stood_still_before_a_join_leaves_none_that_nobody_knows(
    monkeypatch: pytest.MonkeyPatch, *, is_forgotten: bool
) -> None:
    """Whoever leads since has stopped the replica meanwhile, or has it serve."""
    house = FleetHouse()
    hands = await hands_on(house, WARM)
    joins = house.routers.join

    async def late(replica: ReplicaSpec) -> None:
        if is_forgotten:
            await house.ledger.forget(WARM)
        house.leads = False
        await joins(replica)

    monkeypatch.setattr(house.routers, "join", late)
    with pytest.raises(NotLeading):
        await hands.mend(A, Mend.JOIN)
    assert set(house.routers.joined) == (set() if is_forgotten else {A})


async def test_a_host_that_counts_is_told_how_many_there_are_without_those_that_failed_or_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house, told = FleetHouse(), list[int]()

    async def starts(_: ReplicaId, *, among: int) -> None:
        told.append(among)

    monkeypatch.setattr(house.host, "start", starts)
    failed = replace(ORDER, id=ReplicaId("failed"), failure="it is gone")
    going = replace(SERVING, id=ReplicaId("going")).at(Milestone.STOPPING, 400.0)
    hands = await hands_on(house, SERVING, failed, going)
    await hands.act(Action(Move.START, "2 are wanted"))
    assert told == [2]


async def test_a_drain_is_written_and_then_ordered() -> None:
    house = FleetHouse()
    house.routers.is_away = True
    hands = await hands_on(house, SERVING)
    await hands.act(Action(Move.DRAIN, "0 are wanted", A))
    assert (await kept(house)).reached[Milestone.DRAINING] == NOW
    assert hands.deeds[0].trouble


async def test_a_drain_is_taken_back_before_that_is_written() -> None:
    house = FleetHouse()
    house.routers.draining.add(A)
    house.routers.is_away = True
    hands = await hands_on(house, DRAINING)
    await hands.act(Action(Move.KEEP, "it is wanted again", A))
    assert (await kept(house)).has(Milestone.DRAINING), "the routers still drain it"
    house.routers.is_away = False
    await hands.act(Action(Move.KEEP, "it is wanted again", A))
    assert (await kept(house), house.routers.draining) == (SERVING, set())


async def test_one_that_failed_is_stopped_for_its_own_reason() -> None:
    house = FleetHouse()
    failed = ReplicaRecord(A, POOL, SERVING.reached, failure="code 1")
    hands = await hands_on(house, failed)
    await hands.act(Action(Move.STOP, "it failed", A))
    assert hands.deeds[0].reason == "code 1"
    assert (await kept(house)).reached[Milestone.STOPPING] == NOW


async def test_what_is_stopped_leaves_the_routers_first() -> None:
    house = FleetHouse()
    house.machines.start(A)
    house.routers.is_away = True
    hands = await hands_on(house, DRAINING)
    await hands.act(Action(Move.STOP, "nobody uses it any more", A))
    assert next(iter(await house.host.list())).phase.value == "running"
    house.routers.is_away = False
    await hands.mend(A, Mend.STOP)
    assert next(iter(await house.host.list())).phase.value == "stopping"


async def test_a_failed_start_is_told_as_it_is_forgotten() -> None:
    house = FleetHouse()
    failed = ReplicaRecord(
        A, POOL, ORDER.at(Milestone.SCHEDULED, 105.0).at(Milestone.STOPPING, 400.0).reached, failure="code 1"
    )
    hands = await hands_on(house, failed)
    await hands.mend(A, Mend.FORGET)
    book = await house.ledger.book(POOL)
    assert (book.records, list(book.starts)) == ({}, hands.starts)
    assert [(start.began, start.ended, start.went_warm) for start in hands.starts] == [(100.0, 400.0, False)]


async def test_marks_are_set_once_and_again_where_they_were_not_heard() -> None:
    house = FleetHouse()
    marks: dict[ReplicaId, Mark] = {ReplicaId("gone"): Mark.SERVING}
    house.machines.is_cut = True
    hands = await hands_on(house, SERVING, ordered(ReplicaId("b"), POOL, now=0.0))
    await hands.mark(marks)
    assert (marks, hands.deeds[0].what) == ({}, "mark as serving")
    house.machines.is_cut = False
    await hands.mark(marks)
    await hands.mark(marks)
    assert (marks, house.marked.marks) == ({A: Mark.SERVING}, [(A, Mark.SERVING)])


@pytest.mark.parametrize("move", [Move.DRAIN, Move.KEEP, Move.STOP])
async def test_who_may_not_write_does_nothing(move: Move) -> None:
    house = FleetHouse()
    hands = await hands_on(house, DRAINING)
    house.machines.start(A)
    house.routers.draining.add(A)
    house.leads = False
    with pytest.raises(NotLeading):
        await hands.act(Action(move, "", A))
    with pytest.raises(NotLeading):
        await hands.act(Action(Move.START, ""))
    assert (house.machines.begun, house.routers.draining) == (1, {A})
    assert next(iter(await house.host.list())).phase.value == "running"
