import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import pytest
from typing_extensions import override

from gateway.adapters.memory_limits import MemoryGate
from gateway.domain.limits import AccountLimits, Claim, DrillLimits, SeatClaim, Spent
from gateway.errors import AccountLimitReached, DrillAtWatermark, LimitsUnavailable, SeatsUnavailable
from gateway.forgiving_gate import ForgivingGate
from gateway.limit_ports import Admission, Gate
from tests.support.eventually import eventually
from tests.support.limit_claims import DRILL, TENANT, request_of, seat_of, turn_of

PER_MINUTE = AccountLimits(requests_per_minute=60, request_burst=4)


class Hand:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def __call__(self) -> float:
        return self.at


class LosableGate(Gate):
    """A gate over others that can be away, and counts how often it is asked."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.is_away = False
        self.answers = asyncio.Event()
        self.answers.set()
        self.asked = 0

    @override
    @asynccontextmanager
    async def admit(self, claim: Claim) -> AsyncIterator[Admission]:
        await self._ask()
        async with self._gate.admit(claim) as admission:
            yield admission

    @override
    async def seat(self, claim: SeatClaim) -> None:
        await self._ask()
        await self._gate.seat(claim)

    @override
    async def unseat(self, tenant: UUID, drill: UUID | None, session: UUID) -> None:
        await self._gate.unseat(tenant, drill, session)

    async def _ask(self) -> None:
        self.asked += 1
        await self.answers.wait()
        if self.is_away:
            raise LimitsUnavailable("away")


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def shared(clock: Hand) -> LosableGate:
    return LosableGate(MemoryGate(clock=clock))


@pytest.fixture
def gate(clock: Hand, shared: LosableGate) -> ForgivingGate:
    return ForgivingGate(shared, local=MemoryGate(clock=clock), clock=clock)


async def admitted(gate: Gate, claim: Claim) -> Admission:
    async with gate.admit(claim) as admission:
        admission.settle(Spent(0, 0))
    return admission


async def test_while_the_shared_limits_are_there_they_alone_count(gate: ForgivingGate, shared: LosableGate) -> None:
    for _ in range(4):
        assert (await admitted(gate, turn_of(None, PER_MINUTE))).lease
    with pytest.raises(AccountLimitReached):
        await admitted(gate, request_of(PER_MINUTE))
    assert shared.asked == 5
    assert gate.gauges() == {"limits_local": 0}
    assert gate.counters() == {"limit_failures": 0, "limit_local_claims": 0, "limit_seats_refused": 0}


async def test_a_process_goes_on_with_its_share(gate: ForgivingGate, shared: LosableGate) -> None:
    shared.is_away = True
    for left in (1, 0):
        admission = await admitted(gate, turn_of(None, PER_MINUTE))
        assert admission.lease == ""
        assert (admission.standing[0].limit, admission.standing[0].remaining) == (2, left)
    with pytest.raises(AccountLimitReached, match="requests"):
        await admitted(gate, request_of(PER_MINUTE))
    assert gate.gauges() == {"limits_local": 1}
    assert gate.counters()["limit_local_claims"] == 3


async def test_the_watermark_goes_on_with_its_share_too(gate: ForgivingGate, shared: LosableGate) -> None:
    shared.is_away = True
    drill = DrillLimits(seats=0, walk_ins=9, turns_in_flight=4)
    async with gate.admit(turn_of(drill=DRILL, drill_limits=drill)):
        async with gate.admit(turn_of(drill=DRILL, drill_limits=drill)):
            with pytest.raises(DrillAtWatermark):
                await admitted(gate, turn_of(drill=DRILL, drill_limits=drill))
        await admitted(gate, turn_of(drill=DRILL, drill_limits=drill))


async def test_limits_that_are_away_are_asked_once_a_second(
    gate: ForgivingGate, shared: LosableGate, clock: Hand
) -> None:
    shared.is_away = True
    for _ in range(5):
        await admitted(gate, request_of())
    assert shared.asked == 1
    clock.at += 1.0
    for _ in range(5):
        await admitted(gate, request_of())
    assert shared.asked == 2
    assert gate.counters()["limit_failures"] == 2


async def test_only_one_claim_waits_to_see_whether_they_are_back(
    gate: ForgivingGate, shared: LosableGate, clock: Hand
) -> None:
    shared.is_away = True
    await admitted(gate, request_of())
    clock.at += 1.0
    shared.answers.clear()
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(admitted(gate, turn_of()))
        await eventually(lambda: shared.asked == 2)
        for _ in range(5):
            await admitted(gate, turn_of())
        assert shared.asked == 2
        assert not asking.done()
        shared.is_away = False
        shared.answers.set()
    assert asking.result().lease
    assert gate.gauges() == {"limits_local": 0}
    assert (await admitted(gate, turn_of())).lease


async def test_a_claim_that_was_cut_off_while_it_asked_leaves_the_asking_to_others(
    gate: ForgivingGate, shared: LosableGate, clock: Hand
) -> None:
    shared.is_away = True
    await admitted(gate, request_of())
    clock.at += 1.0
    shared.answers.clear()
    asking = asyncio.create_task(admitted(gate, request_of()))
    await eventually(lambda: shared.asked == 2)
    asking.cancel()
    await asyncio.wait([asking])
    shared.is_away = False
    shared.answers.set()
    clock.at += 1.0
    assert (await admitted(gate, turn_of())).lease


async def test_a_refusal_shows_that_they_are_back(gate: ForgivingGate, shared: LosableGate, clock: Hand) -> None:
    async with gate.admit(request_of(AccountLimits(turns_in_flight=1))):
        shared.is_away = True
        await admitted(gate, request_of())
        shared.is_away = False
        clock.at += 1.0
        with pytest.raises(AccountLimitReached):
            await admitted(gate, request_of(AccountLimits(turns_in_flight=1)))
    assert gate.gauges() == {"limits_local": 0}


async def test_seats_are_given_for_a_short_grace_only(gate: ForgivingGate, shared: LosableGate, clock: Hand) -> None:
    shared.is_away = True
    await gate.seat(seat_of())
    clock.at += 9.9
    await gate.seat(seat_of())
    clock.at += 0.2
    with pytest.raises(SeatsUnavailable):
        await gate.seat(seat_of())
    assert gate.counters()["limit_seats_refused"] == 1
    shared.is_away = False
    clock.at += 1.0
    await gate.seat(seat_of())


async def test_a_seat_that_was_given_too_late_is_given_back(
    gate: ForgivingGate, shared: LosableGate, clock: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def given_late(claim: SeatClaim) -> None:
        await LosableGate.seat(shared, claim)
        raise LimitsUnavailable("slow")

    monkeypatch.setattr(shared, "seat", given_late)
    await gate.seat(seat_of())
    clock.at += 10.0
    with pytest.raises(SeatsUnavailable):
        await gate.seat(seat_of(sessions=2))
    monkeypatch.undo()
    clock.at += 1.0
    await gate.seat(seat_of(sessions=2))


async def test_an_end_is_told_to_both(gate: ForgivingGate, shared: LosableGate) -> None:
    there, here = uuid4(), uuid4()
    await gate.seat(seat_of(there, sessions=1))
    shared.is_away = True
    await gate.seat(seat_of(here, sessions=1))
    for session in (there, here):
        await gate.unseat(TENANT, DRILL, session)
    await gate.seat(seat_of(sessions=1))
    await shared._gate.seat(seat_of(sessions=1))
