"""Who was let in, who runs, and by which limit others were refused."""

from uuid import uuid4

import pytest

from gateway.counted_gate import CountedGate
from gateway.domain.limits import AccountLimits, Claim, SeatClaim, Spent, TenantLimits
from gateway.errors import AccountLimitReached, DrillAtWatermark, DrillFull, SeatsUnavailable, TenantFull
from sessions.errors import SessionBusy
from tests.support.recorded_gate import RecordedGate

CLAIM = Claim(uuid4(), uuid4(), AccountLimits())
SEAT = SeatClaim(uuid4(), uuid4(), TenantLimits())


async def test_the_admitted_are_counted_and_those_inside_while_they_are() -> None:
    gate, refused = RecordedGate(), list[str]()
    counted = CountedGate(gate, refused=refused.append)
    async with counted.admit(CLAIM) as first, counted.admit(CLAIM):
        assert counted.gauges() == {"limit_in_flight": 2}
        first.settle(Spent(1, 2))
    with pytest.raises(ZeroDivisionError):
        async with counted.admit(CLAIM):
            raise ZeroDivisionError
    assert (counted.gauges(), counted.counters()) == ({"limit_in_flight": 0}, {"limit_admitted": 3})
    assert (gate.inside, gate.admissions[0].spent, refused) == (0, [Spent(1, 2)], [])


@pytest.mark.parametrize(
    ("refusal", "name"),
    [
        (AccountLimitReached("input_tokens", retry_after_s=1), "input_tokens"),
        (SessionBusy(retry_after_s=1), "session"),
        (DrillAtWatermark(retry_after_s=1), "watermark"),
        (DrillFull(retry_after_s=1), "seats"),
        (TenantFull(retry_after_s=1), "tenant_sessions"),
        (SeatsUnavailable(retry_after_s=1), "unavailable"),
    ],
)
async def test_each_refusal_is_counted_by_its_limit(refusal: Exception, name: str) -> None:
    gate, refused = RecordedGate(refusal=refusal), list[str]()
    counted = CountedGate(gate, refused=refused.append)
    with pytest.raises(type(refusal)):
        async with counted.admit(CLAIM):
            pass
    with pytest.raises(type(refusal)):
        await counted.seat(SEAT)
    assert refused == [name, name]
    assert counted.counters() == {"limit_admitted": 0}


async def test_seats_pass_through() -> None:
    gate = RecordedGate()
    counted = CountedGate(gate, refused=lambda _: None)
    await counted.seat(SEAT)
    await counted.unseat(SEAT.tenant, None, SEAT.session)
    assert (gate.seats, gate.unseated) == ([SEAT], [(SEAT.tenant, None, SEAT.session)])


async def test_an_error_of_whoever_is_inside_is_no_refusal() -> None:
    refused = list[str]()
    counted = CountedGate(RecordedGate(), refused=refused.append)
    with pytest.raises(SessionBusy):
        async with counted.admit(CLAIM):
            raise SessionBusy(retry_after_s=1)
    assert refused == []
